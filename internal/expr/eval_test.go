package expr_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/stretchr/testify/require"
)

var values = expr.Map{
	"one": 1.0, "half": 0.5, "yes": true, "no": false, "s": "b",
	"list": []any{1.0}, "object": map[string]any{"x": map[string]any{"y": 2.0}},
	"int": 1, "uint": uint16(1), "float": float32(0.5), "level": level(1), "nan": math.NaN(),
}

// level is a number of a host's own type.
type level int

// Each operator in each of its spellings, holding and not.
func TestSpellings(t *testing.T) {
	spec.Covers(t, "T-2-9", "C-058")
	for _, c := range []struct {
		spellings         []string
		holds, doesNot, s string
	}{
		{[]string{"<=", "≤"}, "one %s 1", "one %s 0", "s %s 'b'"},
		{[]string{">=", "≥"}, "one %s 1", "one %s 2", "s %s 'b'"},
		{[]string{"<"}, "one %s 2", "one %s 1", "s %s 'c'"},
		{[]string{">"}, "one %s 0", "one %s 1", "s %s 'a'"},
		{[]string{"=="}, "one %s 1", "one %s 2", "s %s \"b\""},
		{[]string{"!="}, "one %s 2", "one %s 1", "s %s \"c\""},
		{[]string{"in"}, "one %s [0, 1]", "one %s [0, 2]", "s %s ['a', \"b\"]"},
		{[]string{"&&", "∧", "and"}, "one == 1 %s yes == true", "one == 1 %s no == true", "s == 'b' %s s != 'c'"},
		{[]string{"||", "∨", "or"}, "one == 2 %s yes == true", "one == 2 %s no == true", "s == 'c' %s s == 'b'"},
		{[]string{"!", "¬", "not"}, "%s (one == 2)", "%s one == 1", "%s s == 'c'"},
	} {
		for _, op := range c.spellings {
			check := func(form string, want bool) {
				src := fmt.Sprintf(form, op)
				require.Equal(t, want, parse(t, src).Eval(values), "%s", src)
			}
			check(c.holds, true)
			check(c.s, true)
			check(c.doesNot, false)
		}
	}
}

func TestTruth(t *testing.T) {
	spec.Covers(t, "C-058")
	for _, c := range []struct {
		src  string
		want bool
	}{
		// A missing path makes every comparison false, and its negation true.
		{"gone == 1", false}, {"gone != 1", false}, {"gone <= 1", false}, {"gone == null", false}, {"gone != null", false},
		{"gone == gone", false}, {"gone != gone", false}, {"gone in [1, null]", false}, {"1 == gone", false},
		{"!(gone == 1)", true}, {"!(gone != 1)", true}, {"!(gone in [1])", true},
		{"one.x == 1", false}, {"s.x == 1", false}, {"list.x == 1", false}, {"object.x.z == 2", false},
		{"object.x.y == 2", true},
		// null differs from everything that is there.
		{"one != null", true}, {"one == null", false}, {"object != null", true}, {"list != null", true}, {"list == null", false},
		{"one < null", false}, {"one >= null", false},
		// Types that do not compare.
		{"one == '1'", false}, {"one != '1'", false}, {"one == true", false}, {"one != true", false}, {"s == true", false},
		{"yes < true", false}, {"yes >= no", false}, {"no == false", true}, {"yes != no", true},
		{"list == list", false}, {"list != list", false}, {"object == object", false}, {"list in [1]", false},
		{"s in [1, true, null, 'b']", true}, {"no in [null, 0, '']", false},
		// Numbers of a host.
		{"int == 1", true}, {"uint == one", true}, {"float == half", true}, {"level < 2", true}, {"int in [1]", true},
		{"nan == nan", false}, {"nan != nan", false}, {"nan < 1", false}, {"nan in [1]", false}, {"nan != null", true},
		// Binding: negation, conjunction, disjunction.
		{"one == 1 || one == 2 && one == 3", true}, {"(one == 1 || one == 2) && one == 3", false},
		{"!one == 2 && one == 1", true}, {"!one == 1 || one == 1", true},
		// Strings are ordered by bytes.
		{"'Z' < s", true}, {"'a' < s", true}, {"'ä' > s", true}, {"s < 'bb'", true},
	} {
		require.Equal(t, c.want, parse(t, c.src).Eval(values), "%s", c.src)
	}
}

// A field whose value is null is there.
func TestNullField(t *testing.T) {
	env := expr.Map{"n": nil}
	for src, want := range map[string]bool{
		"n == null": true, "n != null": false, "n in [null]": true, "n == n": true, "n != 1": true, "n == 1": false,
		"n < 1": false, "n <= null": false, "n != 'x'": true, "n.x == 1": false,
	} {
		require.Equal(t, want, parse(t, src).Eval(env), "%s", src)
	}
}

