package pulse_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// promised gives a do function whose result comes later.
func promised(within time.Duration) pulse.Binding {
	return pulse.BindAct(do, func(_ context.Context, in Fact) (pulse.Outcome[Deed], error) {
		return pulse.Outcome[Deed]{Value: Deed{N: in.N}, Pending: true, Within: within, CausalParentIDs: []string{"n1", "n2"}}, nil
	})
}

// learning gives a score function that keeps what it was given.
func learning(got *[]pulse.Feedback[Deed]) pulse.Binding {
	return pulse.BindFunc(score, func(_ context.Context, in pulse.Feedback[Deed]) (Lesson, error) {
		*got = append(*got, in)
		return Lesson{Status: string(in.Signal.Status)}, nil
	})
}

// actionOf gives the id of the action that an iteration waits for.
func (w *world) actionOf(t *testing.T, it *pulse.Iteration) string {
	t.Helper()
	for _, e := range w.Audit.Events() {
		if e.IterationID == it.ID && e.EventType == "phase.intent" {
			id, ok := e.Attributes.Lookup("action_id")
			require.True(t, ok)
			return id
		}
	}
	t.Fatal("no act was begun")
	return ""
}

func succeeded(action string) token.OutcomeSignal {
	return token.OutcomeSignal{ActionID: action, Status: token.StatusSuccess, CausalParentIDs: []string{"n1", "n2"}}
}

// An act whose result comes later suspends the iteration; the result goes on
// with it.
func TestDeliver(t *testing.T) {
	spec.Covers(t, "P-6.3-1", "P-6.3-3", "P-7.6-1", "P-7.3-3", "C-046", "C-092")
	synctest.Test(t, func(t *testing.T) {
		var got []pulse.Feedback[Deed]
		var rec pulsetest.Recorder
		w := newWorld(t, small(), bind(promised(time.Hour), "do"), bind(learning(&got), "score"), watched(&rec))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"four"})
		require.NoError(t, err)
		require.Equal(t, pulse.Suspended, it.Status)
		require.Nil(t, it.Err)
		synctest.Wait()
		require.Empty(t, w.loop.Stragglers())
		rec.WantRan(t, "read", "do")
		out, err := do.Output(it)
		require.NoError(t, err)
		require.Equal(t, Deed{N: 4}, out)
		action := w.actionOf(t, it)

		time.Sleep(7 * time.Minute)
		s := succeeded(action)
		s.Status = token.StatusPartial
		done, err := w.loop.Deliver(t.Context(), acme, s)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, done.Status)
		require.Equal(t, []string{it.ID, it.TraceID}, []string{done.ID, done.TraceID})
		rec.WantRan(t, "read", "do", "score")
		require.Len(t, got, 1)
		require.Equal(t, token.StatusPartial, got[0].Signal.Status)
		require.Equal(t, action, got[0].Signal.ActionID)
		require.Equal(t, []string{"n1", "n2"}, got[0].Signal.CausalParentIDs)
		require.Equal(t, Deed{N: 4}, got[0].Value, "with the value of the act")
		require.Equal(t, 1, w.count("score", "signal.consumed"))

		// Completion of the learn phase emits the outcome, under the same id.
		emitted := 0
		for _, e := range w.Audit.Events() {
			if e.EventType == "signal.unrouted" {
				name, _ := e.Attributes.Lookup("token")
				require.Equal(t, "OutcomeSignal", name)
				require.Equal(t, "score", e.PhaseID)
				emitted++
			}
			if e.EventType == "phase.completed" && e.PhaseID == "do" {
				require.Equal(t, []string{"n1", "n2"}, e.CausalParentIDs)
				require.Equal(t, "pending", e.Outcome)
			}
		}
		require.Equal(t, 1, emitted)
		w.auditEQ(t)
	})
}

