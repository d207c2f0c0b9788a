package pulse_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

func reputation(delta float64) token.ReputationUpdate {
	return token.ReputationUpdate{SubjectID: "a", SubjectType: token.SubjectAgent, Domain: "code", Delta: delta, SourceLoop: "test.small"}
}

// All outputs of a phase or none, whatever flags are set.
func TestAllOutputsOrNone(t *testing.T) {
	spec.Covers(t, "P-5.1-1", "P-5-1")
	for _, flagged := range []bool{true, false} {
		t.Run(fmt.Sprintf("flags %t", flagged), func(t *testing.T) {
			fail := true
			b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
				c, err := pulse.CallFrom(ctx)
				if err != nil {
					return Deed{}, err
				}
				if err := c.Emit(ctx, reputation(0.01)); err != nil {
					return Deed{}, err
				}
				if _, err := pulse.Handles().Memory.StoreNode(ctx, note("x")); err != nil {
					return Deed{}, err
				}
				if fail {
					return Deed{N: 1}, errFlaw
				}
				return Deed{N: 2}, c.Emit(ctx, reputation(0.02))
			})
			w := newWorld(t, small(func(m *manifest.Manifest) {
				for f := range m.Invariants {
					m.Invariants[f] = m.Invariants[f] && flagged
				}
			}), bind(b, "do"))
			it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.ErrorIs(t, err, errFlaw)
			_, err = do.Output(it)
			require.ErrorIs(t, err, pulse.ErrNoOutput)
			require.Empty(t, w.types(substrate.ClassSignal), "a failed phase emits nothing")
			require.Empty(t, w.Memory.Nodes("acme"))
			require.Equal(t, 1, w.count("do", "phase.failed"))

			fail = false
			it, err = read.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
			out, err := do.Output(it)
			require.NoError(t, err)
			require.Equal(t, 2, out.N)
			require.Equal(t, []string{"do signal.unrouted", "do signal.unrouted", "score signal.unrouted"}, w.types(substrate.ClassSignal))
			w.auditEQ(t)
		})
	}
}

// Two iterations at once share nothing but the substrates: what the one stores,
// emits or fails with is not seen in the other.
func TestIterationsAtOnceDoNotMix(t *testing.T) {
	spec.Covers(t, "P-7.1-2", "C-052")
	synctest.Test(t, func(t *testing.T) {
		b := pulse.BindFunc(do, func(ctx context.Context, in Fact) (Deed, error) {
			for n := range 3 {
				if _, err := pulse.Handles().Memory.StoreNode(ctx, note(fmt.Sprintf("%s %d", in.Text, n))); err != nil {
					return Deed{}, err
				}
				time.Sleep(time.Second) // the other stores now
			}
			if in.Text == "bad" {
				return Deed{}, errFlaw
			}
			return Deed{N: in.N}, nil
		})
		w := newWorld(t, small(), bind(b, "do"), func(c *pulse.Config) { c.Limits.PerWorkspace = 2 })
		ends := map[string]*pulse.Iteration{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := time.Now()
		for _, text := range []string{"good", "bad"} {
			wg.Go(func() {
				it, _ := read.Enter(t.Context(), w.loop, acme, Ask{text})
				mu.Lock()
				defer mu.Unlock()
				ends[text] = it
			})
		}
		wg.Wait()
		require.Equal(t, 3*time.Second, time.Since(start), "they ran at once")
		require.Equal(t, pulse.Completed, ends["good"].Status)
		require.ErrorIs(t, ends["bad"].Err, errFlaw)
		require.NotEqual(t, ends["good"].TraceID, ends["bad"].TraceID)
		nodes := w.Memory.Nodes("acme")
		require.Len(t, nodes, 3)
		for _, n := range nodes {
			require.Contains(t, string(n.Content), "good")
		}
		for _, c := range w.Memory.Calls(substrate.OpStoreNode) {
			o := c.Origination
			it := ends["good"]
			if o.Iteration != it.ID {
				it = ends["bad"]
			}
			require.Equal(t, []string{it.ID, it.TraceID}, []string{o.Iteration, o.TraceID})
		}
		w.auditEQ(t)
	})
}

// The goroutines of a phase share its call: each of their mutations is numbered
// and audited once.
func TestPhaseParallelInside(t *testing.T) {
	spec.Covers(t, "P-7.1-3", "P-7.3-2")
	const many = 8
	b := pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
		errs := make(chan error)
		for n := range many {
			go func() {
				_, err := pulse.Handles().Memory.StoreNode(ctx, note(fmt.Sprint(n)))
				errs <- err
			}()
		}
		var err error
		for range many {
			err = errors.Join(err, <-errs)
		}
		return Deed{}, err
	})
	w := newWorld(t, small(), bind(b, "do"))
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Len(t, w.Memory.Nodes("acme"), many)
	require.Equal(t, many, w.count("do", "memory.store_node"))
	ordinals := map[int]bool{}
	for _, c := range w.Memory.Calls(substrate.OpStoreNode) {
		ordinals[c.Origination.Ordinal] = true
	}
	require.Len(t, ordinals, many, "each call has its own number")
	w.auditEQ(t)
}

