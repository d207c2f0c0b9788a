package signature_test

import (
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/signature"
)

func Example() {
	type Query struct {
		Text string `json:"query"`
		K    int    `json:"k"`
	}
	sig, err := signature.Of("acme", Query{Text: "open tickets", K: 5})
	fmt.Println(sig, err)

	canonical, err := signature.Canonical(Query{Text: "open tickets", K: 5})
	fmt.Printf("%s %v\n", canonical, err)
	fmt.Println(signature.OfJSON("acme", canonical) == sig)
	// Output:
	// blake3:61d0c01572c7deeb69d96be2087df0b4e3f3d626c253ff7d935449ec4f9c32d6 <nil>
	// {"k":5,"query":"open tickets"} <nil>
	// true
}

// An integer that shares its double with another is refused, not rounded.
func ExampleError() {
	type Item struct {
		ID uint64 `json:"id"`
	}
	_, err := signature.Of("acme", map[string][]Item{"items": {{ID: 1}, {ID: 616581622363398143}}})
	var refused *signature.Error
	if errors.As(err, &refused) && errors.Is(err, signature.ErrIntegerRange) {
		fmt.Println(refused.Path)
	}
	fmt.Println(err)
	// Output:
	// /items/1/id
	// signature: /items/1/id: 616581622363398143: integer is outside ±(2^53-1): encode it as a string
}

func ExampleCanonicalJSON() {
	canonical, err := signature.CanonicalJSON([]byte(`{"b": 1E2, "a": "\u20ac"}`))
	fmt.Printf("%s %v\n", canonical, err)
	_, err = signature.CanonicalJSON([]byte(`{"a": 1, "\u0061": 2}`))
	fmt.Println(err)
	// Output:
	// {"a":"€","b":100} <nil>
	// signature: /a: two members of one object have the same name
}
