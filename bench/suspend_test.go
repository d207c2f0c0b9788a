package bench

import (
	"context"
	"testing"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/token"
)

// suspending is the loop whose act is pending; it notes the action ids.
func suspending(tb testing.TB, ids *[]string) *pulse.Loop {
	tb.Helper()
	return newLoop(tb, 0, func(c *pulse.Config) {
		c.Phases[2] = pulse.BindAct(act, func(ctx context.Context, r Record) (pulse.Outcome[Record], error) {
			call, err := pulse.CallFrom(ctx)
			if err != nil {
				return pulse.Outcome[Record]{}, err
			}
			*ids = append(*ids, call.ActionID())
			return pulse.Outcome[Record]{Value: r, Pending: true, NoParents: true}, nil
		})
	})
}

func outcome(action string) token.OutcomeSignal {
	return token.OutcomeSignal{ActionID: action, Status: token.StatusSuccess, Timestamp: time.Now().UTC()}
}
