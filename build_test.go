package pulse_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// refusal is one thing that New refuses, and all that it says of it: a row is a
// single fault.
type refusal struct {
	name     string
	manifest []func(*manifest.Manifest)
	config   func(*pulse.Config)

	code, phase, pointer, text string
}

// build builds the smallest loop with changes.
func build(m *manifest.Manifest, edit ...func(*pulse.Config)) (*pulse.Loop, error) {
	cfg := pulse.Config{Phases: bindings(), Substrates: pulsetest.NewSubstrates().Set(), Actor: "agent-7"}
	for _, e := range edit {
		if e != nil {
			e(&cfg)
		}
	}
	return pulse.New(m, cfg)
}

// faults gives everything that New finds wrong.
func faults(t *testing.T, m *manifest.Manifest, edit ...func(*pulse.Config)) *pulse.BuildError {
	t.Helper()
	l, err := build(m, edit...)
	require.Nil(t, l, "a loop came with an error")
	var be *pulse.BuildError
	require.ErrorAs(t, err, &be)
	return be
}

func (r *refusal) run(t *testing.T) {
	t.Run(r.name, func(t *testing.T) {
		be := faults(t, small(r.manifest...), r.config)
		require.Len(t, be.Faults, 1, "%v", be)
		f := be.Faults[0]
		require.Equal(t, r.code, f.Code)
		require.Equal(t, r.phase, f.Phase)
		require.Equal(t, r.pointer, f.Pointer)
		require.Contains(t, f.Message, r.text)
		require.Equal(t, "pulse: loop test.small: "+f.String(), be.Error(), "one fault is one line")
	})
}

// stub gives a binding that returns zero values: what counts is its types.
func stub[In, Out any](id string) *pulse.Bound[In, Out] {
	return pulse.BindFunc(pulse.PhaseID[In, Out](id), func(context.Context, In) (Out, error) {
		var out Out
		return out, nil
	})
}

// with appends bindings to those of the smallest loop.
func with(bs ...pulse.Binding) func(*pulse.Config) {
	return func(c *pulse.Config) { c.Phases = append(c.Phases, bs...) }
}

// reader is a phase as a type.
type reader struct{ calls int }

func (r *reader) Run(_ context.Context, in Ask) (Fact, error) {
	r.calls++
	return Fact{Text: in.Text}, nil
}

func TestBindingsAreOnePerPhase(t *testing.T) {
	for _, r := range []refusal{
		{
			name: "unbound", config: func(c *pulse.Config) { c.Phases = c.Phases[:2] },
			code: "phase.unbound", phase: "score", pointer: "/phases/2", text: "add pulse.BindFunc(…) to Config.Phases",
		},
		{
			name: "twice", config: with(stub[Ask, Fact]("read")),
			code: "binding.twice", phase: "read", text: "two functions are bound to it",
		},
		{
			name: "unknown, a letter off", config: with(stub[Ask, Fact]("raed")),
			code: "binding.unknown", phase: "raed", text: "the manifest has no such phase; did you mean read?",
		},
		{
			name: "unknown, like none", config: with(stub[Ask, Fact]("elsewhere")),
			code: "binding.unknown", phase: "elsewhere", text: "the manifest has no such phase: it has read, do, score",
		},
		{
			name: "short and like none", config: with(stub[Ask, Fact]("x")),
			code: "binding.unknown", phase: "x", text: "no such phase: it has read, do, score",
		},
		{
			name: "far too long to be a slip", config: with(stub[Ask, Fact](strings.Repeat("read", 10_000))),
			code: "binding.unknown", phase: strings.Repeat("read", 10_000), text: "it has read, do, score",
		},
		{
			name: "a Bound that nobody bound", config: with(&pulse.Bound[Ask, Fact]{}),
			code: "binding.unknown", text: "it has read, do, score",
		},
		{
			name: "nil binding", config: with(nil),
			code: "binding.nil", text: "Config.Phases[3] is nil",
		},
		{
			name: "typed nil binding", config: with((*pulse.Bound[Ask, Fact])(nil)),
			code: "binding.nil", text: "Config.Phases[3] is nil",
		},
		{
			name: "nil function", config: bind(pulse.BindFunc(read, nil), "read"),
			code: "binding.nil", phase: "read", text: "the function bound to it is nil",
		},
		{
			name: "nil function of an act", config: bind(pulse.BindAct(do, nil), "do"),
			code: "binding.nil", phase: "do", text: "the function bound to it is nil",
		},
		{
			name: "nil Phase", config: bind(pulse.Bind(read, nil), "read"),
			code: "binding.nil", phase: "read", text: "the function bound to it is nil",
		},
		{
			name: "typed nil Phase", config: bind(pulse.Bind(read, (*reader)(nil)), "read"),
			code: "binding.nil", phase: "read", text: "the function bound to it is nil",
		},
	} {
		r.run(t)
	}
}

