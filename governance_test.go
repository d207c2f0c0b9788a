package pulse_test

import (
	"context"
	"errors"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// calls gives every call that the substrates recorded.
func (w *world) calls() []pulsetest.Call {
	var all []pulsetest.Call
	for _, l := range []*pulsetest.CallLog{&w.Memory.CallLog, &w.Policy.CallLog, &w.Audit.CallLog, &w.Auth.CallLog, &w.Time.CallLog} {
		all = append(all, l.Calls()...)
	}
	return all
}

// everySlot is a do function that calls each substrate.
func everySlot(ctx context.Context, _ Fact) (Deed, error) {
	h := pulse.Handles()
	_, e1 := h.Memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 1})
	_, e2 := h.Memory.StoreNode(ctx, note("x"))
	_, e3 := h.Policy.CheckPolicy(ctx, substrate.CheckPolicyRequest{Action: "mine", Resource: "it"})
	_, e4 := h.Auth.AgentLifecycle(ctx, substrate.AgentLifecycleRequest{AgentID: "agent-7"})
	_, e5 := h.Time.AtTimescale(ctx, substrate.AtTimescaleRequest{Timescale: token.TimescaleFast})
	_, e6 := h.Audit.AppendEvent(ctx, substrate.AppendEventRequest{Event: substrate.AuditEvent{EventID: "mine", EventType: "mine", WorkspaceID: "globex", TraceID: "another"}})
	return Deed{}, errors.Join(e1, e2, e3, e4, e5, e6)
}

