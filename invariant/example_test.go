package invariant_test

import (
	"context"
	"fmt"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// fewWrites is a host's own invariant: a phase writes to memory at most so many
// times. It stands in pulse.Config.Invariants, after those of the manifest.
type fewWrites int

func (fewWrites) Name() string { return "few_writes" }

func (fewWrites) Before(context.Context, *invariant.Phase) error { return nil }

func (limit fewWrites) After(_ context.Context, p *invariant.Phase) error {
	n := 0
	for _, c := range p.Calls {
		if c.Mutates && c.Operation.Slot() == substrate.SlotMemory {
			n++
		}
	}
	if n > int(limit) {
		return fmt.Errorf("phase %s wrote %d times, the limit is %d", p.Phase.ID, n, limit)
	}
	return nil
}

// What a rule finds fails the phase, and no retry follows.
func Example() {
	var rule invariant.Rule = fewWrites(1)
	write := invariant.Call{Operation: substrate.OpStoreNode, Mutates: true}
	p := &invariant.Phase{Phase: &manifest.Phase{ID: "reply"}, Calls: []invariant.Call{write, write}}
	fmt.Println(rule.Before(context.Background(), p))
	fmt.Println(rule.After(context.Background(), p))
	// Output:
	// <nil>
	// phase reply wrote 2 times, the limit is 1
}

// The manifest says which of the seven hold.
func ExampleRules() {
	m := &manifest.Manifest{Invariants: map[manifest.Invariant]bool{manifest.OutcomeGrounding: true}}
	for _, r := range invariant.Rules(m) {
		p := &invariant.Phase{Role: manifest.RoleAct}
		fmt.Println(r.After(context.Background(), p))
	}
	// Output:
	// invariant outcome_grounding: the phase acts and says nothing of its action: bind it with BindAct, and return an Outcome
}
