package pulse_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// A function that was abandoned and then leaves by Goexit, as t.FailNow does,
// takes nothing away from the attempt that runs now.
func TestAbandonedGoexitTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		var n, at, most atomic.Int32
		w := newWorld(t, small(retrying("do", 3), phase("do", func(p *manifest.Phase) { p.TimeoutMS = 1000 })),
			backoff(machine.Backoff{Base: time.Millisecond, NoJitter: true}),
			bind(pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) {
				k := n.Add(1)
				if k == 1 {
					<-leave
					runtime.Goexit()
				}
				most.Store(max(most.Load(), at.Add(1)))
				defer at.Add(-1)
				close(leave)
				time.Sleep(500 * time.Millisecond)
				return Deed{N: int(k)}, nil
			}), "do"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		synctest.Wait()
		require.EqualValues(t, 2, n.Load())
		require.EqualValues(t, 1, most.Load())
		require.Empty(t, w.loop.Stragglers())
	})
}

// The same after the iteration has ended: nothing is closed or given back twice.
func TestGoexitAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small(phase("do", func(p *manifest.Phase) { p.TimeoutMS = 10 })),
			func(c *pulse.Config) { c.Limits.Straggle = 10 * time.Millisecond },
			bind(pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) {
				time.Sleep(200 * time.Millisecond)
				runtime.Goexit()
				return Deed{}, nil
			}), "do"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, pulse.ErrAborted)
		require.Equal(t, pulse.Aborted, it.Status)
		time.Sleep(time.Second)
		require.Empty(t, w.loop.Stragglers())
	})
}

type nilErr struct{ s string }

func (e *nilErr) Error() string { return e.s }

type badToken struct{}

func (badToken) TokenName() token.Name { return token.OutcomeSignalName }
func (badToken) Validate() error       { panic("validate") }

type panickyLog struct{ slog.Handler }

func (panickyLog) Enabled(context.Context, slog.Level) bool  { return true }
func (panickyLog) Handle(context.Context, slog.Record) error { panic("handle") }

type rudeObserver struct{}

func (rudeObserver) Observe(context.Context, pulse.Event) { panic("observe") }

type leavingObserver struct{ kind pulse.EventKind }

func (o leavingObserver) Observe(_ context.Context, e pulse.Event) {
	if e.Kind == o.kind {
		runtime.Goexit()
	}
}

// Whatever host code does, the iteration ends, the process lives, and the loop
// runs the next one.
func TestNothingEndsTheProcess(t *testing.T) {
	bad := pulse.PhaseID[Ask, badToken]("read")
	for name, c := range map[string]struct {
		edit   []func(*pulse.Config)
		enter  func(context.Context, *pulse.Loop) (*pulse.Iteration, error)
		status pulse.Status
	}{
		"a typed nil error": {status: pulse.Aborted, edit: []func(*pulse.Config){bind(pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) {
			var e *nilErr
			return Deed{}, e
		}), "do")}},
		"a token that panics": {
			status: pulse.Aborted,
			edit: []func(*pulse.Config){
				bind(pulse.BindFunc(bad, func(context.Context, Ask) (badToken, error) { return badToken{}, nil }), "read"),
				bind(pulse.BindFunc(pulse.PhaseID[badToken, Deed]("do"), func(context.Context, badToken) (Deed, error) { return Deed{}, nil }), "do"),
			},
			enter: func(ctx context.Context, l *pulse.Loop) (*pulse.Iteration, error) {
				return bad.Enter(ctx, l, acme, Ask{"x"})
			},
		},
		"a logger that panics": {status: pulse.Completed, edit: []func(*pulse.Config){func(c *pulse.Config) {
			c.Logger, c.Observers = slog.New(panickyLog{}), []pulse.Observer{rudeObserver{}}
		}}},
		"an observer that leaves at the end": {status: pulse.Completed, edit: []func(*pulse.Config){func(c *pulse.Config) {
			c.Observers = []pulse.Observer{leavingObserver{pulse.EventEnd}}
		}}},
		"an observer that leaves at a record": {status: pulse.Interrupted, edit: []func(*pulse.Config){func(c *pulse.Config) {
			c.Observers = []pulse.Observer{leavingObserver{pulse.EventRecord}}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, small(), c.edit...)
				enter := c.enter
				if enter == nil {
					enter = func(ctx context.Context, l *pulse.Loop) (*pulse.Iteration, error) {
						return read.Enter(ctx, l, acme, Ask{"x"})
					}
				}
				for range 2 { // the second finds its place free
					it, err := enter(t.Context(), w.loop)
					require.Equal(t, c.status, it.Status, "%v", err)
					if err != nil {
						require.NotEmpty(t, err.Error())
					}
				}
			})
		})
	}
}

