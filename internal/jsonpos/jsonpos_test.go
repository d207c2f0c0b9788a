package jsonpos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

func Example() {
	tree, faults := jsonpos.Parse([]byte("{\n  \"delta\": +0.04, // an update\n}"))
	lines := jsonpos.NewLines(tree.Source())
	for _, f := range faults {
		line, column := lines.Position(f.Pos)
		fmt.Printf("%d:%d: %s\n", line, column, f.Problem)
	}
	fmt.Println(string(tree.Root().AppendJSON(nil)))
	// Output:
	// 2:12: a JSON number has no plus sign; remove it
	// 2:17: a comma stands before the closing bracket; remove it
	// 2:19: JSON has no comments; remove it
	// {"delta":0.04}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		in   string
		code jsonpos.Code
		pos  int
		read bool // reading went on to the end
	}{
		{``, jsonpos.Syntax, 0, false},
		{` [1`, jsonpos.Syntax, 3, false},
		{`[1 2]`, jsonpos.Syntax, 3, false},
		{`{"a" 1}`, jsonpos.Syntax, 5, false},
		{`{a: 1}`, jsonpos.Syntax, 1, false},
		{`{"a": 'b'}`, jsonpos.Syntax, 6, false},
		{`[NaN]`, jsonpos.Syntax, 1, false},
		{`[nullx]`, jsonpos.Syntax, 1, false},
		{`[01]`, jsonpos.Syntax, 1, false},
		{`[1.]`, jsonpos.Syntax, 1, false},
		{`[.5]`, jsonpos.Syntax, 1, false},
		{`[1e]`, jsonpos.Syntax, 1, false},
		{`[-]`, jsonpos.Syntax, 1, false},
		{`[0x1F]`, jsonpos.Syntax, 1, false},
		{"[\"a\nb\"]", jsonpos.Syntax, 3, false},
		{`["ab]`, jsonpos.Syntax, 1, false},
		{`["a\x"]`, jsonpos.Syntax, 3, false},
		{`["\ud83d"]`, jsonpos.Encoding, 2, false},
		{`["\ud83d\u0041"]`, jsonpos.Encoding, 2, false},
		{"[\"a\xff\"]", jsonpos.Encoding, 3, false},
		{"\ufeff[]", jsonpos.Encoding, 0, false},
		{`[1,]`, jsonpos.TrailingComma, 2, true},
		{`{"a":1,}`, jsonpos.TrailingComma, 6, true},
		{`[,]`, jsonpos.Syntax, 1, false},
		{`[1,,2]`, jsonpos.Syntax, 3, false},
		{`[+1]`, jsonpos.Plus, 1, true},
		{`[1] // x`, jsonpos.Comment, 4, true},
		{`[1 /* x */]`, jsonpos.Comment, 3, true},
		{`[1 /* x`, jsonpos.Comment, 3, false},
		{`[1 / 2]`, jsonpos.Syntax, 3, false},
		{`{} {}`, jsonpos.TrailingData, 3, false},
		{`{}]`, jsonpos.TrailingData, 2, false},
		{`{"a":1,"b":2,"\u0061":3}`, jsonpos.Duplicate, 13, true},
		{strings.Repeat("[", 201) + strings.Repeat("]", 201), jsonpos.Depth, 200, false},
	} {
		tree, faults := jsonpos.Parse([]byte(c.in))
		require.Len(t, faults, 1, "faults of %s", c.in)
		require.Equal(t, c.code, faults[0].Code, "code for %s: %s", c.in, faults[0].Problem)
		require.Equal(t, c.pos, faults[0].Pos, "place in %s: %s", c.in, faults[0].Problem)
		require.Equal(t, c.read, tree != nil, "tree of %s", c.in)
	}
}

func TestDuplicatesAmongManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"m%d":[{}],`, i)
	}
	_, faults := jsonpos.Parse([]byte(`{` + b.String() + `"m7":1}`))
	require.Len(t, faults, 1)
	require.Equal(t, jsonpos.Duplicate, faults[0].Code)
	require.Equal(t, b.Len()+1, faults[0].Pos)
}

func TestTextOfStrings(t *testing.T) {
	tree, faults := jsonpos.Parse([]byte(`["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é"]`))
	require.Empty(t, faults)
	for v := range tree.Root().Elements() {
		require.Equal(t, "\"\\/\b\f\n\r\té😀 é", v.Text())
	}
}

func TestDepthAtTheLimit(t *testing.T) {
	_, faults := jsonpos.Parse([]byte(strings.Repeat("[", jsonpos.MaxDepth) + strings.Repeat("]", jsonpos.MaxDepth)))
	require.Empty(t, faults)
	_, faults = jsonpos.Parse([]byte(strings.Repeat("[", 1_000_000)))
	require.Equal(t, jsonpos.Depth, faults[0].Code)
}

func TestFind(t *testing.T) {
	src := "{\n \"a\": [1, {\"b/c~\": true}],\n \"d\": 2\n}"
	tree, faults := jsonpos.Parse([]byte(src))
	require.Empty(t, faults)
	l := tree.Locator()
	for _, c := range []struct {
		pointer string
		name    bool
		want    string // what stands at the place
	}{
		{"", false, "{\n \"a\""},
		{"/a", false, "[1, "},
		{"/a", true, "\"a\":"},
		{"/a/1/b~1c~0", false, "true}"},
		{"/a/1/b~1c~0", true, "\"b/c~\""},
		{"/a/1", true, "{\"b/c"},
		{"/a/1/x", true, "{\"b/c"},
		{"/a/7/x", false, "[1, "},
		{"/a/-1", false, "[1, "},
		{"/d/e", false, "2\n}"},
	} {
		pos := l.Find(c.pointer, c.name)
		require.Equal(t, c.want, src[pos:pos+len(c.want)], "at %q", c.pointer)
	}
	line, column := jsonpos.NewLines(src).Position(l.Find("/a/1/b~1c~0", false))
	require.Equal(t, [2]int{2, 20}, [2]int{line, column})
}

func TestFindAmongManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"m%d":%d,`, i, i)
	}
	src := `{` + b.String() + `"x":{}}`
	tree, _ := jsonpos.Parse([]byte(src))
	l := tree.Locator()
	require.Equal(t, strings.Index(src, `77,`), l.Find("/m77", false))
	require.Equal(t, strings.Index(src, `"m77"`), l.Find("/m77", true))
	require.Equal(t, 0, l.Find("/none", false))
}

// TestAgreesWithEncodingJSON: whatever encoding/json writes is read without a
// fault and written back with the same meaning.
func TestAgreesWithEncodingJSON(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any { return drawValue(t, 4) })
	rapid.Check(t, func(t *rapid.T) {
		want, err := json.MarshalIndent(value.Draw(t, "value"), "", " ")
		require.NoError(t, err)
		tree, faults := jsonpos.Parse(want)
		require.Empty(t, faults)
		require.JSONEq(t, string(want), string(tree.Root().AppendJSON(nil)))
		again, err := json.Marshal(tree.Root().Any())
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(again))
	})
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "number")
	case 3:
		return rapid.String().Draw(t, "text")
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "len") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	default:
		members := map[string]any{}
		for range rapid.IntRange(0, 40).Draw(t, "len") {
			members[rapid.String().Draw(t, "name")] = drawValue(t, 0)
		}
		return members
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a": [1, -2.5e3, "x\u00e9", true, null, {}]}`)
	f.Fuzz(func(t *testing.T, src string) {
		tree, faults := jsonpos.Parse([]byte(src))
		if (tree == nil) && len(faults) == 0 {
			t.Fatal("no tree and no fault")
		}
		for _, f := range faults {
			if f.Pos < 0 || f.Pos > len(src) || f.Problem == "" {
				t.Fatalf("fault %+v lies outside the text", f)
			}
		}
		valid := json.Valid([]byte(src))
		if len(faults) == 0 && !valid {
			t.Fatalf("accepted what encoding/json refuses: %q", src)
		}
		if valid {
			for _, f := range faults {
				if f.Code != jsonpos.Duplicate && f.Code != jsonpos.Encoding && f.Code != jsonpos.Depth {
					t.Fatalf("refused JSON %q: %s", src, f.Problem)
				}
			}
		}
		if len(faults) == 0 {
			var want, got any
			out := tree.Root().AppendJSON(nil)
			if json.Unmarshal([]byte(src), &want) != nil {
				return // a number beyond float64
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("wrote %q: %v", out, err)
			}
			require.Equal(t, want, got)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte(`[` + strings.Repeat(`{"id":"phase_1","kind":"act","inputs":{"from":"phase:x","schema":"T"},"timeout_ms":500,"idempotent":true},`, 10_000) + `null]`)
	b.Run("jsonpos", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			if _, faults := jsonpos.Parse(src); faults != nil {
				b.Fatal(faults)
			}
		}
	})
	b.Run("encoding-json-any", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(src, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
