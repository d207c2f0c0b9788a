package pulse_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

// healthy runs the loop once more: whatever happened before, it works.
func (w *world) healthy(t *testing.T) {
	t.Helper()
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"still there?"})
	require.NoError(t, err, "the next iteration")
	require.Equal(t, pulse.Completed, it.Status)
	require.Empty(t, w.loop.Stragglers())
	w.auditEQ(t)
}

// once gives a do function that does something the first time only.
func once(f func(context.Context) (Deed, error)) pulse.Binding {
	first := true
	return pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		if first {
			first = false
			return f(ctx)
		}
		return Deed{}, nil
	})
}

// Functions that leave in every way but returning fail their phase.
func TestFunctionsThatDoNotReturn(t *testing.T) {
	spec.Covers(t, "P01", "P-5.4-1")
	for name, leave := range map[string]func(){
		"panic":      func() { panic("boom") },
		"nil panic":  func() { panic(nil) }, //nolint:govet // on purpose
		"error":      func() { panic(errFlaw) },
		"Goexit":     runtime.Goexit,
		"nil map":    func() { var m map[string]int; m["x"] = 1 }, //nolint:govet,staticcheck // on purpose
		"nil method": func() { var err error; _ = err.Error() },   //nolint:govet // on purpose
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, small(), bind(once(func(ctx context.Context) (Deed, error) {
					if _, err := pulse.Handles().Memory.StoreNode(ctx, note("x")); err != nil {
						return Deed{}, err
					}
					leave()
					return Deed{}, nil
				}), "do"))
				it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				var pe *pulse.PanicError
				require.ErrorAs(t, err, &pe)
				require.Equal(t, pulse.Aborted, it.Status)
				require.Empty(t, w.Memory.Nodes("acme"), "what it had stored is rolled back")
				w.healthy(t)
			})
		})
	}
}

// The handles of a phase that left by Goexit are closed like those of any other.
func TestGoexitClosesTheHandles(t *testing.T) {
	spec.Covers(t, "P-5.1-1")
	synctest.Test(t, func(t *testing.T) {
		late := make(chan error, 1)
		w := newWorld(t, small(), bind(once(func(ctx context.Context) (Deed, error) {
			go func() {
				time.Sleep(time.Second)
				_, err := pulse.Handles().Memory.StoreNode(ctx, note("late"))
				late <- err
			}()
			runtime.Goexit()
			return Deed{}, nil
		}), "do"))
		_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.Error(t, err)
		require.ErrorIs(t, <-late, pulse.ErrAttemptOver)
		require.Empty(t, w.Memory.Nodes("acme"))
		w.healthy(t)
	})
}

// A phase without a timeout that hangs is interrupted with its context, and goes
// on in the next call of Resume; what ran before does not run again.
func TestHang(t *testing.T) {
	spec.Covers(t, "C-050", "P-4-14")
	for name, obeys := range map[string]bool{"obeys its context": true, "ignores its context": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j pulsetest.Journal
				var rec pulsetest.Recorder
				release := make(chan struct{})
				w := newWorld(t, small(phase("do", func(p *manifest.Phase) { p.Idempotent = true })), bind(once(func(ctx context.Context) (Deed, error) {
					if obeys {
						<-ctx.Done()
						return Deed{}, ctx.Err()
					}
					<-release
					return Deed{N: 99}, nil
				}), "do"), watched(&rec), func(c *pulse.Config) { c.Journal = &j })
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				it, err := read.Enter(ctx, w.loop, acme, Ask{"x"})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, pulse.Interrupted, it.Status)
				require.LessOrEqual(t, time.Since(start), time.Minute+2*time.Second, "it hung past its deadline")
				require.Len(t, w.loop.Stragglers(), map[bool]int{true: 0, false: 1}[obeys])
				close(release)
				synctest.Wait()
				e, err := j.Load(t.Context(), "acme", it.ID)
				require.NoError(t, err)
				require.Equal(t, pulse.Interrupted, e.Status)
				it, err = w.loop.Resume(t.Context(), e)
				require.NoError(t, err)
				require.Equal(t, pulse.Completed, it.Status)
				out, err := do.Output(it)
				require.NoError(t, err)
				require.Zero(t, out.N, "what the abandoned attempt gave does not count")
				rec.WantRan(t, "read", "do", "score")
				w.healthy(t)
			})
		})
	}
}

