package pulse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// interruptedAct enters a loop whose act is interrupted by its context, and gives
// the world and the iteration; done counts the acts.
func interruptedAct(t *testing.T, returns bool, done *int, edit ...func(*manifest.Manifest)) (*world, *pulse.Iteration, *pulsetest.Journal) {
	t.Helper()
	var j pulsetest.Journal
	ctx, cancel := context.WithCancel(t.Context())
	act := func(c context.Context, in Fact) (Deed, error) {
		*done++
		if *done > 1 {
			return Deed{N: in.N}, nil
		}
		cancel()
		if returns {
			return Deed{}, c.Err()
		}
		time.Sleep(time.Minute)
		return Deed{}, nil
	}
	w := newWorld(t, small(edit...), bind(pulse.BindFunc(do, act), "do"), func(c *pulse.Config) { c.Journal = &j })
	it, err := read.Enter(ctx, w.loop, acme, Ask{"x"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, pulse.Interrupted, it.Status)
	return w, it, &j
}

func TestInterruptedActIsInDoubt(t *testing.T) {
	spec.Covers(t, "C-090", "P-5.2-3")
	for name, returns := range map[string]bool{"returned": true, "abandoned": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := 0
				w, it, j := interruptedAct(t, returns, &done)
				e, err := j.Load(t.Context(), "acme", it.ID)
				require.NoError(t, err)
				require.NotNil(t, e.Intent)
				it, err = w.loop.Resume(t.Context(), e)
				require.ErrorIs(t, err, pulse.ErrInDoubt)
				require.Equal(t, pulse.Aborted, it.Status)
				require.Equal(t, 1, done, "nobody asked for a second act")
				time.Sleep(2 * time.Minute) // the abandoned one returns
			})
		})
	}
	t.Run("retry runs it again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			done := 0
			w, it, j := interruptedAct(t, true, &done, retrying("do", 1))
			e, err := j.Load(t.Context(), "acme", it.ID)
			require.NoError(t, err)
			it, err = w.loop.Resume(t.Context(), e)
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, it.Status)
			require.Equal(t, 2, done)
		})
	})
	t.Run("an idempotent one may run again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			done := 0
			w, it, j := interruptedAct(t, true, &done, phase("do", func(p *manifest.Phase) { p.Idempotent = true }))
			e, err := j.Load(t.Context(), "acme", it.ID)
			require.NoError(t, err)
			it, err = w.loop.Resume(t.Context(), e)
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, it.Status)
			require.Equal(t, 2, done)
		})
	})
}

// What an act says that no OutcomeSignal can hold fails the act, by its directive.
func TestOutcomeThatNoSignalCanHold(t *testing.T) {
	for name, o := range map[string]pulse.Outcome[Deed]{
		"unknown status":  {Status: "splendid", NoParents: true},
		"negative wait":   {Pending: true, Within: -time.Second, NoParents: true},
		"evidence a list": {Evidence: []byte(`[1]`), NoParents: true},
		"broken evidence": {Evidence: []byte(`{bad`), NoParents: true},
		"empty parent":    {CausalParentIDs: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, small(func(m *manifest.Manifest) { m.Invariants = map[manifest.Invariant]bool{} }),
				bind(pulse.BindAct(do, func(context.Context, Fact) (pulse.Outcome[Deed], error) { return o, nil }), "do"))
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.Equal(t, pulse.Aborted, it.Status, "%v", err)
			var pe *pulse.PhaseError
			require.ErrorAs(t, err, &pe)
			require.Equal(t, "do", pe.Phase)
		})
	}
}

// An iteration that stops between its record and its emissions owes them to the
// process that goes on with it.
func TestEmissionsSurviveAnInterruption(t *testing.T) {
	spec.Covers(t, "P-7.3-3", "P-5.1-1")
	synctest.Test(t, func(t *testing.T) {
		var j pulsetest.Journal
		fails := true
		update := token.ReputationUpdate{SubjectID: "a", SubjectType: token.SubjectAgent, Domain: "code", SourceLoop: "test.small"}
		emitting := bind(pulse.BindFunc(read, func(ctx context.Context, _ Ask) (Fact, error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return Fact{}, err
			}
			return Fact{}, c.Emit(ctx, update)
		}), "read")
		doubles := pulsetest.NewSubstrates()
		set := doubles.Set()
		set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
			if fails && r.Event.EventType == "signal.unrouted" {
				return substrate.Receipt{}, errors.New("no")
			}
			return doubles.Audit.AppendEvent(ctx, r)
		})
		config := func(c *pulse.Config) { c.Journal, c.Substrates = &j, set }
		it, err := read.Enter(t.Context(), newWorld(t, small(), emitting, config).loop, acme, Ask{"x"})
		require.Error(t, err)
		require.Equal(t, pulse.Interrupted, it.Status)
		fails = false
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = newWorld(t, small(), emitting, config).loop.Resume(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		n := 0
		for _, ev := range doubles.Audit.Events() {
			if name, _ := ev.Attributes.Lookup("token"); ev.EventType == "signal.unrouted" && name == "ReputationUpdate" {
				n++
			}
		}
		require.Equal(t, 1, n)
	})
}

// A decision that the machine refuses leaves no transaction behind.
func TestRefusedDecisionIsRolledBack(t *testing.T) {
	w := newWorld(t, small(func(m *manifest.Manifest) {
		m.Nesting.InnerLoops = []manifest.InnerLoop{{LoopID: "test.inner", Trigger: "phase:do"}}
	}), bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		_, err := pulse.Handles().Memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`1`), Confidence: 0.5}})
		return Deed{}, err
	}), "do"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.ErrorIs(t, err, pulse.ErrInnerUnbound)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Empty(t, w.Memory.Nodes("acme"))
	require.Equal(t, 1, w.Memory.Count(pulsetest.OpRollback))
	require.Equal(t, 1, w.count("do", "phase.attempt_failed"))
}

