package token_test

import (
	"fmt"
	"time"

	"github.com/opensentience/pulse-go/token"
)

func Example() {
	learned := token.OutcomeSignal{
		ActionID:        "act_42",
		Status:          token.StatusSuccess,
		CausalParentIDs: []string{"node_5"},
		Timestamp:       time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC),
	}
	e, err := token.Encode(learned, token.Envelope{
		Loop: "graphonomous.continual_learning", Phase: "learn_outcome",
		TraceID: "abc123", ID: "evt_xyz789", Time: learned.Timestamp,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Type())
	fmt.Println(e.Source())
	fmt.Println(string(e.Data()))
	// Output:
	// org.opensentience.pulse.OutcomeSignal
	// loop:graphonomous.continual_learning/phase:learn_outcome
	// {"action_id":"act_42","causal_parent_ids":["node_5"],"evidence":{},"status":"success","timestamp":"2026-04-10T12:00:00Z","token":"OutcomeSignal","trace_id":"abc123","version":"0.1"}
}

func ExampleParseName() {
	n, _ := token.ParseName("scope.v1.SpatialClaim")
	fmt.Println(n.EventType())
	_, err := token.ParseName("OutcomeSignl")
	fmt.Println(err)
	// Output:
	// scope.spatial_claim.v1
	// token: name "OutcomeSignl": want a canonical token, or <vendor>.v<N>.<TokenName> (OS-010 §6.7); did you mean OutcomeSignal?
}