// badMemory misbehaves when it stores a node.
type badMemory struct {
	*pulsetest.Memory
	store func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error)
}

func (m *badMemory) StoreNode(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
	if m.store == nil {
		return m.Memory.StoreNode(ctx, r)
	}
	return m.store(ctx, r)
}

// badWorld is a loop whose do phase stores a node in a bad memory.
func badWorld(t *testing.T, edit ...func(*manifest.Manifest)) (*world, *badMemory) {
	t.Helper()
	doubles := pulsetest.NewSubstrates()
	m := &badMemory{Memory: doubles.Memory}
	set := doubles.Set()
	set.Memory = m
	w := newWorld(t, small(edit...), bind(storing("x", nil), "do"), func(c *pulse.Config) { c.Substrates = set })
	w.Substrates = doubles
	return w, m
}

func TestSubstratesThatMisbehave(t *testing.T) {
	spec.Covers(t, "P-5.1-1", "C-041", "C-049")
	for name, c := range map[string]struct {
		store func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error)
		is    func(error) bool
	}{
		"fails": {func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) {
			return substrate.Receipt{}, errDown
		}, func(err error) bool { return errors.Is(err, errDown) }},
		"panics": {func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) { panic(errDown) }, func(err error) bool { return errors.Is(err, errDown) }},
		"Goexit": {func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) {
			runtime.Goexit()
			return substrate.Receipt{}, nil
		}, func(err error) bool { var pe *pulse.PanicError; return errors.As(err, &pe) }},
		"no echo": {func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) {
			return substrate.Receipt{ID: "n"}, nil
		}, func(err error) bool { return err != nil }},
		"hangs": {func(ctx context.Context, _ substrate.StoreNodeRequest) (substrate.Receipt, error) {
			<-ctx.Done()
			return substrate.Receipt{}, ctx.Err()
		}, func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m := badWorld(t, phase("do", func(p *manifest.Phase) { p.TimeoutMS = 1000 }))
				m.store = c.store
				start := time.Now()
				it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				require.True(t, c.is(err), "%v", err)
				require.Equal(t, pulse.Aborted, it.Status)
				require.LessOrEqual(t, time.Since(start), 3*time.Second)
				require.Empty(t, w.Memory.Nodes("acme"))
				if name != "no echo" {
					require.Zero(t, w.count("do", "memory.store_node"), "what did not happen is not audited")
				}
				m.store = nil
				w.healthy(t)
			})
		})
	}
}

// A memory that stored and then says that it failed: the same call of the next
// attempt is recognized, and one node is kept.
func TestSubstrateThatLies(t *testing.T) {
	spec.Covers(t, "P-5.2-3", "C-040")
	synctest.Test(t, func(t *testing.T) {
		two := 2
		w, m := badWorld(t, phase("do", func(p *manifest.Phase) { p.OnFailure, p.MaxRetries = manifest.FailRetry, &two }))
		m.store = func(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
			m.store = nil
			r.Transaction = "" // it is stored at once
			if _, err := m.Memory.StoreNode(ctx, r); err != nil {
				return substrate.Receipt{}, err
			}
			return substrate.Receipt{}, substrate.Unavailable(substrate.OpStoreNode, errDown)
		}
		_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Len(t, w.Memory.Nodes("acme"), 1)
		require.Equal(t, 2, w.Memory.Count(substrate.OpStoreNode))
		w.auditEQ(t)
	})
}

// Who can not be asked for permission has denied it.
func TestUnreachableMeansDenied(t *testing.T) {
	spec.Covers(t, "C-097", "P-9.4-1", "P-2-2")
	unavailable := substrate.Unavailable(substrate.OpCheckPolicy, errDown)
	for name, fail := range map[string]func(*world){
		"auth":   func(w *world) { w.Auth.Fail(substrate.OpPermissionCheck, unavailable, -1) },
		"policy": func(w *world) { w.Policy.Fail(substrate.OpCheckPolicy, unavailable, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			w := newWorld(t, small(), bind(flawed(0, &calls, nil), "do"))
			fail(w)
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.ErrorIs(t, err, substrate.ErrDenied)
			require.ErrorIs(t, err, errDown)
			require.Equal(t, pulse.Aborted, it.Status)
			require.Zero(t, calls)
			w.Auth.Fail(substrate.OpPermissionCheck, nil, 0)
			w.Policy.Fail(substrate.OpCheckPolicy, nil, 0)
			w.healthy(t)
		})
	}
}

