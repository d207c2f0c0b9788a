package pulse_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

// retrying makes a phase retry n times.
func retrying(id string, n int) func(*manifest.Manifest) {
	return phase(id, func(p *manifest.Phase) { p.OnFailure, p.MaxRetries = manifest.FailRetry, &n })
}

func backoff(b machine.Backoff) func(*pulse.Config) {
	return func(c *pulse.Config) { c.Settings.Backoff = b }
}

// failing gives a read function that fails the first n times and notes when.
func failing(n int, at *[]time.Time) pulse.Binding {
	return pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
		*at = append(*at, time.Now())
		if len(*at) <= n {
			return Fact{}, errors.New("not yet")
		}
		return Fact{}, nil
	})
}

func gaps(at []time.Time) []time.Duration {
	var g []time.Duration
	for i := 1; i < len(at); i++ {
		g = append(g, at[i].Sub(at[i-1]))
	}
	return g
}

func TestR01BackoffNeverReachesZero(t *testing.T) {
	spec.Covers(t, "R01", "P-5.4-2", "P-5.4-1")
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		w := newWorld(t, small(retrying("read", 100)), bind(failing(math.MaxInt, &at), "read"),
			backoff(machine.Backoff{Base: time.Second, Factor: 2, Cap: time.Minute, NoJitter: true}))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, pulse.ErrAborted)
		require.Equal(t, pulse.Aborted, it.Status)
		require.Len(t, at, 101)
		want := []time.Duration{1, 2, 4, 8, 16, 32}
		var sum time.Duration
		for i, g := range gaps(at) {
			d := time.Minute
			if i < len(want) {
				d = want[i] * time.Second
			}
			require.Equal(t, d, g, "gap %d", i+1)
			sum += g
		}
		require.Equal(t, 5703*time.Second, sum)
		require.Equal(t, 101, w.count("read", "phase.attempt_failed"))
		require.Equal(t, 1, w.count("read", "phase.failed"))
		w.auditEQ(t)
	})
}

// delays notes the delays that an observer is told.
type delays struct{ told []time.Duration }

func (d *delays) Observe(_ context.Context, e pulse.Event) {
	if e.Kind == pulse.EventRetry {
		_ = e.Attempt
		d.told = append(d.told, e.Delay)
	}
}

func TestR04WatchingRetriesDoesNotChangeThem(t *testing.T) {
	spec.Covers(t, "R04")
	want := []time.Duration{20, 40, 80, 160, 320}
	for i := range want {
		want[i] *= time.Millisecond
	}
	for n := range 3 {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			var seen []*delays
			w := newWorld(t, small(retrying("read", 5)), bind(failing(5, &at), "read"),
				backoff(machine.Backoff{Base: 20 * time.Millisecond, Factor: 2, Cap: time.Second, NoJitter: true}),
				func(c *pulse.Config) {
					for range n {
						d := &delays{}
						seen = append(seen, d)
						c.Observers = append(c.Observers, d)
					}
				})
			_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			require.Equal(t, want, gaps(at), "with %d observers", n)
			for _, d := range seen {
				require.Equal(t, want, d.told, "what an observer was told")
			}
		})
	}
}

