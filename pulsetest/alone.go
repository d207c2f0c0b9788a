package pulsetest

import (
	"context"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
)

// Alone says how [RunAlone] runs a phase function.
type Alone struct {
	Kind       manifest.Kind // zero: act
	Targets    []string      // where a route phase may go
	Substrates *Substrates   // zero: new ones
	Workspace  string        // zero: test
}

// RunAlone runs one phase function as the engine would, without the rest of its
// loop: with a call, handles, governance and all invariants but quorum, on
// in-memory substrates. It gives what the function returned, or the error of the
// phase.
func RunAlone[In, Out any](t testing.TB, a Alone, f func(context.Context, In) (Out, error), in In) (Out, error) {
	t.Helper()
	if a.Kind == "" {
		a.Kind = manifest.KindAct
	}
	if a.Substrates == nil {
		a.Substrates = NewSubstrates()
	}
	if a.Workspace == "" {
		a.Workspace = "test"
	}
	id := pulse.PhaseID[In, Out]("alone")
	m, bindings := scaffold(a)
	loop, err := pulse.New(m, pulse.Config{
		Phases: append(bindings, pulse.BindFunc(id, f)), Substrates: a.Substrates.Set(), Actor: "tester",
	})
	if err != nil {
		t.Fatalf("the phase cannot run alone: %v", err)
	}
	it, err := id.Enter(t.Context(), loop, pulse.Trigger{Workspace: a.Workspace, Only: true}, in)
	if err != nil {
		var zero Out
		return zero, err
	}
	return id.Output(it)
}

// scaffold is a loop round the phase, so that the manifest is one.
func scaffold(a Alone) (*manifest.Manifest, []pulse.Binding) {
	same := func(_ context.Context, v any) (any, error) { return v, nil }
	external := manifest.Inputs{From: "external"}
	m := &manifest.Manifest{
		ProtocolVersion: "0.2", LoopID: "pulsetest.alone", Version: "0.0.0",
		Phases: []manifest.Phase{
			{ID: "before", Kind: manifest.KindRetrieve, Inputs: external},
			{ID: "acts", Kind: manifest.KindAct, Inputs: external},
			{ID: "alone", Kind: a.Kind, Inputs: external},
			{ID: "learns", Kind: manifest.KindLearn, Inputs: manifest.Inputs{From: "signal:OutcomeSignal"}},
		},
		Closure:    manifest.Closure{FromPhase: "learns", ToPhase: "before"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceManual},
		Substrates: manifest.Substrates{Memory: "test", Policy: "test", Audit: "test", Auth: "test"},
		Invariants: manifest.AllInvariants(),
	}
	m.Invariants[manifest.QuorumBeforeCommit] = false
	bindings := []pulse.Binding{
		pulse.BindFunc(pulse.PhaseID[any, any]("before"), same),
		pulse.BindFunc(pulse.PhaseID[any, any]("acts"), same),
		pulse.BindFunc(pulse.PhaseID[pulse.Feedback[any], any]("learns"), func(_ context.Context, f pulse.Feedback[any]) (any, error) { return f.Value, nil }),
	}
	if a.Kind != manifest.KindRoute {
		return m, bindings
	}
	m.Phase("alone").Successors = append([]string{"learns"}, a.Targets...)
	for _, id := range a.Targets {
		m.Phases = append(m.Phases, manifest.Phase{ID: id, Kind: manifest.KindCustom, CustomKind: "target", Inputs: external, Successors: []string{"learns"}})
		bindings = append(bindings, pulse.BindFunc(pulse.PhaseID[any, any](id), same))
	}
	return m, bindings
}