type panicky struct{}

func (panicky) Observe(context.Context, pulse.Event) { panic("observer") }
func (panicky) Record(context.Context, string, float64, ...slog.Attr) {
	panic("recorder")
}

// Those who only watch can not hurt.
func TestWatchersThatPanic(t *testing.T) {
	spec.Covers(t, "C-037")
	w := newWorld(t, small(func(m *manifest.Manifest) { m.Telemetry.PhaseMetrics = []string{"status"} }), func(c *pulse.Config) {
		c.Observers, c.Recorder = []pulse.Observer{panicky{}}, panicky{}
	})
	w.healthy(t)
}

// An escalation that panics interrupts the iteration; it can be resumed.
func TestEscalateThatPanics(t *testing.T) {
	spec.Covers(t, "C-043")
	synctest.Test(t, func(t *testing.T) {
		var j pulsetest.Journal
		bad := true
		calls := 0
		w := newWorld(t, small(directed("do", manifest.FailEscalate)), bind(flawed(1, &calls, errFlaw), "do"), func(c *pulse.Config) {
			c.Journal = &j
			c.Escalate = func(context.Context, pulse.Escalation) (pulse.Resolution, error) {
				if bad {
					panic(errDown)
				}
				return pulse.Abort, nil
			}
		})
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, errDown)
		require.Equal(t, pulse.Interrupted, it.Status)
		bad = false
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = w.loop.Resume(t.Context(), e)
		require.ErrorIs(t, err, pulse.ErrEscalated)
		require.Equal(t, pulse.Aborted, it.Status)
		w.healthy(t)
	})
}

// A workspace has so many places, and so many may wait for one.
func TestQueue(t *testing.T) {
	spec.Covers(t, "C-052")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small(), bind(pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) {
			time.Sleep(time.Minute)
			return Deed{}, nil
		}), "do"), func(c *pulse.Config) { c.Limits.Queue = 2 })
		done := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
				done <- err
			}()
		}
		synctest.Wait()
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, pulse.ErrOverflow)
		require.Nil(t, it)
		_, err = read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "globex"}, Ask{"x"})
		require.NoError(t, err, "another workspace has its own queue")
		for range 3 {
			require.NoError(t, <-done)
		}
		// One that gives up while it waits leaves the queue.
		go func() { _, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"}); done <- err }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		it, err = read.Enter(ctx, w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Nil(t, it)
		require.NoError(t, <-done)
		w.healthy(t)
	})
}

// An interface that holds nil is a value like any other.
func TestNilOutput(t *testing.T) {
	spec.Covers(t, "P-5.1-1")
	id := pulse.PhaseID[Ask, any]("read")
	next := pulse.PhaseID[any, Deed]("do")
	w := newWorld(t, small(), func(c *pulse.Config) {
		c.Phases[0] = pulse.BindFunc(id, func(context.Context, Ask) (any, error) { return nil, nil })
		c.Phases[1] = pulse.BindFunc(next, func(_ context.Context, s any) (Deed, error) {
			if s != nil {
				return Deed{}, errFlaw
			}
			return Deed{N: 1}, nil
		})
	})
	it, err := id.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
}

// A resolver that fails or panics starts nothing and keeps no place.
func TestResolverThatFails(t *testing.T) {
	spec.Covers(t, "C-030")
	doubles := pulsetest.NewSubstrates()
	r := &moody{set: doubles.Set()}
	w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates = r })
	w.Substrates = doubles
	for _, mood := range []func(){func() { panic(errDown) }, func() { r.err = errDown }} {
		r.err, r.mood = nil, mood
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, errDown)
		require.Nil(t, it)
	}
	r.err, r.mood = nil, nil
	w.healthy(t)
}

type moody struct {
	set  substrate.Set
	mood func()
	err  error
}

func (m *moody) Resolve(context.Context, string, manifest.Substrates) (substrate.Set, error) {
	if m.mood != nil {
		m.mood()
	}
	return m.set, m.err
}