func TestBindTakesAPhase(t *testing.T) {
	r := &reader{}
	w := newWorld(t, small(), bind(pulse.Bind(read, r).Undo(nil), "read"))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	out, err := read.Output(it)
	require.NoError(t, err)
	require.Equal(t, Fact{Text: "x"}, out)
	require.Equal(t, 1, r.calls)
}

var errNowhere = errors.New("no database there")

func one(edit func(*manifest.Manifest)) []func(*manifest.Manifest) {
	return []func(*manifest.Manifest){edit}
}

func TestClosureMustBeReachable(t *testing.T) {
	r := refusal{
		name: "a route leads past it",
		manifest: one(func(m *manifest.Manifest) {
			m.Phases = slices.Insert(m.Phases, 1, manifest.Phase{ID: "pick", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:do"}})
			m.Phases = append(m.Phases, manifest.Phase{ID: "stray", Kind: manifest.KindLearn}) // after score, which says that nothing follows it
			m.ProtocolVersion = "0.2"
			m.Phase("score").Successors = []string{}
			m.Closure.FromPhase = "stray"
		}),
		config: with(stub[Fact, pulse.Decision]("pick"), stub[token.OutcomeSignal, Lesson]("stray")),
		code:   "closure.unreachable", phase: "stray", pointer: "/closure/from_phase", text: "no way leads from the entry read to it",
	}
	r.run(t)
}

func TestInvalidManifestIsNotBuilt(t *testing.T) {
	spec.Covers(t, "P-1.1-1", "P-3.1-1")
	be := faults(t, small(func(m *manifest.Manifest) {
		m.Closure.FromPhase = "nowhere"
		m.WorkspaceScope = "galaxy"
		m.Phase("do").Inputs.From = "phase"
	}), func(c *pulse.Config) { c.Phases, c.Substrates = nil, nil })
	codes := map[string]string{}
	for _, f := range be.Faults {
		codes[f.Code] = f.Pointer
		var is manifest.Issues
		require.ErrorAs(t, f.Err, &is, "the issue behind %s", f)
	}
	require.Equal(t, map[string]string{
		"manifest.unknown-phase": "/closure/from_phase",
		"manifest.bad-value":     "/workspace_scope",
		"manifest.endpoint":      "/phases/1/inputs/from",
	}, codes, "nothing else makes sense before these: %v", be)
}

func TestNilManifest(t *testing.T) {
	l, err := pulse.New(nil, pulse.Config{})
	require.Nil(t, l)
	var be *pulse.BuildError
	require.ErrorAs(t, err, &be)
	require.Equal(t, "manifest.nil", be.Faults[0].Code)
}

func TestSettingsAreChecked(t *testing.T) {
	r := refusal{
		name: "a quorum above one", config: func(c *pulse.Config) { c.Settings.Quorum = 1.5 },
		code: "plan", text: "quorum 1.5 is not in (0, 1]",
	}
	r.run(t)
}

// New says everything at once, in the same words every time, and what lies
// behind a fault is reached with errors.As.
func TestAllFaultsAtOnce(t *testing.T) {
	broken := func() (*manifest.Manifest, func(*pulse.Config)) {
		m := small(phase("do", rollsBack), effects("score", manifest.Effects{Calls: []string{"memory.topology_analyze"}}))
		return m, func(c *pulse.Config) {
			c.Phases = []pulse.Binding{stub[Ask, chan int]("read"), nil, stub[Ask, Deed]("do"), stub[Ask, Fact]("scroe")}
			slot(func(s *substrate.Set) {
				s.Memory, s.Audit = storeOnly, nil
				s.Host = []substrate.HostOperation{{}}
			})(c)
		}
	}
	m, edit := broken()
	be := faults(t, m, edit)
	var got []string
	for _, f := range be.Faults {
		got = append(got, strings.TrimSpace(f.Code+" "+f.Phase+" "+f.Pointer))
	}
	require.ElementsMatch(t, []string{
		"binding.nil", "binding.unknown scroe", "phase.unbound score /phases/2",
		"type.json read /phases/0", "type.edge do /phases/1/inputs/from",
		"substrates.host", "substrates.missing  /substrates/audit", "substrates.operation read /phases/0",
		"substrates.operation score /phases/2/effects", "rollback.undo do /phases/1/on_failure",
	}, got)
	require.Equal(t, "test.small", be.Loop)
	text := be.Error()
	lines := strings.Split(text, "\n")
	require.Equal(t, "pulse: loop test.small: 10 faults", lines[0])
	require.Len(t, lines, 11, "a line for each")
	for range 20 {
		m, edit := broken()
		require.Equal(t, text, faults(t, m, edit).Error(), "the same faults in the same words")
	}
	var se *signature.Error
	require.ErrorAs(t, be, &se, "why the channel has no JSON form")
}

func TestMust(t *testing.T) {
	l, err := build(small())
	require.NoError(t, err)
	require.Same(t, l, pulse.Must(l, nil))
	require.PanicsWithError(t, "no database there", func() { pulse.Must(nil, errNowhere) })
}

// The reference manifests of the specification load, build and run.
func TestI01ReferenceManifestsRun(t *testing.T) {
	spec.Covers(t, "I01", "C-016", "C-054", "P-4-11", "P-3.2-12")
	for _, r := range []struct {
		name  string
		vars  map[string]any
		enter string
		want  []string
		binds []pulse.Binding
	}{
		{
			name: "graphonomous", enter: "retrieve_ctx", want: []string{"retrieve_ctx", "route_topology", "act_store", "learn_outcome"},
			binds: []pulse.Binding{
				stub[query, Fact]("retrieve_ctx"),
				pulse.BindFunc(pulse.PhaseID[Fact, pulse.Decision]("route_topology"), func(_ context.Context, f Fact) (pulse.Decision, error) {
					return pulse.PhaseID[Fact, Deed]("act_store").Goto(f), nil
				}),
				stub[Fact, Deed]("act_store"), stub[token.OutcomeSignal, Lesson]("learn_outcome"),
				stub[[]Fact, token.ConsolidationEvent]("consolidate_idle"),
			},
		},
		{
			name: "prism", enter: "compose", want: []string{"compose", "interact", "observe", "reflect", "diagnose"},
			vars: map[string]any{"registered_system": "another"},
			binds: []pulse.Binding{
				stub[query, Fact]("compose"),
				pulse.BindAct(pulse.PhaseID[Fact, []Deed]("interact"), func(context.Context, Fact) (pulse.Outcome[[]Deed], error) {
					return pulse.Outcome[[]Deed]{NoParents: true}, nil
				}),
				stub[[]Deed, []Lesson]("observe"),
				stub[[]Lesson, recalled]("reflect"), stub[recalled, agreed]("diagnose"),
			},
		},
		{
			name: "agentromatic", enter: "bid", want: []string{"bid", "overlap", "negotiate", "elect", "execute", "commit", "learn_rep"},
			binds: []pulse.Binding{
				stub[query, Fact]("bid"), stub[Fact, Fact]("overlap"), stub[Fact, Fact]("negotiate"),
				pulse.BindFunc(pulse.PhaseID[Fact, agreed]("elect"), func(context.Context, Fact) (agreed, error) { return agreed{Result: approved}, nil }),
				stub[agreed, Deed]("execute"), stub[Deed, Deed]("commit"),
				pulse.BindFunc(pulse.PhaseID[pulse.Feedback[Deed], token.ReputationUpdate]("learn_rep"), func(context.Context, pulse.Feedback[Deed]) (token.ReputationUpdate, error) {
					return token.ReputationUpdate{SubjectID: "agent-7", SubjectType: token.SubjectAgent, Domain: "code", Delta: 0.1, SourceLoop: "agentromatic.deliberation"}, nil
				}),
			},
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			m, err := manifest.Reference(r.name)
			require.NoError(t, err)
			var rec pulsetest.Recorder
			w := newWorld(t, m, func(c *pulse.Config) {
				c.Phases, c.Observers, c.Settings.Vars = r.binds, []pulse.Observer{&rec}, r.vars
			})
			it, err := pulse.PhaseID[query, Fact](r.enter).Enter(t.Context(), w.loop, acme, query{Query: "x", K: 5})
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, it.Status)
			rec.WantRan(t, r.want...)
			w.auditEQ(t)
		})
	}
}

// query is the input of the reference loops.
type query struct {
	Query string `json:"query"`
	K     int    `json:"k"`
}
