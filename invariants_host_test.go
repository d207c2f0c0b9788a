package pulse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

// hostRule is an invariant of a host's own, over one phase.
type hostRule struct {
	phase         string
	before, after func(*invariant.Phase) error
}

func (hostRule) Name() string { return "host_rule" }

func (r hostRule) Before(_ context.Context, p *invariant.Phase) error { return r.look(p, r.before) }

func (r hostRule) After(_ context.Context, p *invariant.Phase) error { return r.look(p, r.after) }

func (r hostRule) look(p *invariant.Phase, f func(*invariant.Phase) error) error {
	if f == nil || p.Phase.ID != r.phase {
		return nil
	}
	return f(p)
}

// A host's own rules hold as the seven do: what they find, and a panic of
// theirs, is a violation under their name.
func TestInvariantOfTheHost(t *testing.T) {
	spec.Covers(t, "P-7-1")
	closed := errors.New("the office is closed")
	for name, rule := range map[string]hostRule{
		"before": {phase: "send", before: func(*invariant.Phase) error { return closed }},
		"after":  {phase: "send", after: func(*invariant.Phase) error { return closed }},
		"panic":  {phase: "send", before: func(*invariant.Phase) error { panic(closed) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := guarded{
				flags:  manifest.AllInvariants(),
				config: func(c *pulse.Config) { c.Invariants = []invariant.Rule{rule} },
			}
			w, it, err := g.enter(t)
			violated(t, w, it, err, "host_rule", "send")
			require.ErrorIs(t, err, closed)
			g.without = "host_rule"
			passes(t, g)
		})
	}
}

// What a rule sees of a phase is what the phase did.
func TestWhatARuleSees(t *testing.T) {
	var saw []invariant.Phase
	keep := func(p *invariant.Phase) error { //nolint:unparam // the shape of a rule
		saw = append(saw, *p)
		return nil
	}
	w, it, err := guarded{flags: manifest.AllInvariants(), config: func(c *pulse.Config) {
		c.Invariants = []invariant.Rule{
			hostRule{phase: "pick", after: keep}, hostRule{phase: "send", before: keep, after: keep}, hostRule{phase: "grade", after: keep},
		}
	}}.enter(t)
	require.NoError(t, err)
	require.Len(t, saw, 4)
	routed, before, acted, learned := saw[0], saw[1], saw[2], saw[3]
	for _, p := range saw {
		require.Equal(t, w.loop.Manifest().LoopID, p.Loop)
		require.Equal(t, []string{it.ID, "acme", it.TraceID}, []string{p.Iteration, p.Workspace, p.TraceID})
		require.Equal(t, 1, p.Attempt)
	}
	require.True(t, routed.Decision.Deliberate)
	require.Equal(t, manifest.RoleDeliberate, routed.Target)
	require.Len(t, routed.Topologies, 1, "κ came through the handle alone")
	require.EqualValues(t, 1, routed.Topologies[0].MaxKappa)
	require.Equal(t, manifest.RoleAct, before.Role)
	require.Nil(t, before.Output)
	require.NotEmpty(t, before.Deliberations)
	require.Equal(t, sent{"bob"}, acted.Output)
	require.ElementsMatch(t, []string{"n1", "n2", "n3"}, acted.Act.CausalParentIDs)
	require.Equal(t, acted.Act.ActionID, learned.Outcome.ActionID)
	require.Equal(t, acted.Act.ActionID, learned.LastAct.ActionID)
	require.Len(t, learned.Calls, 1)
	require.Equal(t, substrate.OpLearnFromOutcome, learned.Calls[0].Operation)
	require.True(t, learned.Calls[0].Audited)
	require.Equal(t, it.TraceID, learned.Calls[0].EchoedTrace)
}