func TestT01PhaseThatIgnoresItsContext(t *testing.T) {
	spec.Covers(t, "T01", "P-4-14", "C-050")
	for _, straggle := range []time.Duration{10 * time.Millisecond, time.Second} {
		t.Run(straggle.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var late error
				var calls, most atomic.Int32
				var done sync.WaitGroup
				done.Add(1)
				act := func(ctx context.Context, in Fact) (Deed, error) {
					c, err := pulse.CallFrom(ctx)
					if err != nil {
						return Deed{}, err
					}
					text := "ok"
					if c.Attempt() == 1 {
						time.Sleep(500 * time.Millisecond)
						text = "late"
					}
					most.Store(max(most.Load(), calls.Add(1)))
					_, err = pulse.Handles().Memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`"` + text + `"`)}})
					calls.Add(-1)
					if c.Attempt() == 1 {
						late = err
						done.Done()
					}
					return Deed{}, err
				}
				w := newWorld(t, small(retrying("do", 1), phase("do", func(p *manifest.Phase) { p.TimeoutMS = 50 })),
					bind(pulse.BindFunc(do, act), "do"), func(c *pulse.Config) { c.Limits.Straggle = straggle })
				it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				require.NoError(t, err)
				require.Equal(t, pulse.Completed, it.Status)
				abandoned := straggle < 500*time.Millisecond
				require.Len(t, w.loop.Stragglers(), map[bool]int{true: 1, false: 0}[abandoned], "listed while it runs")
				done.Wait()
				synctest.Wait()
				require.Empty(t, w.loop.Stragglers(), "it left the list when it returned")
				require.ErrorIs(t, late, pulse.ErrAttemptOver)
				require.EqualValues(t, 1, most.Load(), "never two calls at once")
				nodes := w.Memory.Nodes("acme")
				require.Len(t, nodes, 1)
				require.JSONEq(t, `"ok"`, string(nodes[0].Content))
				require.Equal(t, map[bool]int{true: 1, false: 0}[abandoned], w.count("do", "phase.abandoned"))
				require.Equal(t, 1, w.count("do", "phase.abandoned")+w.count("do", "phase.attempt_failed"), "the timeout, once")
				require.Equal(t, 1, w.count("do", "phase.retry"))
				require.Equal(t, 1, w.count("do", "phase.completed"))
				w.auditEQ(t)
			})
		})
	}
}

func TestP01PanicFailsThePhaseNotTheProcess(t *testing.T) {
	spec.Covers(t, "P01")
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("broken")
		n := 0
		act := func(context.Context, Fact) (Deed, error) {
			n++
			switch n {
			case 1:
				panic("a string")
			case 2:
				panic(cause)
			case 3:
				panic(struct{ Code int }{7})
			}
			return Deed{N: n}, nil
		}
		var panics []error
		w := newWorld(t, small(retrying("do", 3)), bind(pulse.BindFunc(do, act), "do"),
			backoff(machine.Backoff{Base: 30 * time.Millisecond, Factor: 1, NoJitter: true}),
			func(c *pulse.Config) { c.Observers = append(c.Observers, failures{&panics}) })
		other := newWorld(t, small())
		ticks := 0
		stop := make(chan struct{})
		go func() { // the second loop, entered every 10 ms
			for tick := time.NewTicker(10 * time.Millisecond); ; {
				select {
				case <-tick.C:
					if _, err := read.Enter(context.Background(), other.loop, acme, Ask{"tick"}); err == nil {
						ticks++
					}
				case <-stop:
					tick.Stop()
					return
				}
			}
		}()
		start := time.Now()
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		close(stop)
		synctest.Wait()
		deed, err := do.Output(it)
		require.NoError(t, err)
		require.Equal(t, 4, deed.N)
		require.Len(t, panics, 3)
		for _, p := range panics {
			var pe *pulse.PanicError
			require.ErrorAs(t, p, &pe)
			require.NotEmpty(t, pe.Stack)
		}
		require.ErrorIs(t, panics[1], cause)
		require.EqualValues(t, time.Since(start)/(10*time.Millisecond), ticks, "the other loop missed a tick")
		w.auditEQ(t)
	})
}

// failures collects the errors of failed attempts.
type failures struct{ errs *[]error }

func (f failures) Observe(_ context.Context, e pulse.Event) {
	if e.Kind == pulse.EventAttempt && e.Err != nil {
		*f.errs = append(*f.errs, e.Err)
	}
}

