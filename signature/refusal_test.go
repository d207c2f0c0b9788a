package signature_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/signature"
)

type item struct {
	ID uint64 `json:"id"`
}

func TestRefusedWithPath(t *testing.T) {
	spec.Covers(t, "P-5.6-1", "C-028")
	for _, c := range []struct {
		name   string
		value  any
		reason error
		path   string
	}{
		{"uint64", uint64(1 << 53), signature.ErrIntegerRange, ""},
		{"int64 low", int64(-1 << 53), signature.ErrIntegerRange, ""},
		{"int64 least", int64(math.MinInt64), signature.ErrIntegerRange, ""},
		{"duration", struct{ D time.Duration }{math.MaxInt64}, signature.ErrIntegerRange, "/D"},
		{"member", struct {
			Items []item `json:"items"`
		}{[]item{{1}, {1 << 60}}}, signature.ErrIntegerRange, "/items/1/id"},
		{"map", map[int]map[string]any{7: {"a/b~c": []any{1, uint64(math.MaxUint64)}}}, signature.ErrIntegerRange, "/7/a~1b~0c/1"},
		{"json.Number", []json.Number{"9007199254740993"}, signature.ErrIntegerRange, "/0"},
		{"json.Number exponent", json.Number("1e17"), signature.ErrIntegerRange, ""},
		{"json.Number large", json.Number("1e400"), signature.ErrNotFinite, ""},
		{"json.Number text", struct{ N json.Number }{"0x10"}, signature.ErrSyntax, "/N"},
		{"json.Number quoted", struct {
			N json.Number `json:",string"`
		}{"one"}, signature.ErrSyntax, "/N"},
		{"NaN", map[string]float64{"x": math.NaN()}, signature.ErrNotFinite, "/x"},
		{"infinity", []any{math.Inf(-1)}, signature.ErrNotFinite, "/0"},
		{"float32", float32(math.Inf(1)), signature.ErrNotFinite, ""},
		{"quoted NaN", struct {
			F float64 `json:",string"`
		}{math.NaN()}, signature.ErrNotFinite, "/F"},
		{"UTF-8", []string{"ok", "a\xffb"}, signature.ErrInvalidUTF8, "/1"},
		{"surrogate", "\xed\xa0\x80", signature.ErrInvalidUTF8, ""},
		{"key", map[string]any{"k\xff": 1}, signature.ErrInvalidUTF8, "/k\ufffd"},
		{"typed key", map[Str]int{"k\xff": 1}, signature.ErrInvalidUTF8, "/k\ufffd"},
		{"quoted UTF-8", struct {
			S string `json:",string"`
		}{"\xff"}, signature.ErrInvalidUTF8, "/S"},
		{"text", []any{ValueText{"\xff"}}, signature.ErrInvalidUTF8, "/0"},
		{"raw", []any{json.RawMessage(`{"a":[1,{"b":18446744073709551615}]}`)}, signature.ErrIntegerRange, "/0/a/1/b"},
		{"marshaler", []any{Raw(`{"a":1,"a":2}`)}, signature.ErrDuplicateKey, "/0/a"},
		{"marshaler syntax", []any{Raw(`{"a":1`)}, signature.ErrSyntax, "/0/a"},
		{"empty raw", struct{ R json.RawMessage }{json.RawMessage{}}, signature.ErrSyntax, "/R"},
		{"keys of one text", map[encoding.TextMarshaler]int{ValueText{"x"}: 1, &ValueText{"x"}: 2}, signature.ErrDuplicateKey, "/<x>"},
		{"nil key", map[encoding.TextMarshaler]int{nil: 1}, signature.ErrUnsupportedType, ""},
		{"failing key", map[FailingText]int{{}: 1}, errRefused, ""},
		{"chan", struct{ C chan int }{}, signature.ErrUnsupportedType, "/C"},
		{"chan not zero", Omit{ZC: make(chan int)}, signature.ErrUnsupportedType, "/ZC"},
		{"func", []any{func() {}}, signature.ErrUnsupportedType, "/0"},
		{"complex", map[string]complex64{"c": 1}, signature.ErrUnsupportedType, "/c"},
		{"key type", map[float64]int{1: 1}, signature.ErrUnsupportedType, ""},
		{"failing method", []any{Failing{}}, errRefused, "/0"},
		{"failing text", []any{FailingText{}}, errRefused, "/0"},
		{"panicking method", []any{Panicking{errRefused}}, errRefused, "/0"},
		{"panicking IsZero", struct {
			Z PanickingZero `json:"z,omitzero"`
		}{}, errRefused, "/z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, err := signature.Append([]byte("before"), c.value)
			requireRefused(t, err, c.reason, c.path)
			require.Equal(t, "before", string(after), "dst comes back as it was")
			_, err = signature.Of("ws", c.value)
			requireRefused(t, err, c.reason, c.path)
		})
	}
}

func TestPanicOfMethodIsError(t *testing.T) {
	for _, v := range []any{"text", 7, errRefused} {
		_, err := signature.Canonical(Panicking{v})
		require.ErrorContains(t, err, "panicked")
	}
	_, err := signature.Canonical(struct{ M json.Marshaler }{(*ValueJSON)(nil)})
	require.ErrorContains(t, err, "panicked", "a nil pointer whose method takes the value")
}

