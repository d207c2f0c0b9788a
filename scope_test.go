package pulse_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	pulsetoken "github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// What a loop does is declared: with the same functions, another order in the
// manifest is another order of running.
func TestOrderIsDeclared(t *testing.T) {
	spec.Covers(t, "P-0-3", "P-5.3-1")
	type V struct{ N int }
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}} {
		var rec pulsetest.Recorder
		m := small(func(m *manifest.Manifest) {
			m.Phases = nil
			for _, id := range order {
				m.Phases = append(m.Phases, manifest.Phase{ID: id, Kind: manifest.KindRetrieve})
			}
			m.Phases = append(m.Phases, manifest.Phase{ID: "do", Kind: manifest.KindAct}, manifest.Phase{ID: "score", Kind: manifest.KindLearn})
			m.Closure.ToPhase = order[0]
		})
		same := func(_ context.Context, v V) (V, error) { return v, nil }
		w := newWorld(t, m, func(c *pulse.Config) {
			c.Observers = []pulse.Observer{&rec}
			c.Phases = []pulse.Binding{pulse.BindFunc(pulse.PhaseID[pulse.Feedback[V], V]("score"), func(_ context.Context, f pulse.Feedback[V]) (V, error) { return f.Value, nil })}
			for _, id := range []string{"a", "b", "c", "do"} {
				c.Phases = append(c.Phases, pulse.BindFunc(pulse.PhaseID[V, V](id), same))
			}
		})
		_, err := pulse.PhaseID[V, V](order[0]).Enter(t.Context(), w.loop, acme, V{})
		require.NoError(t, err)
		rec.WantRan(t, append(slices.Clone(order), "do", "score")...)
	}
}

// The same loop runs over any substrates that keep the contracts.
func TestSubstratesCanBeSwapped(t *testing.T) {
	spec.Covers(t, "P-0-2")
	handlers := func() substrate.Set {
		yes := substrate.Allow()
		return substrate.Set{
			Memory: substrate.MemoryFuncs{
				RetrieveContextFunc: func(context.Context, substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
					return substrate.RetrieveContextResponse{}, nil
				},
				StoreNodeFunc: func(_ context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
					return substrate.Receipt{ID: "n1", TraceID: r.TraceID}, nil
				},
			},
			Policy: substrate.PolicyFunc(func(context.Context, substrate.CheckPolicyRequest) (substrate.Verdict, error) { return yes, nil }),
			Auth:   substrate.AuthFunc(func(context.Context, substrate.PermissionCheckRequest) (substrate.Verdict, error) { return yes, nil }),
			Audit: substrate.AuditFunc(func(_ context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
				return substrate.Receipt{ID: r.Event.EventID, TraceID: r.TraceID}, nil
			}),
		}
	}
	for name, set := range map[string]substrate.Set{"doubles": pulsetest.NewSubstrates().Set(), "wrapped handlers": handlers()} {
		var rec pulsetest.Recorder
		memory := pulse.Handles().Memory
		w := newWorld(t, small(), func(c *pulse.Config) { c.Substrates, c.Observers = set, []pulse.Observer{&rec} },
			bind(pulse.BindFunc(read, func(ctx context.Context, in Ask) (Fact, error) {
				_, err := memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{Query: in.Text, K: 3})
				return Fact{}, err
			}), "read"),
			bind(pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) {
				_, err := memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "deed", Content: []byte(`1`), Confidence: 0.5}})
				return Deed{}, err
			}), "do"))
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err, name)
		require.Equal(t, pulse.Completed, it.Status, name)
		rec.WantRan(t, "read", "do", "score")
	}
}

