package pulse_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// from makes a phase take its input from elsewhere.
func from(id, endpoints string) func(*manifest.Manifest) {
	return phase(id, func(p *manifest.Phase) { p.Inputs.From = endpoints })
}

// routed puts a route phase between read and do.
func routed(m *manifest.Manifest) {
	m.Phases = slices.Insert(m.Phases, 1, manifest.Phase{ID: "choose", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:do|phase:score"}})
	m.Phase("do").Inputs.From = "phase:choose"
}

// custom makes do a phase of a custom kind, beside an act that is one by its kind.
func custom(m *manifest.Manifest) {
	m.Phases = slices.Insert(m.Phases, 2, manifest.Phase{ID: "acts", Kind: manifest.KindAct, Inputs: manifest.Inputs{From: "phase:read"}})
	m.Phase("do").Kind, m.Phase("do").CustomKind = manifest.KindCustom, "sending"
}

func TestTypesFitAlongTheEdges(t *testing.T) {
	spec.Covers(t, "P-4-10", "C-021")
	for _, r := range []refusal{
		{
			name: "along inputs.from", config: bind(stub[Ask, Deed]("do"), "do"),
			code: "type.edge", phase: "do", pointer: "/phases/1/inputs/from",
			text: "its function takes pulse_test.Ask, but phase read returns pulse_test.Fact",
		},
		{
			name: "along the declared order", manifest: one(from("do", "")), config: bind(stub[Ask, Deed]("do"), "do"),
			code: "type.edge", phase: "do", pointer: "/phases/1",
			text: "its function takes pulse_test.Ask, but phase read returns pulse_test.Fact",
		},
		{
			name: "one of several alternatives", manifest: one(from("do", "external | phase:read")), config: bind(stub[*Fact, Deed]("do"), "do"),
			code: "type.edge", phase: "do", pointer: "/phases/1/inputs/from",
			text: "its function takes *pulse_test.Fact, but phase read returns pulse_test.Fact",
		},
		{
			name: "a signal", manifest: one(from("do", "signal:TopologyContext")),
			code: "type.signal", phase: "do", pointer: "/phases/1/inputs/from", text: "it takes signal:TopologyContext, but its function takes pulse_test.Fact",
		},
	} {
		r.run(t)
	}
	for name, r := range map[string]refusal{
		"an interface takes any":            {config: bind(stub[any, Deed]("do"), "do")},
		"external says nothing of the type": {manifest: one(from("do", "external")), config: bind(stub[Ask, Deed]("do"), "do")},
		"nor does a substrate":              {manifest: one(from("do", "substrate:memory")), config: bind(stub[Ask, Deed]("do"), "do")},
		"a signal of its type":              {manifest: one(from("do", "signal:TopologyContext")), config: bind(stub[token.TopologyContext, Deed]("do"), "do")},
		"a signal of a vendor":              {manifest: one(from("do", "signal:acme.v1.Alarm"))},
		"a route produces what its target takes": {
			manifest: one(routed), config: with(stub[Fact, pulse.Decision]("choose")),
		},
	} {
		_, err := build(small(r.manifest...), r.config)
		require.NoError(t, err, name)
	}
}

func TestOnlyRoutesDecideAndOnlyActsHaveOutcomes(t *testing.T) {
	spec.Covers(t, "P-3.2-3", "C-044")
	learnsSignal := bind(stub[token.OutcomeSignal, Lesson]("score"), "score")
	for _, r := range []refusal{
		{
			name: "a route without a Decision", manifest: one(routed), config: with(stub[Fact, Fact]("choose")),
			code: "route.decision", phase: "choose", pointer: "/phases/1", text: "a route phase returns pulse.Decision, its function returns pulse_test.Fact",
		},
		{
			name: "a Decision of a retrieve phase", manifest: one(from("do", "external")), config: bind(stub[Ask, pulse.Decision]("read"), "read"),
			code: "decision.kind", phase: "read", pointer: "/phases/0/kind", text: "only a route phase may return pulse.Decision, this one is of kind retrieve",
		},
		{
			name: "an Outcome under BindFunc", config: func(c *pulse.Config) {
				bind(stub[Fact, pulse.Outcome[Deed]]("do"), "do")(c)
				learnsSignal(c)
			},
			code: "act.outcome", phase: "do", text: "its function returns a pulse.Outcome: bind it with pulse.BindAct",
		},
		{
			name: "BindAct on a phase that does not act",
			config: func(c *pulse.Config) {
				learnsSignal(c)
				bind(pulse.BindAct(read, func(context.Context, Ask) (pulse.Outcome[Fact], error) {
					return pulse.Outcome[Fact]{}, nil
				}), "read")(c)
			},
			code: "act.kind", phase: "read", pointer: "/phases/0/kind", text: "pulse.BindAct is for act phases, this one is of kind retrieve",
		},
		{
			name: "BindAct on a custom kind without a role", manifest: one(custom),
			config: func(c *pulse.Config) { with(stub[Fact, Deed]("acts"))(c); bind(acting, "do")(c) },
			code:   "act.kind", phase: "do", pointer: "/phases/1/kind", text: "or alias its custom kind to act",
		},
	} {
		r.run(t)
	}
	_, err := build(small(), bind(acting, "do"))
	require.NoError(t, err, "an act")
	_, err = build(small(custom), with(stub[Fact, Deed]("acts")), bind(acting, "do"),
		func(c *pulse.Config) { c.Settings.Aliases = manifest.Aliases{"sending": manifest.RoleAct} })
	require.NoError(t, err, "a custom kind with the role of an act")
}

var acting = pulse.BindAct(do, func(context.Context, Fact) (pulse.Outcome[Deed], error) { return pulse.Outcome[Deed]{}, nil })

func TestLearnTakesAnOutcome(t *testing.T) {
	spec.Covers(t, "P-3.2-5")
	for _, r := range []refusal{
		{
			name: "feedback on another type", config: bind(stub[pulse.Feedback[Fact], Lesson]("score"), "score"),
			code: "type.feedback", phase: "score", pointer: "/phases/2",
			text: "it takes pulse.Feedback[pulse_test.Fact], but the act do before it returns pulse_test.Deed",
		},
		{
			name: "neither an outcome nor what it reads from", config: bind(stub[Deed, Lesson]("score"), "score"),
			code: "type.learn", phase: "score", pointer: "/phases/2", text: "a learn phase takes token.OutcomeSignal, pulse.Feedback[T]",
		},
		{
			name: "the output of another phase than the one it reads from", manifest: one(from("score", "phase:read")), config: bind(stub[Deed, Lesson]("score"), "score"),
			code: "type.learn", phase: "score", pointer: "/phases/2", text: "its function takes pulse_test.Deed",
		},
		{
			name: "nothing said, and no outcome", manifest: one(from("score", "")), config: bind(stub[Deed, Lesson]("score"), "score"),
			code: "type.learn", phase: "score", pointer: "/phases/2", text: "its function takes pulse_test.Deed",
		},
		{
			name: "a pointer to an outcome", config: bind(stub[*token.OutcomeSignal, Lesson]("score"), "score"),
			code: "type.learn", phase: "score", pointer: "/phases/2", text: "its function takes *token.OutcomeSignal",
		},
	} {
		r.run(t)
	}
	for name, r := range map[string]refusal{
		"the outcome":                           {config: bind(stub[token.OutcomeSignal, Lesson]("score"), "score")},
		"the outcome, nothing said":             {manifest: one(from("score", "")), config: bind(stub[token.OutcomeSignal, Lesson]("score"), "score")},
		"the output of the phase it reads from": {manifest: one(from("score", "phase:do")), config: bind(stub[Deed, Lesson]("score"), "score")},
		"or of one of them":                     {manifest: one(from("score", "phase:do|signal:OutcomeSignal")), config: bind(stub[Deed, Lesson]("score"), "score")},
	} {
		_, err := build(small(r.manifest...), r.config)
		require.NoError(t, err, name)
	}
}

// schemas names the schemas of phases: in, out and so on in the declared order.
func schemas(names ...string) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		for i, name := range names {
			if i%2 == 0 {
				m.Phases[i/2].Inputs.Schema = name
			} else {
				m.Phases[i/2].Outputs.Schema = name
			}
		}
	}
}

