package pulse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

var (
	errFlaw = errors.New("a flaw")
	errDown = errors.New("the network is down")
)

// directed gives a phase a directive.
func directed(id string, d manifest.OnFailure) func(*manifest.Manifest) {
	return phase(id, func(p *manifest.Phase) { p.OnFailure = d })
}

// flawed gives a do function that fails the first n times, and counts.
func flawed(n int, calls *int, err error) pulse.Binding {
	return pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) {
		*calls++
		if *calls <= n {
			return Deed{}, err
		}
		return Deed{N: *calls}, nil
	})
}

// watched adds a recorder to a loop.
func watched(rec *pulsetest.Recorder) func(*pulse.Config) {
	return func(c *pulse.Config) { c.Observers, c.Recorder = append(c.Observers, rec), rec }
}

// note is what the phases of these tests store.
func note(text string) substrate.StoreNodeRequest {
	return substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`"` + text + `"`)}}
}

// storing gives a do function that stores a node and then ends with err.
func storing(text string, err error) *pulse.Bound[Fact, Deed] {
	return pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		if _, e := pulse.Handles().Memory.StoreNode(ctx, note(text)); e != nil {
			return Deed{}, e
		}
		return Deed{}, err
	})
}

// Each directive, on a phase in the middle that fails for good.
func TestDirectives(t *testing.T) {
	spec.Covers(t, "P-5.4-1", "P-5.4-6", "C-042")
	for _, c := range []struct {
		directive manifest.OnFailure
		calls     int
		ran       []string
		events    []string // lifecycle events of the phase
		status    pulse.Status
	}{
		{"", 1, []string{"read", "do:failed"}, []string{"phase.attempt_failed"}, pulse.Aborted},
		{manifest.FailAbortLoop, 1, []string{"read", "do:failed"}, []string{"phase.attempt_failed"}, pulse.Aborted},
		{manifest.FailRetry, 3, []string{"read", "do:failed"}, []string{"phase.attempt_failed", "phase.retry", "phase.attempt_failed", "phase.retry", "phase.attempt_failed"}, pulse.Aborted},
		{manifest.FailSkip, 1, []string{"read", "do:skipped", "score:failed"}, []string{"phase.attempt_failed"}, pulse.Aborted},
		{manifest.FailEscalate, 1, []string{"read", "do:failed"}, []string{"phase.attempt_failed", "phase.escalated"}, pulse.Aborted},
		{manifest.FailRollback, 1, []string{"read", "do:failed"}, []string{"phase.attempt_failed", "phase.compensated"}, pulse.Aborted},
	} {
		t.Run("directive "+string(c.directive), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rec pulsetest.Recorder
				calls, two := 0, 2
				w := newWorld(t, small(directed("do", c.directive), phase("do", func(p *manifest.Phase) {
					if c.directive == manifest.FailRetry {
						p.MaxRetries = &two
					}
				})), bind(flawed(c.calls, &calls, errFlaw), "do"), watched(&rec))
				it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				require.ErrorIs(t, err, pulse.ErrAborted)
				require.Equal(t, c.status, it.Status)
				require.Equal(t, err, it.Err)
				require.Equal(t, c.calls, calls)
				if ran := rec.Ran(); c.directive == manifest.FailSkip {
					require.Equal(t, c.ran[:2], ran[:2])
				} else {
					require.Equal(t, c.ran, ran)
					require.ErrorIs(t, err, errFlaw)
					var pe *pulse.PhaseError
					require.ErrorAs(t, err, &pe)
					require.Equal(t, "do", pe.Phase)
					require.Equal(t, c.calls, pe.Attempt)
				}
				var events []string
				for _, e := range w.Audit.Events() {
					if e.Class == substrate.ClassLifecycle && e.PhaseID == "do" && e.EventType != "phase.intent" && e.EventType != "iteration.aborted" {
						events = append(events, e.EventType)
					}
				}
				require.Equal(t, c.events, events)
				w.auditEQ(t)

				// The next trigger starts a new iteration, which works.
				again, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				require.NoError(t, err)
				require.Equal(t, pulse.Completed, again.Status)
				require.NotEqual(t, it.ID, again.ID)
				w.auditEQ(t)
			})
		})
	}
}