// Every call of every substrate says on whose behalf it is made.
func TestEveryCallSaysWhoCalls(t *testing.T) {
	spec.Covers(t, "P-5.5-1", "P-7.7-1", "P-0-4", "C-040", "C-095")
	w := newWorld(t, small(), bind(pulse.BindFunc(do, everySlot), "do"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	slots := map[substrate.Slot]bool{}
	for _, c := range w.calls() {
		o := c.Origination
		require.Equal(t, []string{it.TraceID, "acme", "agent-7", "test.small", "1.0.0", it.ID},
			[]string{o.TraceID, o.Workspace, o.Actor, o.Loop, o.LoopVersion, o.Iteration}, "%s %s", c.Operation, c.Subject)
		if o.Phase != "" {
			require.Positive(t, o.Run, "%s", c.Operation)
			require.Positive(t, o.Attempt, "%s", c.Operation)
			require.NotEmpty(t, o.Signature, "%s", c.Operation)
		}
		slots[c.Operation.Slot()] = true
	}
	for _, s := range []substrate.Slot{substrate.SlotMemory, substrate.SlotPolicy, substrate.SlotAudit, substrate.SlotAuth, substrate.SlotTime} {
		require.True(t, slots[s], "no call on %s", s)
	}
	for _, e := range w.Audit.Events() {
		require.Equal(t, []string{"acme", it.TraceID, it.ID}, []string{e.WorkspaceID, e.TraceID, e.IterationID}, "%s", e.EventID)
	}
	require.Equal(t, 1, w.count("do", "mine"), "an event of the phase's own is the call's, whatever it says")
	w.auditEQ(t)
}

// The signature on the events of a phase is that of its input.
func TestEventsCarryTheSignatureOfTheInput(t *testing.T) {
	spec.Covers(t, "P-7.3-4", "P-5.6-1", "P-5.2-2")
	w := newWorld(t, small(), bind(pulse.BindFunc(do, everySlot), "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"four"})
	require.NoError(t, err)
	want, err := signature.Of("acme", Fact{Text: "four", N: 4})
	require.NoError(t, err)
	n := 0
	for _, e := range w.Audit.Events() {
		if e.PhaseID == "do" {
			require.Equal(t, want, e.Signature, e.EventType)
			n++
		}
	}
	require.GreaterOrEqual(t, n, 4, "intent, mutation, event of its own, transition")
}

// A mutation is recorded before its handle returns, and fails without its event.
func TestMutationsAreAudited(t *testing.T) {
	spec.Covers(t, "P-7.3-2", "C-090")
	var w *world
	var seen []int
	b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		for range 3 {
			if _, err := pulse.Handles().Memory.StoreNode(ctx, note("x")); err != nil {
				return Deed{}, nil //nolint:nilerr // the phase passes over it, the engine does not
			}
			seen = append(seen, w.count("do", "memory.store_node"))
		}
		return Deed{}, nil
	})
	w = newWorld(t, small(), bind(b, "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, seen)

	doubles := pulsetest.NewSubstrates()
	set := doubles.Set()
	set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
		if r.Event.Class == substrate.ClassMutation {
			return substrate.Receipt{}, substrate.Unavailable(substrate.OpAppendEvent, errDown)
		}
		return doubles.Audit.AppendEvent(ctx, r)
	})
	w = newWorld(t, small(), bind(b, "do"), func(c *pulse.Config) { c.Substrates = set })
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.ErrorIs(t, err, errDown)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Empty(t, doubles.Memory.Nodes("acme"), "no mutation without its event")
}

// What a phase may call is a matter of its role.
func TestHandlesAreNarrow(t *testing.T) {
	spec.Covers(t, "P-3.2-2", "P-3.2-4", "P-3.2-5", "P-3.2-6", "P-7.2-1", "P-7.2-2", "C-091")
	memory := pulse.Handles().Memory
	ops := []struct {
		op   substrate.Operation
		call func(context.Context) error
	}{
		{substrate.OpRetrieveContext, func(ctx context.Context) error {
			_, err := memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 1})
			return err
		}},
		{substrate.OpStoreNode, func(ctx context.Context) error { _, err := memory.StoreNode(ctx, note("x")); return err }},
		{substrate.OpLearnFromOutcome, func(ctx context.Context) error {
			_, err := memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: succeeded("a")})
			return err
		}},
		{substrate.OpConsolidate, func(ctx context.Context) error {
			_, err := memory.Consolidate(ctx, substrate.ConsolidateRequest{})
			return err
		}},
		{substrate.OpErase, func(ctx context.Context) error {
			_, err := memory.(substrate.Eraser).Erase(ctx, substrate.EraseRequest{NodeIDs: []string{"n"}}) //nolint:forcetypeassert // part of what is tested
			return err
		}},
	}
	may := map[manifest.Kind][]bool{ // in the order of ops
		manifest.KindRetrieve:    {true, false, false, false, false},
		manifest.KindRoute:       {true, false, false, false, false},
		manifest.KindAct:         {true, true, true, true, true},
		manifest.KindConsolidate: {true, true, true, true, true},
	}
	for kind, allowed := range may {
		for i, op := range ops {
			doubles := pulsetest.NewSubstrates()
			var err error
			if kind == manifest.KindRoute {
				_, err = pulsetest.RunAlone(t, pulsetest.Alone{Kind: kind, Targets: []string{"there"}, Substrates: doubles},
					func(ctx context.Context, _ Ask) (pulse.Decision, error) {
						return pulse.Decision{To: "there", Value: 1}, op.call(ctx)
					}, Ask{})
			} else {
				_, err = pulsetest.RunAlone(t, pulsetest.Alone{Kind: kind, Substrates: doubles},
					func(ctx context.Context, _ Ask) (any, error) { return nil, op.call(ctx) }, Ask{})
			}
			if allowed[i] {
				require.NoError(t, err, "%s in a %s phase", op.op, kind)
				continue
			}
			var refused *substrate.RefusedError
			require.ErrorAs(t, err, &refused, "%s in a %s phase", op.op, kind)
			require.Equal(t, op.op, refused.Operation)
			require.Zero(t, doubles.Memory.Count(op.op), "the substrate was not touched")
		}
	}
	for i, allowed := range []bool{true, true, true, false, false} { // learn
		w := newWorld(t, small(func(m *manifest.Manifest) { m.Invariants[manifest.FeedbackImmutability] = false }), bind(pulse.BindFunc(score, func(ctx context.Context, _ pulse.Feedback[Deed]) (Lesson, error) {
			return Lesson{}, ops[i].call(ctx)
		}), "score"))
		_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		if allowed {
			require.NoError(t, err, "%s in a learn phase", ops[i].op)
			continue
		}
		var refused *substrate.RefusedError
		require.ErrorAs(t, err, &refused, "%s in a learn phase", ops[i].op)
	}
}

func TestNoCallOutsideAPhase(t *testing.T) {
	spec.Covers(t, "P-5.5-1")
	_, err := pulse.Handles().Memory.StoreNode(t.Context(), note("x"))
	require.ErrorIs(t, err, pulse.ErrNoCall)
	_, err = pulse.Handles().Auth.PermissionCheck(t.Context(), substrate.PermissionCheckRequest{})
	require.ErrorIs(t, err, pulse.ErrNoCall)
	_, err = pulse.CallFrom(t.Context())
	require.ErrorIs(t, err, pulse.ErrNoCall)
}