// listing makes read return a list.
func listing(c *pulse.Config) {
	bind(stub[Ask, []Fact]("read"), "read")(c)
	bind(stub[[]Fact, Deed]("do"), "do")(c)
}

func TestSchemaNamesStandForOneType(t *testing.T) {
	spec.Covers(t, "C-054", "P-4-11", "P-4-10")
	for _, r := range []refusal{
		{
			name: "two types", manifest: one(schemas("Thing", "Thing")),
			code: "schema.type", phase: "read", pointer: "/phases/0/outputs/schema",
			text: "the schema Thing is pulse_test.Fact here and pulse_test.Ask in phase read: one name, one type",
		},
		{
			name: "two types in two phases", manifest: one(schemas("", "Thing", "", "Thing")),
			code: "schema.type", phase: "do", pointer: "/phases/1/outputs/schema", text: "pulse_test.Deed here and pulse_test.Fact in phase read",
		},
		{
			name: "a list that is none", manifest: one(schemas("", "Fact[]")),
			code: "schema.list", phase: "read", pointer: "/phases/0/outputs/schema", text: "the schema Fact[] is a list, but the Go type is pulse_test.Fact",
		},
		{
			name: "a list of another type", manifest: one(schemas("Fact", "Fact[]")), config: listing,
			code: "schema.type", phase: "read", pointer: "/phases/0/outputs/schema", text: "the schema Fact is pulse_test.Fact here and pulse_test.Ask in phase read",
		},
	} {
		r.run(t)
	}
	for name, r := range map[string]refusal{
		"one type under one name":  {manifest: one(schemas("Ask", "Fact", "Fact", "Deed"))},
		"a list":                   {manifest: one(schemas("Ask", "Fact[]", "Fact[]", "Deed")), config: listing},
		"one type under two names": {manifest: one(schemas("Ask", "Fact", "Finding"))},
		"a route's output is its target's input": {
			manifest: []func(*manifest.Manifest){routed, schemas("Ask", "Fact", "Fact", "Fact", "Fact")}, config: with(stub[Fact, pulse.Decision]("choose")),
		},
	} {
		_, err := build(small(r.manifest...), r.config)
		require.NoError(t, err, name)
	}
}