// The outcome that a connection carries names the act and its parents.
func TestOutcomeIsThatOfTheAct(t *testing.T) {
	spec.Covers(t, "P-6.3-1", "P-6.3-3")
	var got []pulse.Feedback[Deed]
	b := pulse.BindAct(do, func(context.Context, Fact) (pulse.Outcome[Deed], error) {
		return pulse.Outcome[Deed]{Status: token.StatusFailure, CausalParentIDs: []string{"n3"}, Evidence: []byte(`{"code":7}`)}, nil
	})
	w := newWorld(t, small(), bind(b, "do"), bind(learning(&got), "score"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Len(t, got, 1)
	s := got[0].Signal
	require.NoError(t, s.Validate())
	require.Equal(t, w.actionOf(t, it), s.ActionID)
	require.Equal(t, token.StatusFailure, s.Status)
	require.Equal(t, []string{"n3"}, s.CausalParentIDs)
	require.JSONEq(t, `{"code":7}`, string(s.Evidence))
	require.Equal(t, it.TraceID, s.TraceID)
	require.Equal(t, 1, w.count("score", "signal.unrouted"))
}

// An outcome may be there before the iteration waits for it.
func TestEarlyOutcome(t *testing.T) {
	spec.Covers(t, "C-046")
	var got []pulse.Feedback[Deed]
	var w *world
	b := pulse.BindAct(do, func(ctx context.Context, _ Fact) (pulse.Outcome[Deed], error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return pulse.Outcome[Deed]{}, err
		}
		it, err := w.loop.Deliver(ctx, acme, succeeded(c.ActionID()))
		if err != nil || it != nil {
			return pulse.Outcome[Deed]{}, fmt.Errorf("early outcome: iteration %v: %w", it, err)
		}
		if it, err = w.loop.Deliver(ctx, acme, succeeded(c.ActionID())); !errors.Is(err, pulse.ErrDuplicate) {
			return pulse.Outcome[Deed]{}, fmt.Errorf("early outcome, again: iteration %v: %w", it, err)
		}
		return pulse.Outcome[Deed]{Pending: true, CausalParentIDs: []string{"n1", "n2"}}, nil
	})
	w = newWorld(t, small(), bind(b, "do"), bind(learning(&got), "score"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	require.Len(t, got, 1)
	require.Equal(t, token.StatusSuccess, got[0].Signal.Status)
	require.Equal(t, 1, w.count("score", "signal.received"))
	require.Equal(t, 1, w.count("score", "signal.duplicate"))
	require.Equal(t, 1, w.count("score", "signal.consumed"))
	w.auditEQ(t)
}

// An outcome of which the audit does not hear is not lost: it is there when the
// iteration goes on.
func TestEarlyOutcomeSurvivesAnInterruption(t *testing.T) {
	spec.Covers(t, "C-046", "C-090")
	synctest.Test(t, func(t *testing.T) {
		var got []pulse.Feedback[Deed]
		var j pulsetest.Journal
		var w *world
		down := true
		b := pulse.BindAct(do, func(ctx context.Context, _ Fact) (pulse.Outcome[Deed], error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return pulse.Outcome[Deed]{}, err
			}
			_, err = w.loop.Deliver(ctx, acme, succeeded(c.ActionID()))
			return pulse.Outcome[Deed]{Pending: true, CausalParentIDs: []string{"n1", "n2"}}, err
		})
		doubles := pulsetest.NewSubstrates()
		set := doubles.Set()
		set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
			if down && r.Event.EventType == "signal.consumed" {
				return substrate.Receipt{}, substrate.Unavailable(substrate.OpAppendEvent, errDown)
			}
			return doubles.Audit.AppendEvent(ctx, r)
		})
		w = newWorld(t, small(), bind(b, "do"), bind(learning(&got), "score"), func(c *pulse.Config) { c.Substrates, c.Journal = set, &j })
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, errDown)
		require.Equal(t, pulse.Interrupted, it.Status)
		down = false
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = w.loop.Resume(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Len(t, got, 1)
	})
}

