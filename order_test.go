package pulse_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The number of phases is not fixed, nor is their order: whatever is declared
// runs as declared, and is recorded so.
func TestAnyNumberOfPhasesInAnyOrder(t *testing.T) {
	spec.Covers(t, "P-1.1-2", "P-5.3-1", "P-3.2-7")
	rapid.Check(t, func(t *rapid.T) {
		var ran, want []string
		m := small(func(m *manifest.Manifest) { m.Phases = anyPhases(t) })
		cfg := pulse.Config{Substrates: pulsetest.NewSubstrates().Set(), Actor: "agent-7"}
		var rec pulsetest.Recorder
		cfg.Observers = []pulse.Observer{&rec}
		for i := range m.Phases {
			want = append(want, m.Phases[i].ID)
			cfg.Phases = append(cfg.Phases, counting(m, i, &ran))
		}
		m.Closure = manifest.Closure{FromPhase: want[len(want)-1], ToPhase: want[0]}
		l, err := pulse.New(m, cfg)
		require.NoError(t, err)
		it, err := pulse.PhaseID[int, int](want[0]).Enter(context.Background(), l, acme, 0)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Equal(t, want, ran, "the functions ran in the declared order")
		require.Equal(t, want, rec.Ran(), "and so it was recorded")
	})
}

// anyPhases draws 2 to 32 phases of any kind, in any order. One is of a custom
// kind without a role, so that the loop may lack what the canonical kinds owe.
func anyPhases(t *rapid.T) []manifest.Phase {
	kinds := rapid.SliceOfN(rapid.SampledFrom([]manifest.Kind{
		manifest.KindRetrieve, manifest.KindRoute, manifest.KindAct, manifest.KindLearn, manifest.KindConsolidate, manifest.KindCustom,
	}), 2, 32).Draw(t, "kinds")
	kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "custom")] = manifest.KindCustom
	first := slices.IndexFunc(kinds, func(k manifest.Kind) bool { return k == manifest.KindAct || k == manifest.KindLearn })
	if first >= 0 { // learning follows acting (C-093)
		kinds[first] = manifest.KindAct
	}
	phases := make([]manifest.Phase, len(kinds))
	for i, k := range kinds {
		p := &phases[i]
		p.ID, p.Kind = fmt.Sprintf("%s_%d", k, i), k
		switch {
		case k == manifest.KindCustom:
			p.CustomKind = "thinking"
		case k == manifest.KindLearn && i == 0:
			p.Inputs.From = "external"
		case k == manifest.KindLearn:
			p.Inputs.From = "phase:" + phases[i-1].ID
		}
	}
	return phases
}

// counting binds a function that takes the number of the phases before it and
// gives it on, one higher.
func counting(m *manifest.Manifest, i int, ran *[]string) pulse.Binding {
	id := m.Phases[i].ID
	next := func(n int) (int, error) {
		if n != i {
			return 0, fmt.Errorf("the input is %d, the phase before gave %d", n, i)
		}
		*ran = append(*ran, id)
		return n + 1, nil
	}
	switch m.Phases[i].Kind {
	case manifest.KindRoute:
		return pulse.BindFunc(pulse.PhaseID[int, pulse.Decision](id), func(_ context.Context, n int) (pulse.Decision, error) {
			n, err := next(n)
			if i+1 == len(m.Phases) {
				return pulse.Decision{}, err
			}
			return pulse.PhaseID[int, int](m.Phases[i+1].ID).Goto(n), err
		})
	default:
		return pulse.BindFunc(pulse.PhaseID[int, int](id), func(_ context.Context, n int) (int, error) { return next(n) })
	}
}