// A phase that is skipped is passed over if the next can do without it.
func TestSkip(t *testing.T) {
	spec.Covers(t, "P-5.4-5")
	failed := bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { return Fact{}, errFlaw }), "read")
	t.Run("next does not need the output", func(t *testing.T) {
		var rec pulsetest.Recorder
		w := newWorld(t, small(directed("read", manifest.FailSkip), phase("do", func(p *manifest.Phase) { p.Inputs.From = "phase:read|substrate:memory" })), failed, watched(&rec))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		rec.WantRan(t, "read:skipped", "do", "score")
		_, err = read.Output(it)
		require.ErrorIs(t, err, pulse.ErrNoOutput)
		require.Equal(t, 1, w.count("read", "phase.skipped"))
		w.auditEQ(t)
	})
	t.Run("next needs the output", func(t *testing.T) {
		var rec pulsetest.Recorder
		w := newWorld(t, small(directed("read", manifest.FailSkip)), failed, watched(&rec))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, pulse.ErrAborted)
		require.ErrorIs(t, err, errFlaw, "the cause of the skip")
		require.ErrorContains(t, err, "do takes the output of phase read, which was skipped")
		require.Equal(t, pulse.Aborted, it.Status)
		rec.WantRan(t, "read:skipped")
		w.auditEQ(t)
	})
}

func TestPermanentErrorsAreNotRetried(t *testing.T) {
	spec.Covers(t, "P-5.4-1", "C-042")
	calls := 0
	w := newWorld(t, small(retrying("do", 5)), bind(flawed(100, &calls, pulse.Permanent(errFlaw)), "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.ErrorIs(t, err, errFlaw)
	require.Equal(t, 1, calls)
	require.Zero(t, w.count("do", "phase.retry"))
}

func TestDenialsAreNotRetried(t *testing.T) {
	spec.Covers(t, "P-9.4-1", "C-097")
	for name, deny := range map[string]func(*world){
		"auth":   func(w *world) { w.Auth.Deny("agent-7", "test.small/do", "not today") },
		"policy": func(w *world) { w.Policy.Deny(pulsetest.DenyRule{Action: "do", Reason: "not today"}) },
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			w := newWorld(t, small(retrying("do", 5)), bind(flawed(0, &calls, nil), "do"))
			deny(w)
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.ErrorIs(t, err, substrate.ErrDenied)
			require.ErrorContains(t, err, "not today")
			require.Equal(t, pulse.Aborted, it.Status)
			require.Zero(t, calls)
			require.Zero(t, w.count("do", "phase.retry"))
			for _, e := range w.Audit.Events() {
				if e.EventType == "phase.attempt_failed" {
					reason, _ := e.Attributes.Lookup("reason")
					require.Equal(t, "denied", e.Outcome)
					require.Contains(t, reason, "not today", "a denial is audited")
				}
			}
			require.Equal(t, 1, w.count("do", "phase.attempt_failed"))
			w.auditEQ(t)
		})
	}
}

// A rollback by compensation: Undo gets the id of the action and its input, once.
func TestUndo(t *testing.T) {
	spec.Covers(t, "P-5.4-3", "C-041")
	type undone struct {
		id string
		in Fact
	}
	var ids []string
	var got []undone
	b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return Deed{}, err
		}
		ids = append(ids, c.ActionID())
		return Deed{}, errFlaw
	}).Undo(func(_ context.Context, id string, in Fact) error {
		got = append(got, undone{id, in})
		return nil
	})
	w := newWorld(t, small(directed("do", manifest.FailRollback)), bind(b, "do"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"four"})
	require.ErrorIs(t, err, errFlaw)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Len(t, ids, 1)
	require.Equal(t, []undone{{ids[0], Fact{Text: "four", N: 4}}}, got)
	require.Equal(t, 1, w.count("do", "phase.compensated"))
	w.auditEQ(t)
}

// What can not be undone is escalated, and the iteration fails whatever the
// answer.
func TestUndoThatFails(t *testing.T) {
	spec.Covers(t, "P-5.4-3", "P-5.4-4", "C-042")
	for _, answer := range []pulse.Resolution{pulse.Abort, pulse.Resume} {
		t.Run(string(answer), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stuck := errors.New("can not undo")
				undos := 0
				b := pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) { return Deed{}, errFlaw }).
					Undo(func(context.Context, string, Fact) error { undos++; return stuck })
				var asked []pulse.Escalation
				w := newWorld(t, small(directed("do", manifest.FailRollback)), bind(b, "do"), func(c *pulse.Config) {
					c.Escalate = func(_ context.Context, e pulse.Escalation) (pulse.Resolution, error) {
						asked = append(asked, e)
						return answer, nil
					}
				})
				it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				require.Equal(t, pulse.Failed, it.Status)
				require.ErrorIs(t, err, errFlaw, "why it was undone")
				require.ErrorIs(t, err, stuck, "why it was not")
				require.Len(t, asked, 1)
				require.ErrorIs(t, asked[0].Cause, stuck)
				require.Equal(t, undos, w.count("do", "phase.compensation_failed"))
				require.Positive(t, undos)
				require.Zero(t, w.count("score", "phase.completed"))
				w.auditEQ(t)
			})
		})
	}
}