// New refuses nil where it would be called.
func TestNilObserversAndRules(t *testing.T) {
	var j *pulsetest.Journal
	_, err := pulse.New(small(), pulse.Config{
		Phases: bindings(), Substrates: pulsetest.NewSubstrates().Set(),
		Invariants: []invariant.Rule{nil}, Observers: []pulse.Observer{nil}, Journal: j,
	})
	var be *pulse.BuildError
	require.ErrorAs(t, err, &be)
	var codes []string
	for _, f := range be.Faults {
		codes = append(codes, f.Code)
	}
	require.ElementsMatch(t, []string{"invariant.nil", "observer.nil", "journal.nil"}, codes)
}

// A business id names an iteration of one loop in one workspace: neither action
// ids nor transactions of others meet it.
func TestIDsHoldAcrossLoopsAndWorkspaces(t *testing.T) {
	s := pulsetest.NewSubstrates()
	actions := map[string]bool{}
	storing := bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return Deed{}, err
		}
		actions[c.ActionID()] = true
		_, err = pulse.Handles().Memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`1`), Confidence: 0.5}})
		return Deed{}, err
	}), "do")
	for _, id := range []string{"one.loop", "two.loop"} {
		w := newWorld(t, small(func(m *manifest.Manifest) { m.LoopID = id }), storing, func(c *pulse.Config) { c.Substrates = s.Set() })
		for _, ws := range []string{"acme", "globex", "a/b", "a"} {
			trigger := "order-1"
			if ws == "a" {
				trigger = "b/order-1"
			}
			_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: ws, ID: trigger}, Ask{"x"})
			require.NoError(t, err, "%s in %s", id, ws)
		}
	}
	require.Len(t, actions, 8)
	ids := map[string]bool{}
	for _, e := range s.Audit.Events() {
		require.False(t, ids[e.EventID], e.EventID)
		ids[e.EventID] = true
	}
}

func pendingDo(action *string) func(*pulse.Config) {
	return bind(pulse.BindAct(do, func(ctx context.Context, _ Fact) (pulse.Outcome[Deed], error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return pulse.Outcome[Deed]{}, err
		}
		*action = c.ActionID()
		return pulse.Outcome[Deed]{Pending: true, NoParents: true}, nil
	}), "do")
}

// A delivery whose context is over takes nothing; a trigger with the id of an
// iteration that went on since gives it as it is now.
func TestDeliveryWithAnEndedContext(t *testing.T) {
	var action string
	w := newWorld(t, small(), pendingDo(&action))
	trigger := pulse.Trigger{Workspace: "acme", ID: "x"}
	it, err := read.Enter(t.Context(), w.loop, trigger, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Suspended, it.Status)
	signal := token.OutcomeSignal{ActionID: action, Status: token.StatusSuccess}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.loop.Deliver(over, acme, signal)
	require.ErrorIs(t, err, context.Canceled)
	it, err = w.loop.Deliver(t.Context(), acme, signal)
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	again, err := read.Enter(t.Context(), w.loop, trigger, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, again.Status)
}

// An entry that says one workspace outside and another inside is foreign.
func TestForeignEntryIsRefused(t *testing.T) {
	var j pulsetest.Journal
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, small(), func(c *pulse.Config) { c.Journal = &j }, bind(pulse.BindFunc(read, func(ctx context.Context, _ Ask) (Fact, error) {
		cancel()
		return Fact{}, ctx.Err()
	}), "read"))
	it, err := read.Enter(ctx, w.loop, acme, Ask{"x"})
	require.ErrorIs(t, err, context.Canceled)
	e, err := j.Load(t.Context(), "acme", it.ID)
	require.NoError(t, err)
	e.Workspace = "globex"
	_, err = w.loop.Resume(t.Context(), e)
	require.ErrorIs(t, err, pulse.ErrPlanChanged)
	_, err = read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "globex", Only: true}, Ask{"x"})
	require.NoError(t, err, "its place is free")
}

