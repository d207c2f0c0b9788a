package expr_test

import (
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/internal/expr"
)

func Example() {
	e, err := expr.Parse("topology.kappa > 0 ∧ status in ['success', 'failure']")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e)
	fmt.Println(e.Eval(expr.Scope{
		Payload:  expr.Map{"status": "success"},
		Topology: expr.Map{"max_kappa": 2.0},
	}))
	fmt.Println(e.Aliases())

	_, err = expr.Parse("status = 'success'")
	var syntax *expr.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println(syntax.Column, syntax.Problem)
	}
	// Output:
	// topology.kappa > 0 && status in ['success', 'failure']
	// true
	// [kappa]
	// 8 = is no sign of the language: write ==
}
