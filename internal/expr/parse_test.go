package expr_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/stretchr/testify/require"
)

func parse(t testing.TB, src string) *expr.Expr {
	t.Helper()
	e, err := expr.Parse(src)
	require.NoError(t, err)
	return e
}

func TestCanonicalForm(t *testing.T) {
	spec.Covers(t, "C-058", "T-2-9")
	for _, c := range []struct{ src, want string }{
		{`status in ['success','failure']`, `status in ['success', 'failure']`},
		{"kappa > 0", "kappa > 0"},
		{"surprise_magnitude >= 0.3", "surprise_magnitude >= 0.3"},
		{"registered_system == 'graphonomous'", "registered_system == 'graphonomous'"},
		{"max_kappa == 0", "max_kappa == 0"},
		{"a==1&&b==2||c==3", "a == 1 && b == 2 || c == 3"},
		{"a==1∧(b==2∨c==3)", "a == 1 && (b == 2 || c == 3)"},
		{"a==1 and (b==2 and c==3)", "a == 1 && b == 2 && c == 3"},
		{"((a==1 or b==2)) or c==3", "a == 1 || b == 2 || c == 3"},
		{"not a==1 and b==2", "!(a == 1) && b == 2"},
		{"¬(a==1 and b==2)", "!(a == 1 && b == 2)"},
		{"!!a==1", "a == 1"},
		{"!(!(!(a==1)))", "!(a == 1)"},
		{"1 ≤ a", "1 <= a"},
		{"a == b.c", "a == b.c"},
		{`a == "it's"`, `a == 'it\'s'`},
		{`a == '"\\'`, `a == '"\\'`},
		{"a == 'line\nbreak'", "a == 'line\nbreak'"},
		{"a in [null,true,-0,1E3]", "a in [null, true, 0, 1000]"},
		{"a == 1e300", "a == 1e+300"},
		{"a == 1e20", "a == 100000000000000000000"},
		{"\u00a0größe\t==\r\n1 ", "größe == 1"},
		{"topology.in == 1", "topology.in == 1"},
	} {
		e := parse(t, c.src)
		require.Equal(t, c.want, e.String(), "canonical form of %q", c.src)
		require.Equal(t, e, parse(t, e.String()), "%q and its canonical form have different trees", c.src)
	}
}

func TestTree(t *testing.T) {
	require.Equal(t,
		expr.Or{Terms: []expr.Node{
			expr.And{Terms: []expr.Node{
				expr.Compare{Left: expr.Path{"topology", "kappa"}, Op: expr.Greater, Right: expr.Literal{Value: 0.0}},
				expr.Not{Term: expr.In{Path: expr.Path{"outcome"}, List: []expr.Literal{{Value: "timeout"}, {Value: nil}}}},
			}},
			expr.Compare{Left: expr.Literal{Value: true}, Op: expr.Equal, Right: expr.Path{"topology", "kappa"}},
		}},
		parse(t, "topology.kappa > 0 && !(outcome in ['timeout', null]) || true == topology.kappa").Root())
}

func TestPathsAndAliases(t *testing.T) {
	spec.Covers(t, "C-059")
	e := parse(t, "topology.kappa > 0 && (b == a.x || outcome in [1]) && b != 2 && x.kappa == 1")
	require.Equal(t, [][]string{{"a", "x"}, {"b"}, {"outcome"}, {"topology", "kappa"}, {"x", "kappa"}}, e.Paths())
	require.Equal(t, []string{"kappa", "outcome"}, e.Aliases())
	require.Empty(t, parse(t, "max_kappa > 0 && topology.routing == 'fast' && topology == null").Aliases())

	e.Paths()[0][0] = "changed"
	require.Equal(t, []string{"a", "x"}, e.Paths()[0], "a caller's change reached the tree")
}