func TestD04TheKeyIsMoreThanTheInput(t *testing.T) {
	spec.Covers(t, "D04", "C-039")
	type K struct {
		K int `json:"k"`
	}
	a := pulse.PhaseID[K, K]("a")
	b := pulse.PhaseID[K, K]("b")
	m := func(loop string) *manifest.Manifest {
		return small(func(m *manifest.Manifest) {
			m.LoopID = loop
			m.Phases = []manifest.Phase{
				{ID: "a", Kind: manifest.KindRetrieve, Idempotent: true},
				{ID: "b", Kind: manifest.KindRetrieve, Idempotent: true},
				{ID: "do", Kind: manifest.KindAct},
				{ID: "score", Kind: manifest.KindLearn},
			}
			m.Closure.ToPhase = "a"
		})
	}
	var runs []string
	mark := func(name string) func(context.Context, K) (K, error) {
		return func(_ context.Context, in K) (K, error) {
			runs = append(runs, name)
			return in, nil
		}
	}
	newLoop := func(id string) *world {
		return newWorld(t, m(id), func(c *pulse.Config) {
			c.Phases = []pulse.Binding{
				pulse.BindFunc(a, mark(id+"/a")), pulse.BindFunc(b, mark(id+"/b")),
				pulse.BindFunc(pulse.PhaseID[K, K]("do"), mark(id+"/do")),
				pulse.BindFunc(pulse.PhaseID[pulse.Feedback[K], K]("score"), func(_ context.Context, f pulse.Feedback[K]) (K, error) { return f.Value, nil }),
			}
		})
	}
	one, two := newLoop("test.one"), newLoop("test.two")
	only := pulse.Trigger{Workspace: "ws_1", Only: true}
	for _, w := range []*world{one, two} {
		_, err := a.Enter(t.Context(), w.loop, only, K{1})
		require.NoError(t, err)
	}
	_, err := b.Enter(t.Context(), one.loop, only, K{1})
	require.NoError(t, err)
	require.Equal(t, []string{"test.one/a", "test.two/a", "test.one/b"}, runs)
}

func TestA01NoCompletionWithoutItsAuditRow(t *testing.T) {
	spec.Covers(t, "A01", "P-7.3-1", "C-090", "P-5.1-1")
	t.Run("twice, then it works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ran := 0
			w := newWorld(t, small(), bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { ran++; return Fact{}, nil }), "read"))
			tried := map[string]int{}
			flaky := substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
				if r.Event.EventType == "phase.completed" && r.Event.PhaseID == "read" {
					tried[r.Event.EventID]++
					if tried[r.Event.EventID] <= 2 {
						return substrate.Receipt{}, substrate.Unavailable(substrate.OpAppendEvent, errors.New("no"))
					}
				}
				return w.Audit.AppendEvent(ctx, r)
			})
			set := w.Set()
			set.Audit = flaky
			w2 := newWorld(t, small(), func(c *pulse.Config) { c.Substrates = set },
				bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { ran++; return Fact{}, nil }), "read"))
			_, err := read.Enter(t.Context(), w2.loop, acme, Ask{"x"})
			require.NoError(t, err)
			require.Equal(t, 1, ran, "the body ran once")
			require.Len(t, tried, 1, "one event id in all tries")
			require.Equal(t, 1, w.count("read", "phase.completed"))
			w.auditEQ(t)
		})
	})
	t.Run("for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ran := 0
			set := newWorld(t, small()).Set()
			set.Audit = substrate.AuditFunc(func(_ context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
				if r.Event.Class == substrate.ClassTransition {
					return substrate.Receipt{}, substrate.Unavailable(substrate.OpAppendEvent, errors.New("gone"))
				}
				return substrate.Receipt{TraceID: r.TraceID}, nil
			})
			w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates = set },
				bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { ran++; return Fact{}, nil }), "read"),
				bind(pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) { t.Error("it ran unaudited"); return Deed{}, nil }), "do"))
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			var ue *substrate.UnavailableError
			require.ErrorAs(t, err, &ue)
			require.Equal(t, pulse.Interrupted, it.Status)
			require.Equal(t, 1, ran)
			_, err = read.Output(it)
			require.ErrorIs(t, err, pulse.ErrNoOutput, "nothing is visible before its event is stored")
		})
	})
}

func TestJ02LargeIntegersDoNotCollide(t *testing.T) {
	spec.Covers(t, "J02", "C-028")
	type In struct{ ID uint64 }
	id := pulse.PhaseID[In, Fact]("read")
	runs := 0
	w := newWorld(t, small(phase("read", func(p *manifest.Phase) { p.Idempotent = true })),
		bind(pulse.BindFunc(id, func(context.Context, In) (Fact, error) { runs++; return Fact{}, nil }), "read"))
	for _, v := range []uint64{616581622363398142, 616581622363398143} {
		it, err := id.Enter(t.Context(), w.loop, acme, In{v})
		var se *signature.Error
		require.ErrorAs(t, err, &se)
		require.ErrorIs(t, err, signature.ErrIntegerRange)
		require.Equal(t, pulse.Aborted, it.Status)
		var pe *pulse.PhaseError
		require.ErrorAs(t, err, &pe)
		require.Equal(t, "read", pe.Phase)
	}
	require.Zero(t, runs, "no output under a signature that two inputs share")
}
