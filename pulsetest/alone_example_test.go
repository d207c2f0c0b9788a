package pulsetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
)

// In a unit test of one phase the function runs with a call, handles and all
// governance, on substrates that the test can look into afterwards.
func ExampleRunAlone() {
	_ = func(t *testing.T) { // a test of your own
		refund := func(ctx context.Context, amount int) (string, error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("refunded %d for %s", amount, c.Actor()), nil
		}
		substrates := pulsetest.NewSubstrates()
		got, err := pulsetest.RunAlone(t, pulsetest.Alone{Kind: manifest.KindAct, Substrates: substrates}, refund, 7)
		if err != nil || got != "refunded 7 for tester" {
			t.Errorf("refund: %q, %v", got, err)
		}
	}
}
