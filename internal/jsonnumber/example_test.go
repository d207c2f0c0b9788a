package jsonnumber_test

import (
	"fmt"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

func Example() {
	fmt.Println(jsonnumber.Valid("-1.5e3"), jsonnumber.Valid("+1"))
	fmt.Println(jsonnumber.Len("12, 13"))
	// Output:
	// true false
	// 2
}
