package substratetest_test

import (
	"context"
	"fmt"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
)

// Outside a test, as in a report, the rules are run one by one. This policy
// denies without saying why.
func Example() {
	fixture := substratetest.PolicyFixture{
		Policy: substrate.PolicyFunc(func(context.Context, substrate.CheckPolicyRequest) (substrate.Verdict, error) {
			return substrate.Verdict{}, nil
		}),
		Denied: &substrate.CheckPolicyRequest{Action: "send", Resource: "mail"},
	}
	for _, rule := range substratetest.PolicyRules() {
		err := rule.Check(context.Background(), fixture)
		switch {
		case err == nil:
			fmt.Println("holds  ", rule.ID, rule.Name)
		case substratetest.Skipped(err):
			fmt.Println("skipped", rule.ID, rule.Name)
		default:
			fmt.Println("broken ", rule.ID, rule.Name+":", err)
		}
	}
	// Output:
	// skipped P-9.2-1 allows
	// broken  P-9.2-1 denies_with_a_reason: answer 1: denied without a reason
	// skipped P-9.2-2 computes_the_effective_policy
	// skipped P-9-1 concurrent_use
}