// One append that fails once costs nothing, whichever it is.
func TestOneFailedAppend(t *testing.T) {
	for k := 1; k <= 7; k++ {
		synctest.Test(t, func(t *testing.T) {
			s := pulsetest.NewSubstrates()
			n := 0
			set := s.Set()
			set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
				n++
				if n == k {
					return substrate.Receipt{}, errors.New("once")
				}
				return s.Audit.AppendEvent(ctx, r)
			})
			it, err := read.Enter(t.Context(), newWorld(t, small(), func(c *pulse.Config) { c.Substrates = set }).loop, acme, Ask{"x"})
			require.NoError(t, err, "append %d", k)
			require.Equal(t, pulse.Completed, it.Status)
		})
	}
}

// One workspace cannot take the room for early outcomes from another.
func TestEarlyOutcomesOfOneWorkspace(t *testing.T) {
	w := newWorld(t, small())
	var err error
	for i := 0; err == nil && i < 20_000; i++ {
		_, err = w.loop.Deliver(t.Context(), pulse.Trigger{Workspace: "evil"}, token.OutcomeSignal{ActionID: fmt.Sprint("bogus", i), Status: token.StatusSuccess})
	}
	require.ErrorIs(t, err, pulse.ErrOverflow)
	_, err = w.loop.Deliver(t.Context(), pulse.Trigger{Workspace: "good"}, token.OutcomeSignal{ActionID: "act:1", Status: token.StatusSuccess})
	require.NoError(t, err)
}

// A substrate that hangs while an interruption is written down, after the function
// itself had to be abandoned, does not hold Enter either.
func TestHangingWriteAfterAnAbandonedFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := pulsetest.NewSubstrates()
		set := s.Set()
		set.Audit = substrate.AuditFunc(func(c context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
			if ctx.Err() != nil {
				time.Sleep(time.Hour)
			}
			return s.Audit.AppendEvent(c, r)
		})
		j := hangingJournal{after: ctx}
		w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates, c.Journal = set, j }, bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
			cancel()
			time.Sleep(time.Hour)
			return Fact{}, nil
		}), "read"))
		start := time.Now()
		it, err := read.Enter(ctx, w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, pulse.Interrupted, it.Status)
		require.Less(t, time.Since(start), 10*time.Second)
		require.NotEmpty(t, w.loop.Stragglers())
		time.Sleep(3 * time.Hour)
		require.Empty(t, w.loop.Stragglers())
	})
}

// hangingJournal does not return for an hour once a context is over.
type hangingJournal struct{ after context.Context }

func (j hangingJournal) Commit(context.Context, journal.Entry) error {
	if j.after.Err() != nil {
		time.Sleep(time.Hour)
	}
	return nil
}

func (hangingJournal) Load(context.Context, string, string) (journal.Entry, error) {
	return journal.Entry{}, journal.ErrNotFound
}

func (hangingJournal) Open(context.Context, string) iter.Seq2[journal.Ref, error] {
	return func(func(journal.Ref, error) bool) {}
}

// The vendor tokens that the host registered decide what their connections may do.
func TestRegisteredTokensCount(t *testing.T) {
	lossy := small(func(m *manifest.Manifest) {
		m.ProtocolVersion = "0.1.2"
		m.Connections = []manifest.Connection{{
			ID: "out", EmitPhase: "do", Token: "acme.v1.Alarm", ToLoop: "acme.watch", Delivery: manifest.DeliveryAtMostOnce,
		}}
	})
	for linearity, refused := range map[token.Linearity]bool{token.Linear: true, token.Affine: false} {
		r, err := token.NewRegistry(token.Entry{Name: "acme.v1.Alarm", Linearity: linearity, Reason: "observational"})
		require.NoError(t, err)
		_, err = pulse.New(lossy, pulse.Config{Phases: bindings(), Substrates: pulsetest.NewSubstrates().Set(), Tokens: r})
		require.Equal(t, refused, err != nil, "%s: %v", linearity, err)
	}
}
