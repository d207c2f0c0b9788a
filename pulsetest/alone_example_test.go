package pulsetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
)

// A unit test of one phase: the function runs with a call, handles and all
// governance, on substrates that the test can look into afterwards.
func ExampleRunAlone() {
	test := func(t *testing.T) { // in a test of your own, t is given
		refund := func(ctx context.Context, amount int) (string, error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("refunded %d for %s", amount, c.Actor()), nil
		}
		got, err := pulsetest.RunAlone(t, pulsetest.Alone{Kind: manifest.KindAct}, refund, 7)
		fmt.Println(got, err)
	}
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "refund", F: test}})
	// Output: refunded 7 for tester <nil>
}