func TestRecipesNameFieldsOfTheInput(t *testing.T) {
	spec.Covers(t, "P-4-13", "C-027")
	recipe := func(s string) []func(*manifest.Manifest) {
		return one(phase("read", func(p *manifest.Phase) { p.Signature = s }))
	}
	r := refusal{
		name: "a field that is not there", manifest: recipe("hash(Text, workspace_id, k)"),
		code: "signature.field", phase: "read", pointer: "/phases/0/signature", text: "k is not a member of pulse_test.Ask",
	}
	r.run(t)
	for _, s := range []string{"hash(Text, workspace_id)", "hash()", "blake3( Text )"} {
		_, err := build(small(recipe(s)...))
		require.NoError(t, err, s)
	}
}

// Types whose values JSON does not carry.
type (
	halfway     struct{ N int }
	oneWay      string
	textual     struct{ N int }
	sealed      struct{ R io.Reader }
	bothWays    struct{ R io.Reader }
	list        struct{ Next *list }
	selfPointer *selfPointer
	embedsInner struct{ inner }
	embedsDeep  struct{ *inner }
	inner       struct{ Text string }
	untold      struct {
		Text string
		Conn io.Reader `json:"-"`
	}
)

func (halfway) MarshalJSON() ([]byte, error)  { return []byte("1"), nil }
func (oneWay) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }
func (textual) MarshalText() ([]byte, error)  { return []byte("1"), nil }
func (sealed) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }
func (*sealed) UnmarshalJSON([]byte) error    { return nil }
func (bothWays) MarshalText() ([]byte, error) { return []byte("1"), nil }
func (*bothWays) UnmarshalText([]byte) error  { return nil }

// carries gives the config of a loop whose first phase takes a type.
func carries[T any](c *pulse.Config) { bind(stub[T, Fact]("read"), "read")(c) }

func TestTypesMustSurviveJSON(t *testing.T) {
	for _, r := range []refusal{
		{name: "a channel", config: carries[chan int], text: "its input type chan int has no JSON form"},
		{name: "a function", config: carries[struct{ F func() }], text: "has no JSON form"},
		{name: "a complex number", config: carries[map[string]complex128], text: "has no JSON form"},
		{name: "a key without text", config: carries[map[struct{ X int }]int], text: "has no JSON form"},
		{name: "a key of which only the text is known", config: carries[map[textual]int], text: "pulse_test.textual has MarshalText but no UnmarshalText"},
		{name: "an interface with methods", config: carries[[]io.Reader], text: "the interface io.Reader cannot be decoded"},
		{name: "in a map of pointers", config: carries[map[string]*struct{ R io.Reader }], text: "the interface io.Reader cannot be decoded"},
		{name: "only unexported fields", config: carries[strings.Reader], text: "strings.Reader has only unexported fields"},
		{name: "in an array", config: carries[[2]strings.Reader], text: "only unexported fields"},
		{name: "MarshalJSON alone", config: carries[halfway], text: "pulse_test.halfway has MarshalJSON but no UnmarshalJSON"},
		{name: "MarshalJSON alone, no struct", config: carries[[]oneWay], text: "pulse_test.oneWay has MarshalJSON but no UnmarshalJSON"},
		{name: "MarshalText alone", config: carries[*textual], text: "pulse_test.textual has MarshalText but no UnmarshalText"},
		{name: "behind a pointer that cannot be set", config: carries[embedsDeep], text: "the embedded pointer to pulse_test.inner cannot be decoded"},
	} {
		r.code, r.phase, r.pointer = "type.json", "read", "/phases/0"
		r.run(t)
	}
	output := refusal{
		name: "an output", manifest: one(from("do", "external")), config: bind(stub[Ask, strings.Reader]("read"), "read"),
		code: "type.json", phase: "read", pointer: "/phases/0", text: "its output type strings.Reader does not survive JSON",
	}
	output.run(t)
	for name, config := range map[string]func(*pulse.Config){
		"any":                      carries[any],
		"a tree":                   carries[list],
		"raw JSON":                 carries[json.RawMessage],
		"a time":                   carries[time.Time],
		"bytes":                    carries[[]byte],
		"the empty struct":         carries[struct{}],
		"methods both ways":        carries[sealed],
		"text both ways":           carries[map[string]bothWays],
		"an embedded struct":       carries[embedsInner],
		"what JSON is not to know": carries[untold],
		"a pointer to itself":      carries[selfPointer],
	} {
		_, err := build(small(), config)
		require.NoError(t, err, name)
	}
}

func TestWhyATypeHasNoJSON(t *testing.T) {
	be := faults(t, small(), carries[struct{ Deep []chan int }])
	var se *signature.Error
	require.ErrorAs(t, be, &se)
	require.Equal(t, "/Deep/*", se.Path)
}