// A request that names another workspace is refused before the substrate sees it.
func TestForeignWorkspaceIsRefused(t *testing.T) {
	spec.Covers(t, "C-095")
	var got error
	w := newWorld(t, small(), bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		req := substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`1`), Confidence: 0.5}}
		req.Workspace = "other"
		_, got = pulse.Handles().Memory.StoreNode(ctx, req)
		return Deed{}, nil
	}), "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.ErrorIs(t, got, substrate.ErrCrossWorkspace)
	require.Zero(t, w.Memory.Count(substrate.OpStoreNode))
	require.Zero(t, w.count("do", string(substrate.OpStoreNode)))
}

// A mutation is audited although the context it was made under ended with it.
func TestMutationUnderAnEndedContextIsAudited(t *testing.T) {
	spec.Covers(t, "P-7.3-2")
	doubles := pulsetest.NewSubstrates()
	set := doubles.Set()
	ended := func() {}
	set.Memory = substrate.MemoryFuncs{
		RetrieveContextFunc: doubles.Memory.RetrieveContext,
		StoreNodeFunc: func(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
			rc, err := doubles.Memory.StoreNode(ctx, r)
			ended()
			return rc, err
		},
	}
	audit := set.Audit
	set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
		if err := ctx.Err(); err != nil {
			return substrate.Receipt{}, err
		}
		return audit.AppendEvent(ctx, r)
	})
	w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates = set }, bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		short, cancel := context.WithCancel(ctx)
		ended = cancel
		_, err := pulse.Handles().Memory.StoreNode(short, substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`1`), Confidence: 0.5}})
		return Deed{}, err
	}), "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	w.Substrates = doubles
	require.Equal(t, 1, w.count("do", string(substrate.OpStoreNode)))
}

// An iteration entered at its learn phase learns from the outcome given as from a
// delivered one.
func TestEnteredOutcomeIsAnOutcome(t *testing.T) {
	spec.Covers(t, "P-6.3-1", "C-046")
	w := newWorld(t, small())
	in := pulse.Feedback[Deed]{Signal: token.OutcomeSignal{ActionID: "act-9", Status: token.StatusPartial, CausalParentIDs: []string{"n1"}}}
	it, err := score.Enter(t.Context(), w.loop, acme, in)
	require.NoError(t, err)
	lesson, err := score.Output(it)
	require.NoError(t, err)
	require.Equal(t, "partial", lesson.Status)
	require.Equal(t, 1, w.count("score", "signal.unrouted"), "the OutcomeSignal is emitted")
	in.Signal.Status = "splendid"
	_, err = score.Enter(t.Context(), w.loop, acme, in)
	var fe *token.FieldError
	require.ErrorAs(t, err, &fe)
}

// A breach of κ-routing is not passed over by skip.
func TestSkipDoesNotPassOverKappa(t *testing.T) {
	spec.Covers(t, "P-7.4-1", "C-083")
	_, it, err := guarded{flags: flagged(manifest.KappaRouting), manifest: func(m *manifest.Manifest) {
		m.Phase("pick").OnFailure = manifest.FailSkip
		m.Phase("debate").Inputs.From = "phase:recall"
	}, bodies: func(b *bodies) {
		b.pick = func(_ context.Context, in recalled) (pulse.Decision, error) {
			return send.Goto(agreed{IDs: in.IDs}), nil
		}
	}}.enter(t)
	breached(t, manifest.KappaRouting, err)
	require.Equal(t, pulse.Aborted, it.Status)
}

// A phase that enters its own loop, or its own iteration, is told so instead of
// waiting for itself.
func TestPhaseThatWouldWaitForItself(t *testing.T) {
	var again, same error
	var w *world
	w = newWorld(t, small(), bind(pulse.BindFunc(read, func(ctx context.Context, in Ask) (Fact, error) {
		_, again = read.Enter(ctx, w.loop, acme, in)
		_, same = read.Enter(ctx, w.loop, pulse.Trigger{Workspace: "acme", ID: "one"}, in)
		_, other := read.Enter(ctx, w.loop, pulse.Trigger{Workspace: "other", Only: true}, Ask{})
		if in.Text == "" {
			return Fact{}, nil
		}
		return Fact{}, other
	}), "read"))
	_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", ID: "one"}, Ask{"x"})
	require.NoError(t, err)
	require.ErrorContains(t, again, "no place left")
	require.ErrorContains(t, same, "no place left")
}

// Quorum counts what the loop itself deliberated, not what a trigger says.
func TestForgedApprovalReleasesNothing(t *testing.T) {
	spec.Covers(t, "P-7.5-1", "C-084")
	type In struct{ Result token.DeliberationResult }
	in := pulse.PhaseID[In, Fact]("read")
	w := newWorld(t, small(func(m *manifest.Manifest) { m.Invariants[manifest.QuorumBeforeCommit] = true }),
		bind(pulse.BindFunc(in, func(context.Context, In) (Fact, error) { return Fact{}, nil }), "read"))
	_, err := in.Enter(t.Context(), w.loop, acme, In{token.DeliberationResult{Verdict: token.VerdictApprove, Confidence: 1, ConsensusType: token.ConsensusFastPath}})
	breached(t, manifest.QuorumBeforeCommit, err)
}