// No package of the library implements a substrate: outside the test packages
// only wrappers of a host's own have the methods of one.
func TestNoPackageImplementsASubstrate(t *testing.T) {
	spec.Covers(t, "P-1.1-3")
	wrappers := map[string][]string{
		"StoreNode":       {"MemoryFuncs", "memoryHandle"},
		"CheckPolicy":     {"PolicyFunc", "PolicyFuncs", "policyHandle"},
		"AppendEvent":     {"AuditFunc", "AuditFuncs", "auditHandle"},
		"PermissionCheck": {"AuthFunc", "AuthFuncs", "authHandle"},
	}
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasSuffix(path, "test") || path == "bench" || path == "examples" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || wrappers[fn.Name.Name] == nil {
				continue
			}
			if recv, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
				found[fn.Name.Name] = append(found[fn.Name.Name], recv.Name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for op, want := range wrappers {
		slices.Sort(found[op])
		require.ElementsMatch(t, want, found[op], "types with a method %s", op)
	}
}

// A topology that a retrieve phase returns reaches the route phase and decides
// what it may do.
func TestTopologyGoesFromRetrieveToRoute(t *testing.T) {
	spec.Covers(t, "P-6.1-1", "P-3.2-3")
	got := 0.0
	type Out struct {
		Topology pulsetoken.TopologyContext
	}
	look := pulse.PhaseID[Ask, Out]("look")
	pick := pulse.PhaseID[Out, pulse.Decision]("pick")
	m := small(func(m *manifest.Manifest) {
		m.Phases = append([]manifest.Phase{{ID: "look", Kind: manifest.KindRetrieve}, {ID: "pick", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:do"}}}, m.Phases[1:]...)
		m.Phase("do").Inputs.From = "phase:pick"
		m.Closure.ToPhase = "look"
	})
	w := newWorld(t, m, func(c *pulse.Config) {
		c.Phases[0] = pulse.BindFunc(look, func(context.Context, Ask) (Out, error) {
			return Out{pulsetoken.TopologyContext{
				Nodes: []pulsetoken.TopologyNode{{ID: "n1", Confidence: 0.5}}, MaxKappa: 2, Routing: pulsetoken.RoutingDeliberate,
			}}, nil
		})
		c.Phases = append(c.Phases, pulse.BindFunc(pick, func(_ context.Context, o Out) (pulse.Decision, error) {
			got = o.Topology.MaxKappa
			return do.Deliberate(Fact{Text: o.Topology.Nodes[0].ID}), nil
		}))
	})
	it, err := look.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.InDelta(t, 2, got, 0)
	fact, err := do.Input(it)
	require.NoError(t, err)
	require.Equal(t, "n1", fact.Text)
	d, err := pick.Output(it)
	require.NoError(t, err)
	require.Equal(t, "do", d.To)
	require.Equal(t, 1, w.count("pick", "phase.routed"))
}

// Reputation may be emitted from a phase of any kind; a consolidate phase emits
// the event that it returns.
func TestEmissions(t *testing.T) {
	spec.Covers(t, "P-6.4-1", "P-6.5-1", "P-3.2-6")
	update := pulsetoken.ReputationUpdate{SubjectID: "a", SubjectType: pulsetoken.SubjectAgent, Domain: "code", Delta: 0.04, SourceLoop: "test.small"}
	emit := func(ctx context.Context) error {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return err
		}
		return c.Emit(ctx, update)
	}
	tidy := pulse.PhaseID[Lesson, pulsetoken.ConsolidationEvent]("tidy")
	m := small(func(m *manifest.Manifest) {
		m.Phases = append(m.Phases, manifest.Phase{ID: "tidy", Kind: manifest.KindConsolidate})
		m.Closure.FromPhase = "tidy"
	})
	w := newWorld(t, m, func(c *pulse.Config) {
		c.Phases = []pulse.Binding{
			pulse.BindFunc(read, func(ctx context.Context, _ Ask) (Fact, error) { return Fact{}, emit(ctx) }),
			pulse.BindFunc(do, func(ctx context.Context, _ Fact) (Deed, error) { return Deed{}, emit(ctx) }),
			pulse.BindFunc(score, func(ctx context.Context, _ pulse.Feedback[Deed]) (Lesson, error) { return Lesson{}, emit(ctx) }),
			pulse.BindFunc(tidy, func(ctx context.Context, _ Lesson) (pulsetoken.ConsolidationEvent, error) {
				return pulsetoken.ConsolidationEvent{Timescale: pulsetoken.TimescaleFast, ConvergenceStatus: pulsetoken.ConvergenceStable}, emit(ctx)
			}),
		}
	})
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	var got []string
	for _, e := range w.Audit.Events() {
		if e.Class == substrate.ClassSignal {
			name, _ := e.Attributes.Lookup("token")
			got = append(got, e.PhaseID+" "+name)
		}
	}
	require.ElementsMatch(t, []string{
		"read ReputationUpdate", "do ReputationUpdate", "score ReputationUpdate", "score OutcomeSignal",
		"tidy ReputationUpdate", "tidy ConsolidationEvent",
	}, got)
	w.auditEQ(t)
}
