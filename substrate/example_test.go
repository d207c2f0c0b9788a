package substrate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// A host wraps what it has. What it does not have says so.
func Example() {
	tickets := map[string]string{}
	set := substrate.Set{
		Memory: substrate.MemoryFuncs{
			StoreNodeFunc: func(_ context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
				tickets[r.Node.ID] = string(r.Node.Content)
				return substrate.Receipt{ID: r.Node.ID, TraceID: r.TraceID}, nil
			},
		},
	}
	ctx := context.Background()
	receipt, err := set.Memory.StoreNode(ctx, substrate.StoreNodeRequest{
		Origination: substrate.Origination{Workspace: "acme", TraceID: "4bf9"},
		Node:        substrate.Node{ID: "ticket-7", Content: []byte(`"reset"`)},
	})
	fmt.Println(receipt.ID, receipt.TraceID, err)

	_, err = set.Memory.Consolidate(ctx, substrate.ConsolidateRequest{})
	fmt.Println(errors.Is(err, errors.ErrUnsupported), set.Supports(substrate.OpConsolidate))
	// Output:
	// ticket-7 4bf9 <nil>
	// true false
}

// A learn phase appends and adjusts; it does not rewrite history.
func ExampleAllowed() {
	fmt.Println(substrate.Allowed(manifest.RoleLearn, substrate.OpLearnFromOutcome))
	fmt.Println(substrate.Allowed(manifest.RoleLearn, substrate.OpConsolidate))
	// Output:
	// <nil>
	// substrate: memory.consolidate is refused in a phase of role "learn": such phases adjust confidence and append, they do not rewrite history: move the call to an act or consolidate phase (OS-010 §7.2)
}
