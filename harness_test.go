package pulse_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

// The smallest loop that is one: read, do, score.
type (
	Ask  struct{ Text string }
	Fact struct {
		Text string
		N    int
	}
	Deed struct {
		ActionID string
		N        int
	}
	Lesson struct{ Status string }
)

const (
	read  pulse.PhaseID[Ask, Fact]                    = "read"
	do    pulse.PhaseID[Fact, Deed]                   = "do"
	score pulse.PhaseID[pulse.Feedback[Deed], Lesson] = "score"
)

// small gives the manifest of the smallest loop; edit changes it.
func small(edit ...func(*manifest.Manifest)) *manifest.Manifest {
	m := &manifest.Manifest{
		ProtocolVersion: "0.1", LoopID: "test.small", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve},
			{ID: "do", Kind: manifest.KindAct, Inputs: manifest.Inputs{From: "phase:read"}},
			{ID: "score", Kind: manifest.KindLearn, Inputs: manifest.Inputs{From: "external|signal:OutcomeSignal"}},
		},
		Closure:    manifest.Closure{FromPhase: "score", ToPhase: "read"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceManual},
		Substrates: manifest.Substrates{Memory: "mem://{ws_id}", Policy: "pol://{ws_id}", Audit: "aud://{ws_id}", Auth: "auth://{ws_id}"},
		Invariants: manifest.AllInvariants(),
	}
	m.Invariants[manifest.QuorumBeforeCommit] = false
	for _, e := range edit {
		e(m)
	}
	return m
}

// phase gives an edit of one phase.
func phase(id string, edit func(*manifest.Phase)) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) { edit(m.Phase(id)) }
}

// world is a loop with in-memory substrates.
type world struct {
	*pulsetest.Substrates
	loop *pulse.Loop
}

func bindings() []pulse.Binding {
	return []pulse.Binding{
		pulse.BindFunc(read, func(_ context.Context, in Ask) (Fact, error) { return Fact{Text: in.Text, N: len(in.Text)}, nil }),
		pulse.BindFunc(do, func(ctx context.Context, in Fact) (Deed, error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return Deed{}, err
			}
			return Deed{ActionID: c.ActionID(), N: in.N}, nil
		}),
		pulse.BindFunc(score, func(_ context.Context, in pulse.Feedback[Deed]) (Lesson, error) {
			return Lesson{Status: string(in.Signal.Status)}, nil
		}),
	}
}

// bind replaces the default function of a phase.
func bind(b pulse.Binding, id string) func(*pulse.Config) {
	return func(c *pulse.Config) {
		at := map[string]int{"read": 0, "do": 1, "score": 2}
		c.Phases[at[id]] = b
	}
}

func newWorld(t *testing.T, m *manifest.Manifest, edit ...func(*pulse.Config)) *world {
	t.Helper()
	w := &world{Substrates: pulsetest.NewSubstrates()}
	cfg := pulse.Config{Phases: bindings(), Substrates: w.Set(), Actor: "agent-7"}
	for _, e := range edit {
		e(&cfg)
	}
	l, err := pulse.New(m, cfg)
	require.NoError(t, err)
	w.loop = l
	return w
}

var acme = pulse.Trigger{Workspace: "acme"}

// types lists the types of the audit events, in order, of the given classes.
func (w *world) types(classes ...substrate.EventClass) []string {
	var out []string
	for _, e := range w.Audit.Events() {
		if len(classes) == 0 || slices.Contains(classes, e.Class) {
			out = append(out, fmt.Sprintf("%s %s", e.PhaseID, e.EventType))
		}
	}
	return out
}

func (w *world) count(phase, typ string) int {
	n := 0
	for _, e := range w.Audit.Events() {
		if e.PhaseID == phase && e.EventType == typ {
			n++
		}
	}
	return n
}

// auditEQ holds the oracle of the engine cases: no event id twice, exactly one
// transition per ended phase run, and the four members of OS-010 §7.3 on every
// event.
func (w *world) auditEQ(t *testing.T) {
	t.Helper()
	ids := map[string]bool{}
	for _, e := range w.Audit.Events() {
		require.False(t, ids[e.EventID], "event id twice: %s", e.EventID)
		ids[e.EventID] = true
		require.NotEmpty(t, e.TraceID, "P-7.3-4: trace_id of %s", e.EventID)
		require.NotEmpty(t, e.PhaseID, "P-7.3-4: phase_id of %s", e.EventID)
		require.NotEmpty(t, e.Signature, "P-7.3-4: signature of %s", e.EventID)
		require.False(t, e.Timestamp.IsZero(), "P-7.3-4: timestamp of %s", e.EventID)
	}
}