// steps of the memory's transactions, in order.
func transactionSteps(m *pulsetest.Memory) []substrate.Operation {
	var steps []substrate.Operation
	for _, c := range m.Calls(pulsetest.OpBegin, pulsetest.OpPrepare, pulsetest.OpCommit, pulsetest.OpRollback) {
		steps = append(steps, c.Operation)
	}
	return steps
}

func TestTransactions(t *testing.T) {
	spec.Covers(t, "P-5.1-2", "P-5.4-3", "C-041")
	t.Run("commit", func(t *testing.T) {
		w := newWorld(t, small(), bind(storing("kept", nil), "do"))
		_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Len(t, w.Memory.Nodes("acme"), 1)
		require.Equal(t, []substrate.Operation{pulsetest.OpBegin, pulsetest.OpPrepare, pulsetest.OpCommit}, transactionSteps(w.Memory))
	})
	for _, d := range []manifest.OnFailure{manifest.FailRollback, manifest.FailAbortLoop, manifest.FailEscalate} {
		t.Run(string(d), func(t *testing.T) {
			w := newWorld(t, small(directed("do", d)), bind(storing("gone", errFlaw), "do"))
			_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.ErrorIs(t, err, errFlaw)
			require.Empty(t, w.Memory.Nodes("acme"))
			require.Equal(t, []substrate.Operation{pulsetest.OpBegin, pulsetest.OpRollback}, transactionSteps(w.Memory))
			require.Equal(t, 1, w.count("do", "memory.store_node"), "what was undone had happened")
		})
	}
	t.Run("each attempt has its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
				attempts++
				_, err := pulse.Handles().Memory.StoreNode(ctx, note(string(rune('a'+attempts))))
				if err == nil && attempts < 3 {
					err = errFlaw
				}
				return Deed{}, err
			})
			w := newWorld(t, small(retrying("do", 3)), bind(b, "do"))
			_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			nodes := w.Memory.Nodes("acme")
			require.Len(t, nodes, 1, "only the attempt that worked left something")
			require.JSONEq(t, `"d"`, string(nodes[0].Content))
			require.Equal(t, []substrate.Operation{
				pulsetest.OpBegin, pulsetest.OpRollback, pulsetest.OpBegin, pulsetest.OpRollback,
				pulsetest.OpBegin, pulsetest.OpPrepare, pulsetest.OpCommit,
			}, transactionSteps(w.Memory))
		})
	})
	t.Run("one that can not be prepared", func(t *testing.T) {
		w := newWorld(t, small(), bind(storing("gone", nil), "do"))
		w.Memory.Fail(pulsetest.OpPrepare, errFlaw, 1)
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, errFlaw)
		require.Equal(t, pulse.Aborted, it.Status)
		require.Empty(t, w.Memory.Nodes("acme"))
	})
	t.Run("a commit that fails at first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, small(), bind(storing("kept", nil), "do"))
			w.Memory.Fail(pulsetest.OpCommit, substrate.Unavailable(substrate.OpStoreNode, errFlaw), 2)
			_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			require.Len(t, w.Memory.Nodes("acme"), 1)
			require.Equal(t, 1, w.Memory.Count(substrate.OpStoreNode), "the phase did not run again")
		})
	})
	t.Run("a rollback that fails at first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, small(directed("do", manifest.FailRollback)), bind(storing("gone", errFlaw), "do"))
			w.Memory.Fail(pulsetest.OpRollback, substrate.Unavailable(substrate.OpStoreNode, errDown), 2)
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.ErrorIs(t, err, errFlaw)
			require.Equal(t, pulse.Aborted, it.Status, "%v", err)
			require.Empty(t, w.Memory.Nodes("acme"))
			require.Equal(t, 3, w.Memory.Count(pulsetest.OpRollback))
		})
	})
}

// The attempt that was interrupted does not count, and its transaction was
// rolled back: the same attempt runs again in another one.
func TestInterruptedTransaction(t *testing.T) {
	spec.Covers(t, "P-5.1-1", "P-5.1-2", "C-041", "C-090")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var j pulsetest.Journal
		texts := []string{"first", "second"}
		b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
			text := texts[0]
			texts = texts[1:]
			if _, err := pulse.Handles().Memory.StoreNode(ctx, note(text)); err != nil {
				return Deed{}, err
			}
			if text == "first" {
				cancel()
				return Deed{}, ctx.Err()
			}
			return Deed{}, nil
		})
		w := newWorld(t, small(phase("do", func(p *manifest.Phase) { p.Idempotent = true })), bind(b, "do"), func(c *pulse.Config) { c.Journal = &j })
		it, err := read.Enter(ctx, w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, pulse.Interrupted, it.Status)
		require.Empty(t, w.Memory.Nodes("acme"))
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = w.loop.Resume(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		nodes := w.Memory.Nodes("acme")
		require.Len(t, nodes, 1)
		require.JSONEq(t, `"second"`, string(nodes[0].Content))
		w.auditEQ(t)
	})
}