// Operations of the host's own run under the same governance.
func TestHostOperation(t *testing.T) {
	spec.Covers(t, "P-9-2", "C-091", "P-7.3-2")
	var got []substrate.HostRequest
	op := func(name substrate.Operation, mutates bool) substrate.HostOperation {
		return substrate.HostOperation{Name: name, Mutates: mutates, Call: func(_ context.Context, r substrate.HostRequest) (substrate.HostResponse, error) {
			got = append(got, r)
			return substrate.HostResponse{Receipt: substrate.Receipt{ID: "r", TraceID: r.TraceID}}, nil
		}}
	}
	call := func(ctx context.Context, name substrate.Operation) error {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return err
		}
		_, err = c.Do(ctx, name, substrate.HostRequest{})
		return err
	}
	doubles := pulsetest.NewSubstrates()
	set := doubles.Set()
	set.Host = []substrate.HostOperation{op("memory.search", false), op("memory.rename", true)}
	run := func(reads, does substrate.Operation) (*pulse.Iteration, error) {
		w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates = set },
			bind(pulse.BindFunc(read, func(ctx context.Context, _ Ask) (Fact, error) { return Fact{}, call(ctx, reads) }), "read"),
			bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) { return Deed{}, call(ctx, does) }), "do"))
		return read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	}
	it, err := run("memory.search", "memory.rename")
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, []string{it.TraceID, "do", "acme"}, []string{got[1].TraceID, got[1].Phase, got[1].Workspace})
	renamed := 0
	for _, e := range doubles.Audit.Events() {
		if e.EventType == "memory.rename" {
			renamed++
		}
		require.NotEqual(t, "memory.search", e.EventType, "reading is no mutation")
	}
	require.Equal(t, 1, renamed)
	_, err = run("memory.rename", "memory.search")
	var refused *substrate.RefusedError
	require.ErrorAs(t, err, &refused)
	_, err = run("memory.search", "memory.unknown")
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// Auth is asked at the start and before each phase, policy before each act.
func TestPermissions(t *testing.T) {
	spec.Covers(t, "P-9.4-1", "P-2-2", "P-4-17", "C-029", "C-097", "C-100")
	w := newWorld(t, small(phase("read", func(p *manifest.Phase) { p.PolicyCheck = "look.up" })))
	_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", Actor: "bob"}, Ask{"x"})
	require.NoError(t, err)
	asked := func(calls []pulsetest.Call) (out []string) {
		for _, c := range calls {
			require.Equal(t, "bob", c.Origination.Actor)
			out = append(out, c.Subject+" "+c.Detail)
		}
		return out
	}
	require.Equal(t, []string{"bob test.small", "bob test.small/read", "bob test.small/do", "bob test.small/score"}, asked(w.Auth.Calls(substrate.OpPermissionCheck)))
	require.Equal(t, []string{"look.up test.small/read", "do test.small/do"}, asked(w.Policy.Calls(substrate.OpCheckPolicy)))

	w.Auth.Deny("bob", "test.small", "not on Sundays")
	it, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", Actor: "bob"}, Ask{"x"})
	require.ErrorIs(t, err, substrate.ErrDenied)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Equal(t, 1, w.count("read", "iteration.denied"))
	require.Equal(t, 1, w.count("read", "phase.completed"), "no phase ran the second time")
	w.auditEQ(t)
}

// The transition of a phase carries the name that the manifest gives it.
func TestAuditEventName(t *testing.T) {
	spec.Covers(t, "P-4-18", "C-087")
	w := newWorld(t, small(phase("do", func(p *manifest.Phase) { p.AuditEvent = "deed.done" })))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	for _, e := range w.Audit.Events() {
		if e.Class == substrate.ClassTransition {
			require.Equal(t, map[string]string{"do": "deed.done"}[e.PhaseID], e.Name)
		}
	}
}

// A decision is one event; one to deliberate asks for the deliberation under
// 0.2, and only there.
func TestDeliberationRequest(t *testing.T) {
	spec.Covers(t, "T-C-1", "P-5.3-3")
	for version, requests := range map[string]int{"0.1": 0, "0.2": 1} {
		choose := pulse.PhaseID[Fact, pulse.Decision]("choose")
		w := newWorld(t, small(func(m *manifest.Manifest) {
			m.ProtocolVersion = version
			m.Phases = []manifest.Phase{m.Phases[0], {ID: "choose", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:do"}}, m.Phases[1], m.Phases[2]}
		}), with(pulse.BindFunc(choose, func(_ context.Context, in Fact) (pulse.Decision, error) { return do.Deliberate(in), nil })))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err, "version %s", version)
		require.Equal(t, pulse.Completed, it.Status)
		require.Equal(t, 1, w.count("choose", "phase.routed"))
		require.Zero(t, w.count("choose", "phase.completed"))
		n := 0
		for _, e := range w.Audit.Events() {
			if name, _ := e.Attributes.Lookup("token"); name == "DeliberationRequest" {
				require.Equal(t, "choose", e.PhaseID)
				n++
			}
			if e.EventType == "phase.routed" {
				to, _ := e.Attributes.Lookup("to")
				decision, _ := e.Attributes.Lookup("decision")
				require.Equal(t, []string{"do", "deliberate"}, []string{to, decision})
			}
		}
		require.Equal(t, requests, n, "version %s", version)
		w.auditEQ(t)
	}
}
