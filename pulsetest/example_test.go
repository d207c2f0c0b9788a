package pulsetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
)

// A test looks at what a loop did to its substrates, and makes them fail.
func Example() {
	s := pulsetest.NewSubstrates()
	set := s.Set() // for pulse.Config.Substrates
	ctx, call := context.Background(), substrate.Origination{Workspace: "acme", Actor: "agent-7", TraceID: "4bf9"}

	receipt, err := set.Memory.StoreNode(ctx, substrate.StoreNodeRequest{
		Origination: call,
		Node:        substrate.Node{ID: "ticket-7", Type: "ticket", Content: []byte(`"reset my password"`), Confidence: 0.5},
	})
	fmt.Println(receipt.ID, err)

	found, err := set.Memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{Origination: call, Query: "password reset", K: 3})
	fmt.Println(len(found.Nodes), found.Nodes[0].ID, found.Topology.Routing, err)

	s.Policy.Fail(substrate.OpCheckPolicy, substrate.Unavailable(substrate.OpCheckPolicy, errors.New("connection refused")), 1)
	_, err = set.Policy.CheckPolicy(ctx, substrate.CheckPolicyRequest{Origination: call, Action: "send"})
	fmt.Println(err)

	for _, c := range s.Memory.Calls() {
		fmt.Println(c.Operation, c.Subject)
	}
	// Output:
	// ticket-7 <nil>
	// 1 ticket-7 fast <nil>
	// substrate: policy.check_policy is unavailable: connection refused
	// memory.store_node ticket-7
	// memory.retrieve_context password reset
}