func TestEvalWithoutEnvironment(t *testing.T) {
	require.False(t, parse(t, "a == 1").Eval(nil))
	require.True(t, parse(t, "!(a == 1)").Eval(nil))
	require.False(t, parse(t, "a == 1").Eval(expr.Map(nil)))
	require.False(t, parse(t, "a == 1").Eval(expr.Scope{}))
}

func TestEvalDoesNotAllocate(t *testing.T) {
	e := parse(t, "topology.kappa > 0 && status in ['failure', 'success'] && !(confidence < 0.5 || limit == 'x') && evidence.id != null")
	var env expr.Env = expr.Scope{
		Payload:  expr.Map{"status": "success", "confidence": 0.7, "evidence": map[string]any{"id": "e1"}},
		Topology: expr.Map{"max_kappa": 2.0},
		Vars:     expr.Map{"limit": 3},
	}
	require.True(t, e.Eval(env))
	require.Zero(t, testing.AllocsPerRun(100, func() { e.Eval(env) }))
}

func TestScope(t *testing.T) {
	spec.Covers(t, "C-059")
	topology := expr.Map{"max_kappa": 2.0, "routing": "deliberate", "nodes": []any{}}
	outcome := expr.Map{"status": "success", "evidence": map[string]any{"kappa": 7.0}}
	vars := expr.Map{"registered_system": "graphonomous", "status": "of the host", "limits": map[string]any{"k": 5.0}, "kappa": -1.0}
	for _, c := range []struct {
		name  string
		scope expr.Scope
		holds []string
		fails []string
	}{
		{
			"a TopologyContext under its name and bare", expr.Scope{Payload: topology, Alias: "topology"},
			[]string{"max_kappa == 2", "kappa == 2", "topology.max_kappa == 2", "topology.kappa == 2", "topology.routing == routing", "topology != null"},
			[]string{"outcome == 'success'", "topology.topology.kappa == 2", "kappa.x == 2"},
		},
		{
			"a payload with a topology beside it", expr.Scope{Payload: outcome, Topology: topology},
			[]string{"status == 'success'", "outcome == 'success'", "topology.kappa > 0", "kappa > 0", "routing == 'deliberate'", "topology != null", "evidence.kappa == 7"},
			[]string{"topology.status == 'success'", "evidence.max_kappa == 7"},
		},
		{
			"a payload without topology", expr.Scope{Payload: outcome},
			[]string{"outcome == status"},
			[]string{"kappa >= 0", "topology.kappa >= 0", "topology == null", "topology != null"},
		},
		{
			"variables come last", expr.Scope{Payload: outcome, Topology: topology, Vars: vars},
			[]string{"registered_system == 'graphonomous'", "status == 'success'", "kappa == 2", "limits.k == 5"},
			[]string{"status == 'of the host'", "evidence.k == 5"},
		},
		{
			"variables alone", expr.Scope{Vars: vars},
			[]string{"status == 'of the host'", "kappa == -1"},
			[]string{"outcome == 'of the host'"},
		},
		{
			"the payload's own names win over aliases", expr.Scope{Payload: expr.Map{
				"kappa": 1.0, "max_kappa": 3.0, "outcome": nil, "status": "x",
				"topology": map[string]any{"max_kappa": 9.0},
			}, Topology: topology},
			[]string{"kappa == 1", "max_kappa == 3", "outcome == null", "topology.max_kappa == 9"},
			[]string{"topology.routing == 'deliberate'"},
		},
		{
			"the payload under its alias wins over the topology", expr.Scope{Payload: expr.Map{"max_kappa": 1.0}, Alias: "topology", Topology: topology},
			[]string{"topology.kappa == 1", "topology.routing == 'deliberate'"}, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range c.holds {
				require.True(t, parse(t, src).Eval(c.scope), "%s", src)
			}
			for _, src := range c.fails {
				require.False(t, parse(t, src).Eval(c.scope), "%s", src)
			}
		})
	}
	_, ok := expr.Scope{Payload: outcome}.Lookup(nil)
	require.False(t, ok, "the empty path names nothing")
}

func BenchmarkEval(b *testing.B) {
	e := parse(b, "topology.kappa > 0 && status in ['failure', 'success'] && !(confidence < 0.5)")
	var env expr.Env = expr.Scope{Payload: expr.Map{"status": "success", "confidence": 0.7}, Topology: expr.Map{"max_kappa": 2.0}}
	b.ReportAllocs()
	for b.Loop() {
		e.Eval(env)
	}
}