// An outcome that does not come in time counts as a timeout, which is learned
// from; the one that comes then is late.
func TestLateOutcome(t *testing.T) {
	spec.Covers(t, "C-046", "P-7.2-3")
	synctest.Test(t, func(t *testing.T) {
		var got []pulse.Feedback[Deed]
		w := newWorld(t, small(), bind(promised(time.Minute), "do"), bind(learning(&got), "score"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		action := w.actionOf(t, it)
		time.Sleep(time.Minute)
		late, err := w.loop.Deliver(t.Context(), acme, succeeded(action))
		require.ErrorIs(t, err, pulse.ErrLate)
		require.Equal(t, it.ID, late.ID)
		require.Equal(t, pulse.Completed, late.Status)
		require.Len(t, got, 1)
		require.Equal(t, token.StatusTimeout, got[0].Signal.Status)
		require.Equal(t, action, got[0].Signal.ActionID)
		require.Equal(t, []string{"n1", "n2"}, got[0].Signal.CausalParentIDs)
		require.Equal(t, 1, w.count("score", "signal.late"))
		w.auditEQ(t)
	})
}

// A second outcome of an action is audited and changes nothing.
func TestSecondOutcome(t *testing.T) {
	spec.Covers(t, "P-7.2-3", "C-046")
	synctest.Test(t, func(t *testing.T) {
		learn := pulse.BindFunc(score, func(ctx context.Context, in pulse.Feedback[Deed]) (Lesson, error) {
			_, err := pulse.Handles().Memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: in.Signal})
			return Lesson{}, err
		})
		w := newWorld(t, small(), bind(promised(0), "do"), bind(learn, "score"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		s := succeeded(w.actionOf(t, it))
		_, err = w.loop.Deliver(t.Context(), acme, s)
		require.NoError(t, err)
		first := w.Memory.Attributions("acme")
		require.Len(t, first, 1)
		s.Status, s.CausalParentIDs = token.StatusFailure, []string{"n9"}
		for range 2 {
			second, err := w.loop.Deliver(t.Context(), acme, s)
			require.ErrorIs(t, err, pulse.ErrDuplicate)
			require.Equal(t, it.ID, second.ID)
			require.Equal(t, pulse.Completed, second.Status)
		}
		require.Equal(t, first, w.Memory.Attributions("acme"))
		require.Equal(t, 2, w.count("score", "signal.duplicate"))
		w.auditEQ(t)
	})
}

func TestOutcomesThatAreNone(t *testing.T) {
	spec.Covers(t, "P-6.3-2", "C-031")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small(), bind(promised(0), "do"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		good := succeeded(w.actionOf(t, it))
		for name, change := range map[string]func(*token.OutcomeSignal){
			"no action": func(s *token.OutcomeSignal) { s.ActionID = "" },
			"no status": func(s *token.OutcomeSignal) { s.Status = "" },
			"status":    func(s *token.OutcomeSignal) { s.Status = "splendid" },
			"evidence":  func(s *token.OutcomeSignal) { s.Evidence = []byte("{") },
		} {
			bad := good
			change(&bad)
			got, err := w.loop.Deliver(t.Context(), acme, bad)
			require.Error(t, err, name)
			require.Nil(t, got, name)
		}
		_, err = w.loop.Deliver(t.Context(), pulse.Trigger{}, good)
		require.ErrorContains(t, err, "workspace")
		other, err := w.loop.Deliver(t.Context(), pulse.Trigger{Workspace: "globex"}, good)
		require.NoError(t, err)
		require.Nil(t, other, "in another workspace it is nobody's")
		done, err := w.loop.Deliver(t.Context(), acme, good)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, done.Status)
	})
}

// Many iterations may wait at once, and each gets its own outcome.
func TestSeveralSuspended(t *testing.T) {
	spec.Covers(t, "C-046", "C-052")
	synctest.Test(t, func(t *testing.T) {
		var got []pulse.Feedback[Deed]
		w := newWorld(t, small(), bind(promised(0), "do"), bind(learning(&got), "score"))
		const many = 20
		actions := make([]string, many)
		for n := range many {
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{string(make([]byte, n))})
			require.NoError(t, err)
			require.Equal(t, pulse.Suspended, it.Status, "a suspended iteration does not keep its place")
			actions[n] = w.actionOf(t, it)
		}
		for n := many - 1; n >= 0; n-- {
			it, err := w.loop.Deliver(t.Context(), acme, succeeded(actions[n]))
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, it.Status)
			require.Equal(t, n, got[len(got)-1].Value.N)
		}
		require.Len(t, got, many)
		w.auditEQ(t)
	})
}

func immediate(m *manifest.Manifest) { m.Closure.Guarantee = manifest.GuaranteeImmediate }

// With guarantee immediate the next iteration waits until the one before it,
// suspended or not, has ended.
func TestImmediateGuarantee(t *testing.T) {
	spec.Covers(t, "P-4-21", "C-047")
	synctest.Test(t, func(t *testing.T) {
		var rec pulsetest.Recorder
		w := newWorld(t, small(immediate), bind(promised(0), "do"), watched(&rec), func(c *pulse.Config) { c.Limits.PerWorkspace = 5 })
		first, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, pulse.Suspended, first.Status)
		second := make(chan *pulse.Iteration)
		go func() {
			it, _ := read.Enter(t.Context(), w.loop, acme, Ask{"y"})
			second <- it
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		rec.WantRan(t, "read", "do")
		_, err = w.loop.Deliver(t.Context(), acme, succeeded(w.actionOf(t, first)))
		require.NoError(t, err)
		it := <-second
		require.Equal(t, pulse.Suspended, it.Status)
		rec.WantRan(t, "read", "do", "score", "read", "do")
		_, err = w.loop.Deliver(t.Context(), acme, succeeded(w.actionOf(t, it)))
		require.NoError(t, err)
	})
}