// A time that encoding/json refuses is refused.
func TestTimeOutOfRange(t *testing.T) {
	for _, v := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 24*3600))} {
		_, err := json.Marshal(v)
		require.Error(t, err)
		_, err = signature.Canonical([]time.Time{v})
		var refused *signature.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "/0", refused.Path)
	}
}

// Cyclic values, in every way that Go has, end at the limit.
func TestCyclesEnd(t *testing.T) {
	type node struct {
		Next  *node `json:"next"`
		Other []any `json:"other"`
	}
	ring := &node{}
	ring.Next = ring
	var self Self
	self = &self
	slice := []any{nil}
	slice[0] = slice
	mapping := map[string]any{}
	mapping["m"] = mapping
	graph := Graph{}
	graph["g"] = graph
	tree := Tree{nil}
	tree[0] = tree
	var face any
	face = &face
	loop := &Loop{}
	loop.Next = loop
	mixed := &node{}
	mixed.Other = []any{map[string]any{"x": mixed}}
	for _, v := range []any{ring, *ring, self, slice, mapping, graph, tree, face, &face, loop, mixed} {
		_, err := signature.Of("ws", v)
		require.ErrorIs(t, err, signature.ErrDepth, "%T", v)
		require.Less(t, len(err.Error()), 1000, "%T: the text of the error is bounded", v)
	}
	embedded := &Loop{}
	embedded.Loop = embedded
	requireReference(t, embedded) // the embedded Loop adds no member
}

func TestDepth(t *testing.T) {
	nest := func(levels int) any {
		var v any
		for range levels {
			v = []any{v}
		}
		return v
	}
	requireReference(t, nest(signature.MaxDepth))
	_, err := signature.Canonical(nest(signature.MaxDepth + 1))
	require.ErrorIs(t, err, signature.ErrDepth)
	_, err = signature.Canonical(nest(1_000_000))
	require.ErrorIs(t, err, signature.ErrDepth)

	for _, open := range []string{"[", `{"a":`, `[{"a":`} {
		_, err = signature.CanonicalJSON([]byte(strings.Repeat(open, 2_000_000)))
		require.ErrorIs(t, err, signature.ErrDepth)
	}
	_, err = signature.CanonicalJSON([]byte(deepJSON(signature.MaxDepth + 1)))
	require.ErrorIs(t, err, signature.ErrDepth)

	inside := json.RawMessage(deepJSON(signature.MaxDepth - 1))
	requireReference(t, []any{inside})
	_, err = signature.Canonical([]any{[]any{inside}})
	require.ErrorIs(t, err, signature.ErrDepth, "levels of raw JSON count on top of those around it")

	deep := reflect.TypeFor[int]()
	for range 2000 {
		deep = reflect.SliceOf(deep)
	}
	requireReference(t, reflect.Zero(deep).Interface())
}

func TestErrorText(t *testing.T) {
	_, err := signature.Canonical(map[string]any{"items": []item{{ID: 1 << 60}}})
	require.EqualError(t, err, "signature: /items/0/id: 1152921504606846976: integer is outside ±(2^53-1): encode it as a string")
	_, err = signature.Canonical(math.NaN())
	require.EqualError(t, err, "signature: NaN: number is not finite as a double: encode it as a string or leave it out")
	_, err = signature.CanonicalJSON([]byte(`{"a":[1}`))
	require.EqualError(t, err, `signature: /a/0: not valid JSON: '}' at offset 7, want a comma or ]`)

	_, err = signature.Canonical(map[string]any{"x" + strings.Repeat("ключ", 1000): math.NaN()})
	var refused *signature.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "/x"+strings.Repeat("ключ", 8)[:62]+"…", refused.Path)
}

func TestCheckType(t *testing.T) {
	type recursive struct {
		Self *recursive
		All  map[string][]recursive
	}
	type deep struct {
		OK  int
		Bad []map[string]*struct {
			F func() `json:"f"`
		} `json:"bad"`
	}
	for _, c := range []struct {
		typ  reflect.Type
		path string // "-" if the type passes
	}{
		{nil, "-"},
		{reflect.TypeFor[recursive](), "-"},
		{reflect.TypeFor[Tags](), "-"},
		{reflect.TypeFor[Omit](), "-"},
		{reflect.TypeFor[any](), "-"},
		{reflect.TypeFor[error](), "-"},
		{reflect.TypeFor[map[PointKey]PointerJSON](), "-"},
		{reflect.TypeFor[struct {
			C chan int `json:"-"`
			c chan int
		}](), "-"},
		{reflect.TypeFor[chan int](), ""},
		{reflect.TypeFor[*func()](), ""},
		{reflect.TypeFor[[]complex128](), "/*"},
		{reflect.TypeFor[map[float64]int](), ""},
		{reflect.TypeFor[map[string]chan int](), "/*"},
		{reflect.TypeFor[deep](), "/bad/*/*/f"},
	} {
		err := signature.CheckType(c.typ)
		if c.path == "-" {
			require.NoError(t, err, "%v", c.typ)
			continue
		}
		requireRefused(t, err, signature.ErrUnsupportedType, c.path)
		_, err = signature.EncoderFor(c.typ)
		requireRefused(t, err, signature.ErrUnsupportedType, c.path)
	}
	_, err := signature.EncoderFor(nil)
	require.Error(t, err)
	require.False(t, errors.Is(err, signature.ErrUnsupportedType))
}