// A phase whose record is in the journal has happened: an iteration that is
// resumed after it commits its transaction.
func TestTransactionIsFinishedAfterResume(t *testing.T) {
	spec.Covers(t, "P-5.1-1", "P-5.1-2", "C-041")
	synctest.Test(t, func(t *testing.T) {
		var j pulsetest.Journal
		w := newWorld(t, small(), bind(storing("kept", nil), "do"), func(c *pulse.Config) { c.Journal = &j })
		w.Memory.Fail(pulsetest.OpCommit, substrate.Unavailable(substrate.OpStoreNode, errDown), -1)
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.Error(t, err)
		require.Equal(t, pulse.Interrupted, it.Status)
		require.Empty(t, w.Memory.Nodes("acme"))
		w.Memory.Fail(pulsetest.OpCommit, nil, 0)
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = w.loop.Resume(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Len(t, w.Memory.Nodes("acme"), 1, "the outputs are visible, and so are the effects")
		require.Equal(t, 1, w.Memory.Count(substrate.OpStoreNode))
		w.auditEQ(t)
	})
}

func TestEscalate(t *testing.T) {
	spec.Covers(t, "P-5.4-4", "C-043")
	ask := func(answer pulse.Resolution, asked *[]pulse.Escalation) func(*pulse.Config) {
		return func(c *pulse.Config) {
			c.Escalate = func(_ context.Context, e pulse.Escalation) (pulse.Resolution, error) {
				*asked = append(*asked, e)
				return answer, nil
			}
		}
	}
	failed := bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { return Fact{}, errFlaw }), "read")
	m := func() *manifest.Manifest {
		return small(directed("read", manifest.FailEscalate), phase("do", func(p *manifest.Phase) { p.Inputs.From = "phase:read|substrate:memory" }))
	}
	for _, answer := range []pulse.Resolution{pulse.Abort, pulse.Resume, "whatever"} {
		t.Run(string(answer), func(t *testing.T) {
			var asked []pulse.Escalation
			w := newWorld(t, m(), failed, ask(answer, &asked))
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.Len(t, asked, 1)
			e := asked[0]
			require.ErrorIs(t, e.Cause, errFlaw)
			require.Equal(t, []string{"test.small", "read", it.ID, "acme", it.TraceID}, []string{e.Loop, e.Phase, e.Iteration, e.Workspace, e.TraceID})
			require.NotEmpty(t, e.Signature)
			require.Equal(t, 1, e.Attempts)
			require.Equal(t, 1, w.count("read", "phase.escalated"))
			w.auditEQ(t)
			if answer == pulse.Resume {
				require.NoError(t, err)
				require.Equal(t, pulse.Completed, it.Status)
				require.Equal(t, 1, w.count("read", "phase.skipped"))
				return
			}
			require.ErrorIs(t, err, errFlaw)
			require.ErrorIs(t, err, pulse.ErrEscalated)
			require.Equal(t, pulse.Aborted, it.Status)
		})
	}
	t.Run("nobody to ask", func(t *testing.T) {
		w := newWorld(t, m(), failed)
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, pulse.ErrEscalated)
		require.Equal(t, pulse.Aborted, it.Status)
	})
	t.Run("one who answers at the third try", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			w := newWorld(t, m(), failed, backoff(machine.Backoff{Base: time.Second, Factor: 1, NoJitter: true}), func(c *pulse.Config) {
				c.Escalate = func(context.Context, pulse.Escalation) (pulse.Resolution, error) {
					tries++
					if tries < 3 {
						return "", errors.New("busy")
					}
					return pulse.Resume, nil
				}
			})
			start := time.Now()
			_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			require.Equal(t, 2*time.Second, time.Since(start))
			require.Equal(t, 3, tries)
		})
	})
}

// A retry that works in the end leaves what the last attempt did, and a failed
// phase nothing.
func TestRetryThatWorks(t *testing.T) {
	spec.Covers(t, "P-5.4-2", "P-5.4-1")
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := newWorld(t, small(retrying("do", 3)), bind(flawed(3, &calls, errFlaw), "do"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		out, err := do.Output(it)
		require.NoError(t, err)
		require.Equal(t, 4, out.N)
		require.Equal(t, 3, w.count("do", "phase.retry"))
		require.Equal(t, 1, w.count("do", "phase.completed"))
		require.Zero(t, w.count("do", "phase.failed"))
		w.auditEQ(t)
	})
}