// The audit of an iteration is whole: one transition for each phase, an event
// for each mutation and signal, all under one trace.
func TestAuditIsWhole(t *testing.T) {
	spec.Covers(t, "P-0-4", "P-5.3-3", "P-7.3-1", "P-7.3-2", "P-7.3-3", "P-7.3-4", "P-7.7-1", "C-087", "C-089")
	w, it, err := guarded{flags: manifest.AllInvariants()}.enter(t)
	require.NoError(t, err)
	w.auditEQ(t)
	require.Equal(t, []string{
		"recall phase.completed", "pick phase.routed", "debate phase.completed", "send phase.completed", "grade phase.completed",
	}, w.types(substrate.ClassTransition))
	require.Equal(t, []string{"debate memory.store_node", "grade memory.learn_from_outcome"}, w.types(substrate.ClassMutation))
	require.Equal(t, []string{"grade signal.unrouted"}, w.types(substrate.ClassSignal), "the outcome, which no connection carries")
	for _, e := range w.Audit.Events() {
		require.Equal(t, it.TraceID, e.TraceID)
		if e.EventType == "phase.routed" {
			to, _ := e.Attributes.Lookup("to")
			require.Equal(t, "debate", to)
		}
	}
	q := substrate.QueryByTraceRequest{Origination: substrate.Origination{Workspace: "acme"}, TraceID: it.TraceID}
	found, err := w.Audit.QueryByTrace(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, found, len(w.Audit.Events()))
	own, err := w.Memory.ReadAudit(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, own, 2, "the memory's own log has the same trace")
	for _, c := range w.Memory.Calls(substrate.OpRetrieveContext, substrate.OpLearnFromOutcome) {
		require.Equal(t, it.TraceID, c.Origination.TraceID, "the trace id was on the call")
	}
}

// Erasure is a call like any other: it is recorded, and rewrites no record.
func TestErasureRewritesNoAudit(t *testing.T) {
	spec.Covers(t, "P-7.3-5", "P-7.3-6", "C-102")
	erase := func(b *bodies) {
		b.send = func(ctx context.Context, in agreed) (pulse.Outcome[sent], error) {
			eraser, ok := pulse.Handles().Memory.(substrate.Eraser)
			if !ok {
				return pulse.Outcome[sent]{}, errors.ErrUnsupported
			}
			_, err := eraser.Erase(ctx, substrate.EraseRequest{NodeIDs: []string{"n1"}, Reason: "request 7"})
			return pulse.Outcome[sent]{CausalParentIDs: in.IDs}, err
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := guarded{flags: manifest.AllInvariants(), bodies: erase}.loop(t)
		_, err := recall.Enter(t.Context(), w.loop, acme, Ask{"who?"})
		require.NoError(t, err)
		require.Equal(t, 1, w.count("send", "memory.erase"))
		for _, n := range w.Memory.Nodes("acme") {
			require.NotEqual(t, "n1", n.ID)
		}
		first := w.Audit.Events()
		time.Sleep(time.Hour)
		_, err = recall.Enter(t.Context(), w.loop, acme, Ask{"and now?"})
		require.NoError(t, err)
		require.Equal(t, first, w.Audit.Events()[:len(first)], "what stands in the log stays as it is")
		require.Greater(t, w.Audit.Len(), len(first))
	})
}

// A phase may be parallel inside, and iterations beside each other.
func TestParallelWhereItMay(t *testing.T) {
	spec.Covers(t, "P-7.1-2", "P-7.1-3", "C-052")
	memory := pulse.Handles().Memory
	synctest.Test(t, func(t *testing.T) {
		var inside crowd
		w := guarded{
			flags:  manifest.AllInvariants(),
			config: func(c *pulse.Config) { c.Limits.PerWorkspace = 2 },
			bodies: func(b *bodies) {
				plain := b.recall
				b.recall = func(ctx context.Context, in Ask) (recalled, error) {
					defer inside.enter()()
					done := make(chan error, 3)
					for range cap(done) {
						go func() {
							_, err := memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 1})
							done <- err
						}()
					}
					for range cap(done) {
						if err := <-done; err != nil {
							return recalled{}, err
						}
					}
					time.Sleep(time.Second)
					return plain(ctx, in)
				}
			},
		}.loop(t)
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := recall.Enter(t.Context(), w.loop, acme, Ask{"who?"})
				errs <- err
			}()
		}
		require.NoError(t, errors.Join(<-errs, <-errs))
		require.EqualValues(t, 2, inside.most.Load(), "two iterations at once")
		require.Equal(t, 2*4, w.Memory.Count(substrate.OpRetrieveContext))
		w.auditEQ(t)
	})
}
