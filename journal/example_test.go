package journal_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/pulsetest"
)

// A journal takes entries in sequence: one that somebody else has written first
// is a conflict, the same one again is success.
func Example() {
	var j journal.Journal = &pulsetest.Journal{}
	ctx := context.Background()
	e := journal.Entry{Workspace: "acme", Loop: "acme.triage", Iteration: "it-1", Sequence: 1, Status: machine.Running}
	fmt.Println(j.Commit(ctx, e), j.Commit(ctx, e))
	e.Status = machine.Suspended
	fmt.Println(errors.Is(j.Commit(ctx, e), journal.ErrConflict))
	// Output:
	// <nil> <nil>
	// true
}