func TestNoExpression(t *testing.T) {
	var e *expr.Expr
	require.True(t, e.Eval(nil), "no condition must hold")
	require.Empty(t, e.String())
	require.Empty(t, e.Paths())
	require.Empty(t, e.Aliases())
	require.Nil(t, e.Root())
}

func TestSyntaxErrors(t *testing.T) {
	spec.Covers(t, "C-058")
	for _, c := range []struct {
		src    string
		column int
		cure   string
	}{
		{"", 1, "leave the condition out"},
		{" \t", 1, "leave the condition out"},
		{"a", 1, "write a == true"},
		{"b == 1 && a.b", 11, "write a.b == true"},
		{"!a", 2, "write a == true"},
		{"(a)", 2, "write a == true"},
		{"true", 1, "leave the condition out"},
		{"1 == 1", 1, "name a path"},
		{"'a' in ['a']", 1, "want a path before in"},
		{"a = 1", 3, "write =="},
		{"größe = 1", 7, "write =="},
		{"a === 1", 3, "write =="},
		{"a !== 1", 3, "write !="},
		{"a <> 1", 3, "write !="},
		{"a ≠ 1", 3, "write !="},
		{"a =< 1", 3, "write <="},
		{"a => 1", 3, "write >="},
		{"a ⩽ 1", 3, "write <="},
		{"a ≧ 1", 3, "write >="},
		{"a ＝ 1", 3, "write =="},
		{"a == 1 & b == 1", 8, "write &&"},
		{"a == 1 | b == 1", 8, "write ||"},
		{"~(a == 1)", 1, "write !"},
		{"a ∈ [1]", 3, "write in"},
		{"a == ‘x’", 6, "straight quote '"},
		{"a == “x”", 6, `straight quote "`},
		{"a == `x`", 6, "straight quote '"},
		{"a == −1", 6, "write - before"},
		{"a == 1 AND b == 1", 8, "the word is written and"},
		{"a == True", 6, "the word is written true"},
		{"κ > 0", 1, "write max_kappa"},
		{"a == 'x", 6, "add ' at its end"},
		{`a == "x`, 6, `add " at its end`},
		{`a == 'x\`, 6, "add ' at its end"},
		{`a == 'x\n'`, 8, `write \\ for one`},
		{"a == 'x\xff'", 8, "the byte 0xff is not UTF-8"},
		{"a == \xff", 6, "the byte 0xff is not UTF-8"},
		{"a == 'ü' \xff", 10, "the byte 0xff is not UTF-8"},
		{"a == 01", 6, "is not a number"},
		{"a == 1.", 6, "is not a number"},
		{"a == .5", 6, "a number with a digit"},
		{"a == 0x10", 6, "is not a number"},
		{"a == 1_000", 6, "is not a number"},
		{"a == 5ms", 6, "is not a number"},
		{"a == +1", 6, "no arithmetic"},
		{"a == - 1", 6, "no arithmetic"},
		{"a - 1 > 0", 3, "no arithmetic"},
		{"a -1 > 0", 3, "no arithmetic"},
		{"a > b * 2", 7, "no arithmetic"},
		{"a == 1e999", 6, "out of range"},
		{"a == 9007199254740993", 6, "compare a string"},
		{"f(a) == 1", 2, "there are no calls"},
		{"a[0] == 1", 2, "elements of lists have no path"},
		{"a.0 == 1", 3, "want a name after the dot"},
		{"a. b == 1", 3, "want a name after the dot"},
		{".a == 1", 1, "begins with a name"},
		{"0 < a < 1", 7, "write a < b && b < c"},
		{"a not in [1]", 3, "write !(a in [...])"},
		{"a == 1 b == 2", 8, "want && or ||"},
		{"a 1", 3, "want a comparison or in after a"},
		{"a ==", 5, "got the end"},
		{"== 1", 1, "want a path or a literal"},
		{"a == 1 &&", 10, "got the end"},
		{"a == [1]", 6, "want a path or a literal"},
		{"(a == 1", 1, "add )"},
		{"b == 1 && ((a == 1)", 11, "add )"},
		{"(a == 1]", 8, "want && or ||"},
		{"a == 1)", 7, "remove the )"},
		{"()", 2, "want a path or a literal"},
		{"a in 1", 6, "want a list"},
		{"a in []", 7, "holds literals"},
		{"a in [1", 6, "add ]"},
		{"a in [1,", 9, "holds literals"},
		{"a in [1 2]", 9, "want , or ]"},
		{"a in [success]", 7, "write 'success'"},
		{"a in {1}", 6, "lists are written [...]"},
		{"a == 1;", 7, "remove it"},
		{"a == '\ufffd' || \xc3", 13, "the byte 0xc3 is not UTF-8"},
		{"a == \u200b1", 6, `'\u200b' is no sign`},
	} {
		_, err := expr.Parse(c.src)
		var se *expr.SyntaxError
		require.ErrorAs(t, err, &se, "%q was accepted", c.src)
		require.Equal(t, c.src, se.Source)
		require.Contains(t, se.Problem, c.cure, "%q", c.src)
		require.Equal(t, c.column, se.Column, "column in %q: %s", c.src, se.Problem)
		require.Contains(t, err.Error(), fmt.Sprintf("column %d: %s", se.Column, se.Problem))
	}
}

// A message stays short whatever the source is.
func TestSyntaxErrorIsShort(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("a", 5000),
		"a == " + strings.Repeat("1", 5000) + "x",
		"a in [" + strings.Repeat("b", 5000),
		"a == 1 " + strings.Repeat("c", 5000),
	} {
		_, err := expr.Parse(src)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 500)
	}
}

func TestDepthIsBounded(t *testing.T) {
	spec.Covers(t, "C-058")
	nest := func(open string, n int, end string) string {
		return strings.Repeat(open, n) + "a == 1" + strings.Repeat(end, n)
	}
	for _, c := range []struct{ open, end string }{{"(", ")"}, {"!(", ")"}, {"!", ""}, {"b == 1 || (c == 1 && (", "))"}} {
		per := max(1, strings.Count(c.open, "("))
		e, err := expr.Parse(nest(c.open, expr.MaxDepth/per, c.end))
		require.NoError(t, err)
		require.Equal(t, e, parse(t, e.String()))

		for _, n := range []int{expr.MaxDepth/per + 1, 10_000} {
			_, err := expr.Parse(nest(c.open, n, c.end))
			var se *expr.SyntaxError
			require.ErrorAs(t, err, &se)
			require.Contains(t, se.Problem, "more than 200 deep: write it flatter")
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	atom := "a == '" + strings.Repeat("x", expr.MaxSize-7) + "'"
	require.Len(t, atom, expr.MaxSize)
	parse(t, atom)
	_, err := expr.Parse(atom + " ")
	var se *expr.SyntaxError
	require.ErrorAs(t, err, &se)
	require.Contains(t, se.Problem, "split it")
}

func conjunction(n int) string {
	atoms := make([]string, n)
	for i := range atoms {
		atoms[i] = fmt.Sprintf("payload.f%d >= %d", i, i)
	}
	return strings.Join(atoms, " and ")
}

// Long flat conditions are in use; their cost grows with their length alone.
func TestFlatConjunctionIsLinear(t *testing.T) {
	spec.Covers(t, "C-058")
	start := time.Now()
	e := parse(t, conjunction(10_000))
	require.Less(t, time.Since(start), 2*time.Second, "10,000 atoms took too long")
	require.Len(t, e.Root().(expr.And).Terms, 10_000)

	allocated := func(src string) float64 {
		return testing.AllocsPerRun(1, func() { _, _ = expr.Parse(src) })
	}
	one, four := allocated(conjunction(2_000)), allocated(conjunction(8_000))
	require.Less(t, four, 4.2*one, "four times the atoms allocate more than four times")
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("atoms=%d", n), func(b *testing.B) {
			src := conjunction(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expr.Parse(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
