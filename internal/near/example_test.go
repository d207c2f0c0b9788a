package near_test

import (
	"fmt"

	"github.com/opensentience/pulse-go/internal/near"
)

func Example() {
	phases := []string{"retrieve", "decide", "act"}
	fmt.Println(near.Name("Rertieve", phases, 2))
	fmt.Println(near.Name("sleep", phases, 2) == "")
	// Output:
	// retrieve
	// true
}
