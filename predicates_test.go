package pulse_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// emits declares a connection with a condition.
func emits(id string, name token.Name, condition string) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		m.Connections = append(m.Connections, manifest.Connection{
			ID: "out", EmitPhase: id, EmitCondition: condition, Token: string(name), ToLoop: "test.other", ToPhase: "read",
		})
	}
}

// nests declares an inner loop.
func nests(trigger string) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		m.Nesting.InnerLoops = []manifest.InnerLoop{{LoopID: "test.inner", Trigger: trigger}}
	}
}

// shape has every form of JSON member that a predicate may meet.
type shape struct {
	Named   string `json:"named"`
	Deep    struct{ N *struct{ Leaf int } }
	Map     map[string]int
	Any     any
	List    []Fact
	When    stamp
	Time    time.Time
	Out     string `json:"-"`
	private int
	Promoted
	Tagged `json:"tagged"`
	*Behind
	*Ring
	Self selfPointer
}

type (
	Promoted struct{ Up int }
	Tagged   struct{ Under int }
	Behind   struct{ Far int }
	Ring     struct { // a type that embeds itself
		*Ring
		Round int
	}
)

// stamp is a text, whatever its fields are.
type stamp struct{ N int }

func (stamp) MarshalText() ([]byte, error) { return []byte("1"), nil }
func (*stamp) UnmarshalText([]byte) error  { return nil }

func TestPredicatesReadWhatIsThere(t *testing.T) {
	spec.Covers(t, "C-059", "P-4-28", "P-4-24")
	const emit, trigger = "/connections/0/emit_condition", "/nesting/inner_loops/0/trigger"
	for _, r := range []refusal{
		{
			name: "an emit_condition", manifest: one(emits("score", token.OutcomeSignalName, "stauts == 'success'")),
			phase: "score", pointer: emit, text: "the predicate reads stauts, which neither [token.OutcomeSignal] nor Settings.Vars has",
		},
		{
			name: "κ of a token that has none", manifest: one(emits("score", token.OutcomeSignalName, "kappa > 0")),
			phase: "score", pointer: emit, text: "the predicate reads kappa",
		},
		{
			name: "the topology under an emit_condition over another token", manifest: one(emits("score", token.OutcomeSignalName, "topology.max_kappa > 0")),
			phase: "score", pointer: emit, text: "the predicate reads topology.max_kappa",
		},
		{
			name: "a trigger", manifest: one(nests("phase:read when Size > 3")),
			phase: "read", pointer: trigger, text: "the predicate reads Size, which neither [pulse_test.Fact token.TopologyContext] nor Settings.Vars has",
		},
		{
			name: "a member of the topology that it has not", manifest: one(nests("phase:read when topology.size > 3")),
			phase: "read", pointer: trigger, text: "the predicate reads topology.size",
		},
		{
			name: "a member of a text", manifest: one(nests("phase:read when Text.Size > 3")),
			phase: "read", pointer: trigger, text: "the predicate reads Text.Size",
		},
		{
			name: "the Go name of a member that has another", manifest: one(nests("phase:do when action_id == 'x'")),
			phase: "do", pointer: trigger, text: "the predicate reads action_id",
		},
	} {
		r.code = "predicate.path"
		r.run(t)
	}
	vars := func(c *pulse.Config) {
		c.Settings.Vars = map[string]any{"region": "eu", "limits": map[string]any{"n": 1}}
	}
	for name, r := range map[string]refusal{
		"a member":                  {manifest: one(emits("score", token.OutcomeSignalName, "status == 'success'"))},
		"the alias outcome":         {manifest: one(emits("score", token.OutcomeSignalName, "outcome in ['success']"))},
		"the alias kappa":           {manifest: one(emits("read", token.TopologyContextName, "kappa > 0"))},
		"the token's own alias":     {manifest: one(emits("read", token.TopologyContextName, "topology.max_kappa > 0 and topology.kappa > 0"))},
		"a variable of the host":    {manifest: one(emits("score", token.OutcomeSignalName, "region == 'eu' or limits.n > 0")), config: vars},
		"a vendor's token":          {manifest: one(emits("read", "acme.v1.Alarm", "loudness > 3"))},
		"the newest topology":       {manifest: one(nests("phase:read when kappa > 0 or max_kappa > 0"))},
		"the output":                {manifest: one(nests("phase:read when N > 3 and Text != ''"))},
		"a trigger without a when":  {manifest: one(nests("phase:read"))},
		"a variable of the host, 2": {manifest: one(nests("phase:read when region == 'eu'")), config: vars},
		"whatever a decision holds": {manifest: []func(*manifest.Manifest){routed, nests("phase:choose when value.Text == 'x' or to == 'do'")}, config: with(stub[Fact, pulse.Decision]("choose"))},
	} {
		_, err := build(small(r.manifest...), r.config)
		require.NoError(t, err, name)
	}
}

// What a predicate may read is what the JSON of the type can have.
func TestPathsAreThoseOfTheJSON(t *testing.T) {
	spec.Covers(t, "C-059")
	sample := shape{Promoted: Promoted{1}, Behind: &Behind{1}, Ring: &Ring{}, private: 1}
	raw, err := json.Marshal(sample)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(raw, &members))
	for path, want := range map[string]bool{
		"named": true, "Named": false, "Deep.N.Leaf": true, "Deep.N.Twig": false, "Deep.Leaf": false,
		"Map.anything": true, "Any.at.all": true, "List": true, "List.Text": false, "Out": false, "private": false,
		"Up": true, "Promoted.Up": false, "tagged.Under": true, "Under": false, "Far": true, "Round": true, "Square": false,
		"When": true, "When.N": false, "Time": true, "Self": true, "Self.x": false,
	} {
		head, _, _ := strings.Cut(path, ".")
		_, there := members[head]
		require.True(t, there || !want, "the table says of %s what JSON does not", path)
		_, err := build(small(nests("phase:read when "+path+" == 1"), from("do", "external")), bind(stub[Ask, shape]("read"), "read"))
		require.Equal(t, want, err == nil, "%s: %v", path, err)
	}
}