// A suspended iteration that another process takes up waits there, in its
// place, and its outcome is delivered there.
func TestSuspendedInAnotherProcess(t *testing.T) {
	spec.Covers(t, "C-046", "C-047", "P-4-21")
	for _, guarantee := range []manifest.Guarantee{manifest.GuaranteeEventual, manifest.GuaranteeImmediate} {
		t.Run(string(guarantee), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j pulsetest.Journal
				var got []pulse.Feedback[Deed]
				m := func() *manifest.Manifest {
					return small(func(m *manifest.Manifest) { m.Closure.Guarantee = guarantee })
				}
				kept := func(c *pulse.Config) { c.Journal = &j }
				here := newWorld(t, m(), bind(promised(time.Hour), "do"), kept)
				it, err := read.Enter(t.Context(), here.loop, acme, Ask{"four"})
				require.NoError(t, err)
				action := here.actionOf(t, it)

				there := newWorld(t, m(), bind(promised(time.Hour), "do"), bind(learning(&got), "score"), kept)
				e, err := j.Load(t.Context(), "acme", it.ID)
				require.NoError(t, err)
				require.Equal(t, pulse.Suspended, e.Status)
				it, err = there.loop.Resume(t.Context(), e)
				require.NoError(t, err)
				require.Equal(t, pulse.Suspended, it.Status)
				done, err := there.loop.Deliver(t.Context(), acme, succeeded(action))
				require.NoError(t, err)
				require.Equal(t, pulse.Completed, done.Status)
				require.Len(t, got, 1)
				require.Equal(t, Deed{N: 4}, got[0].Value)

				// One place is still one place.
				next, err := read.Enter(t.Context(), there.loop, acme, Ask{"y"})
				require.NoError(t, err)
				require.Equal(t, pulse.Suspended, next.Status)
				if guarantee == manifest.GuaranteeImmediate {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					_, err = read.Enter(ctx, there.loop, acme, Ask{"z"})
					require.ErrorIs(t, err, context.DeadlineExceeded, "the place is taken")
				}

				// What ended elsewhere is not delivered to a second time.
				stale, err := here.loop.Deliver(t.Context(), acme, succeeded(action))
				require.ErrorIs(t, err, pulse.ErrLate)
				require.Equal(t, []string{it.ID, string(pulse.Completed)}, []string{stale.ID, string(stale.Status)})
				require.Len(t, got, 1)
				_, err = read.Enter(t.Context(), here.loop, acme, Ask{"y"})
				require.NoError(t, err, "its place here is free")
			})
		})
	}
}

// Resume of an iteration that waits in this very process leaves it waiting.
func TestResumeOfWhatWaitsHere(t *testing.T) {
	spec.Covers(t, "C-046")
	for _, edit := range []func(*manifest.Manifest){immediate, func(*manifest.Manifest) {}} {
		synctest.Test(t, func(t *testing.T) {
			var j pulsetest.Journal
			w := newWorld(t, small(edit), bind(promised(0), "do"), func(c *pulse.Config) { c.Journal = &j })
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			e, err := j.Load(t.Context(), "acme", it.ID)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			again, err := w.loop.Resume(ctx, e)
			require.NoError(t, err)
			require.Equal(t, pulse.Suspended, again.Status)
			done, err := w.loop.Deliver(t.Context(), acme, succeeded(w.actionOf(t, it)))
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, done.Status)
		})
	}
}

func TestResumeOfAnotherLoop(t *testing.T) {
	spec.Covers(t, "C-046")
	var j pulsetest.Journal
	w := newWorld(t, small(), bind(promised(0), "do"), func(c *pulse.Config) { c.Journal = &j })
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	e, err := j.Load(t.Context(), "acme", it.ID)
	require.NoError(t, err)
	for name, edit := range map[string]func(*manifest.Manifest){
		"loop":    func(m *manifest.Manifest) { m.LoopID = "test.other" },
		"changed": func(m *manifest.Manifest) { m.Phases[1].TimeoutMS = 7 },
	} {
		other := newWorld(t, small(edit))
		_, err := other.loop.Resume(t.Context(), e)
		require.ErrorIs(t, err, pulse.ErrPlanChanged, name)
	}
	_, err = w.loop.Resume(t.Context(), journal.Entry{})
	require.Error(t, err)
	_, err = w.loop.Resume(t.Context(), journal.Entry{Loop: "test.small"})
	require.Error(t, err)
}

// An outcome for which nobody ever waits is forgotten after a day: they do not
// fill up what the loop keeps.
func TestOutcomesThatNobodyWaitsFor(t *testing.T) {
	spec.Covers(t, "C-046")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small())
		w.Audit.Discard = true
		for day := range 2 {
			for n := range 10_000 {
				it, err := w.loop.Deliver(t.Context(), acme, succeeded(fmt.Sprintf("act %d of day %d", n, day)))
				require.NoError(t, err)
				require.Nil(t, it)
			}
			_, err := w.loop.Deliver(t.Context(), acme, succeeded("one more"))
			require.ErrorIs(t, err, pulse.ErrOverflow)
			time.Sleep(25 * time.Hour)
		}
	})
}