// Without parallel: true the phases of an iteration run one after another.
func TestPhasesDoNotOverlap(t *testing.T) {
	spec.Covers(t, "P-7.1-4", "P-7.1-1")
	synctest.Test(t, func(t *testing.T) {
		var spans [][2]time.Duration
		start := time.Now()
		busy := func() {
			begun := time.Since(start)
			time.Sleep(time.Second)
			spans = append(spans, [2]time.Duration{begun, time.Since(start)})
		}
		w := newWorld(t, small(), func(c *pulse.Config) {
			c.Phases = []pulse.Binding{
				pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) { busy(); return Fact{}, nil }),
				pulse.BindFunc(do, func(context.Context, Fact) (Deed, error) { busy(); return Deed{}, nil }),
				pulse.BindFunc(score, func(context.Context, pulse.Feedback[Deed]) (Lesson, error) { busy(); return Lesson{}, nil }),
			}
		})
		_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, [][2]time.Duration{{0, time.Second}, {time.Second, 2 * time.Second}, {2 * time.Second, 3 * time.Second}}, spans)
	})
}

// The loop in which a phase runs twice with equal input in one iteration.
const (
	calc  pulse.PhaseID[Fact, Deed]           = "calc"
	again pulse.PhaseID[Deed, pulse.Decision] = "again"
)

// twice runs calc twice for one input, and gives how often its function ran.
func twice(t *testing.T, idempotent bool) (*world, *pulse.Iteration, int, []Deed) {
	t.Helper()
	m := small(func(m *manifest.Manifest) {
		m.Phases = []manifest.Phase{
			m.Phases[0],
			{ID: "calc", Kind: manifest.KindCustom, CustomKind: "compute", Inputs: manifest.Inputs{From: "phase:read"}, Idempotent: idempotent},
			{ID: "again", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:calc|phase:do"}},
			m.Phases[1], m.Phases[2],
		}
	})
	calls := 0
	var got []Deed
	w := newWorld(t, m, with(
		pulse.BindFunc(calc, func(ctx context.Context, _ Fact) (Deed, error) {
			calls++
			if _, err := pulse.Handles().Memory.StoreNode(ctx, note("computed")); err != nil {
				return Deed{}, err
			}
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return Deed{}, err
			}
			return Deed{N: calls}, c.Emit(ctx, reputation(0.01))
		}),
		pulse.BindFunc(again, func(_ context.Context, in Deed) (pulse.Decision, error) {
			got = append(got, in)
			if len(got) < 2 {
				return pulse.Decision{To: "calc"}, nil
			}
			return pulse.Decision{To: "do"}, nil
		}),
	))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	require.Len(t, got, 2)
	w.auditEQ(t)
	return w, it, calls, got
}

func TestIdempotentPhaseRunsOnceForAnInput(t *testing.T) {
	spec.Covers(t, "P-5.2-1", "C-039")
	w, _, calls, got := twice(t, true)
	require.Equal(t, 1, calls)
	require.Equal(t, []Deed{{N: 1}, {N: 1}}, got)
	require.Len(t, w.Memory.Nodes("acme"), 1)
	require.Equal(t, 1, w.Memory.Count(substrate.OpStoreNode))
	require.Equal(t, 1, w.count("calc", "signal.unrouted"), "what it emitted is not emitted again")
	remembered := 0
	for _, e := range w.Audit.Events() {
		if _, ok := e.Attributes.Lookup("remembered"); ok {
			remembered++
		}
	}
	require.Equal(t, 1, remembered)
	require.Equal(t, 2, w.count("calc", "phase.completed"))
	// The next iteration remembers nothing of this one.
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, 2, w.Memory.Count(substrate.OpStoreNode))
}

func TestOtherPhaseRunsAgainForAnInput(t *testing.T) {
	spec.Covers(t, "P-5.2-2", "P-5.2-3", "C-040")
	w, it, calls, got := twice(t, false)
	require.Equal(t, 2, calls)
	require.Equal(t, []Deed{{N: 1}, {N: 2}}, got)
	require.Len(t, w.Memory.Nodes("acme"), 2, "each run is a new mutation")
	out, err := calc.Output(it)
	require.NoError(t, err)
	require.Equal(t, 2, out.N, "the output is that of the newest run")
	signatures := map[string]int{}
	for _, e := range w.Audit.Events() {
		if e.PhaseID == "calc" {
			require.NotEmpty(t, e.Signature, e.EventType)
			signatures[e.EventType+" "+string(e.Signature)]++
		}
	}
	require.Len(t, signatures, 3, "transition, mutation, signal: one signature for equal inputs")
	for k, n := range signatures {
		require.Equal(t, 2, n, k)
	}
	for _, c := range w.Memory.Calls(pulsetest.OpCommit) {
		require.NotEmpty(t, c.Origination.Signature)
	}
}
