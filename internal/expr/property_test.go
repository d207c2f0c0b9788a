package expr_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// name is drawn from few, so that random environments have some of them.
var name = rapid.SampledFrom([]string{"a", "b", "c", "kappa", "topology"})

func source(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return atom(t)
	}
	pick := func(spellings ...string) string { return rapid.SampledFrom(spellings).Draw(t, "spelling") }
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		return pick("!", "¬", "not ") + "(" + source(t, depth-1) + ")"
	case 1:
		return "(" + source(t, depth-1) + pick("&&", " ∧ ", " and ") + source(t, depth-1) + ")"
	}
	return source(t, depth-1) + pick("||", "∨", " or ") + source(t, depth-1)
}

func atom(t *rapid.T) string {
	path := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path"), ".")
	if rapid.Bool().Draw(t, "membership") {
		n := rapid.IntRange(1, 3).Draw(t, "elements")
		list := make([]string, n)
		for i := range list {
			list[i] = literal(t)
		}
		return path + " in [" + strings.Join(list, ",") + "]"
	}
	op := rapid.SampledFrom([]string{"<=", "≤", ">=", "≥", "<", ">", "==", "!="}).Draw(t, "op")
	switch rapid.IntRange(0, 2).Draw(t, "operands") {
	case 0:
		return path + op + name.Draw(t, "right")
	case 1:
		return literal(t) + op + path
	}
	return path + op + literal(t)
}

func literal(t *rapid.T) string {
	switch rapid.IntRange(0, 3).Draw(t, "literal") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false", "0", "1", "-1"}).Draw(t, "word")
	case 1:
		f := rapid.Float64().Draw(t, "number")
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := rapid.String().Filter(utf8.ValidString).Draw(t, "text")
	quote := rapid.SampledFrom([]string{"'", `"`}).Draw(t, "quote")
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(s) + quote
}

func environment(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	for _, k := range rapid.SliceOfDistinct(name, rapid.ID[string]).Draw(t, "members") {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			m[k] = nil
		case 1:
			m[k] = rapid.Bool().Draw(t, "bool")
		case 2:
			m[k] = rapid.SampledFrom([]float64{-1, 0, 1}).Draw(t, "small")
		case 3:
			m[k] = rapid.String().Draw(t, "string")
		case 4:
			m[k] = []any{1.0}
		default:
			if depth > 0 {
				m[k] = environment(t, depth-1)
			}
		}
	}
	return m
}

func TestPrintedFormParsesToTheSameTree(t *testing.T) {
	spec.Covers(t, "C-058")
	rapid.Check(t, func(t *rapid.T) {
		src := source(t, 5)
		e, err := expr.Parse(src)
		require.NoError(t, err, "the generator wrote no condition")
		again, err := expr.Parse(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
		require.Equal(t, e.String(), again.String())
	})
}

func TestLawsOfLogic(t *testing.T) {
	spec.Covers(t, "C-058", "T-2-9")
	rapid.Check(t, func(t *rapid.T) {
		a, b := source(t, 3), source(t, 3)
		env := expr.Scope{Payload: environment(t, 2), Topology: environment(t, 2), Vars: environment(t, 1)}
		holds := func(src string) bool {
			e, err := expr.Parse(src)
			require.NoError(t, err)
			return e.Eval(env)
		}
		x, y := holds(a), holds(b)
		require.Equal(t, !x, holds("!("+a+")"))
		require.Equal(t, x, holds("!(!("+a+"))"))
		require.Equal(t, x && y, holds("("+a+") && ("+b+")"))
		require.Equal(t, x || y, holds("("+a+") || ("+b+")"))
		require.Equal(t, holds("!(("+a+") && ("+b+"))"), holds("!("+a+") || !("+b+")"), "De Morgan")
		require.Equal(t, holds("!(("+a+") || ("+b+"))"), holds("!("+a+") && !("+b+")"), "De Morgan")
	})
}

// Membership is a disjunction of equalities, and != excludes ==.
func TestMembershipIsEquality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := expr.Map(environment(t, 2))
		path := strings.Join(rapid.SliceOfN(name, 1, 2).Draw(t, "path"), ".")
		x, y := literal(t), literal(t)
		eval := func(src string) bool {
			e, err := expr.Parse(src)
			require.NoError(t, err)
			return e.Eval(env)
		}
		require.Equal(t, eval(path+"=="+x+"||"+path+"=="+y), eval(path+" in ["+x+","+y+"]"))
		require.False(t, eval(path+"=="+x+"&&"+path+"!="+x))
		require.Equal(t, eval(path+"<"+x+"||"+path+">"+x), eval(path+"<="+x+"||"+path+">="+x) && !eval(path+"=="+x))
	})
}

// Whatever the source, there is a condition or a position inside the source.
func TestAnySource(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"a", "a.b", " ", "==", "=", "≤", "!", "not ", "(", ")", "[", "]", ",", "in", "and", "'", `"`, `\`, "1", "-1e5", "null", "\xff",
	}))
	rapid.Check(t, func(t *rapid.T) {
		sound(t, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
	})
}

// sound checks what holds of every source.
func sound(t require.TestingT, src string) {
	e, err := expr.Parse(src)
	if err != nil {
		var se *expr.SyntaxError
		require.ErrorAs(t, err, &se)
		require.Equal(t, src, se.Source)
		require.NotEmpty(t, se.Problem)
		require.GreaterOrEqual(t, se.Column, 1)
		require.LessOrEqual(t, se.Column, utf8.RuneCountInString(src)+1)
		return
	}
	again, err := expr.Parse(e.String())
	require.NoError(t, err, "the canonical form of %q", src)
	require.Equal(t, e, again)
	require.NotEmpty(t, e.Paths(), "a condition that reads nothing is constant")
	for _, env := range []expr.Env{nil, expr.Map{"a": 1.0}, expr.Scope{Payload: expr.Map{"a": "x"}, Alias: "topology", Vars: expr.Map{"b": []any{}}}} {
		require.Equal(t, e.Eval(env), again.Eval(env))
	}
}
