package pulse

import (
	"fmt"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The deadlines that are kept never outnumber the open waits by much, whatever
// is awaited, delivered and expires in which order; and what is overdue is found.
func TestWaitsForgetDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := waits{by: map[waitKey]*wait{}, due: map[string]*due{}, earlyOf: map[string]int{}}
		now := time.Unix(0, 0)
		open := map[waitKey]time.Time{}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Second)
			k := waitKey{"ws", token.OutcomeSignalName, fmt.Sprint(rapid.IntRange(0, i).Draw(t, "action"))}
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				if e := w.by[k]; e != nil {
					continue
				}
				deadline := now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "wait")) * time.Second)
				_, early := w.await(k, "it", deadline)
				require.False(t, early)
				open[k] = deadline
			case 1:
				if _, ok := open[k]; !ok {
					continue
				}
				was, err := w.deliver(k, &token.OutcomeSignal{}, now)
				require.NoError(t, err)
				if now.Before(open[k]) {
					require.Equal(t, waitOpen, was.state)
					delete(open, k)
				} else {
					require.Equal(t, waitOver, was.state)
				}
			default:
				for k := range w.overdue("ws", now) {
					require.False(t, now.Before(open[k]))
					delete(open, k)
				}
				for k, at := range open {
					require.True(t, now.Before(at), "%v is overdue and was not found", k)
				}
			}
			if d := w.due["ws"]; d != nil {
				require.Equal(t, len(open), d.open)
				require.LessOrEqual(t, len(d.heap), 2*d.open)
			} else {
				require.Empty(t, open)
			}
		}
	})
}
