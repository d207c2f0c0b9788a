package signature_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/signature"
)

// The property: over generated types and values, the canonical form is that of
// the reference, and a value is refused exactly when its JSON, as encoding/json
// writes it, has something that the package refuses. So that the JSON shows it,
// floats stay within the integers that are exact and valid strings have no
// U+FFFD, which is what encoding/json puts for invalid bytes.
func checkGenerated(t *rapid.T) {
	typ := typeGen(3).Draw(t, "type")
	v := reflect.New(typ).Elem()
	fill(t, v, 3)
	for _, input := range []any{v.Interface(), v.Addr().Interface()} {
		checkAgainstJSON(t, input)
	}
}

func checkAgainstJSON(t require.TestingT, v any) {
	plain, err := json.Marshal(v)
	require.NoError(t, err, "%T", v)
	got, err := signature.Canonical(v)
	if reason := reasonIn(plain); reason != nil {
		require.Error(t, err, "%T %s", v, plain)
		require.True(t, errors.Is(err, signature.ErrIntegerRange) || errors.Is(err, signature.ErrInvalidUTF8), "%v, want %v", err, reason)
		return
	}
	require.NoError(t, err, "%T %s", v, plain)
	want, err := jcs.Transform(plain)
	require.NoError(t, err, "%s", plain)
	require.Equal(t, string(want), string(got), "%T", v)
	require.Equal(t, signature.OfJSON("ws", want), must(signature.Of("ws", v)))
}

func must[T any](v T, err error) T {
	if err != nil {
		return *new(T)
	}
	return v
}

// reasonIn finds what the package refuses in the output of encoding/json.
func reasonIn(plain []byte) error {
	if bytes.Contains(plain, []byte(`\ufffd`)) {
		return signature.ErrInvalidUTF8
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if n, ok := token.(json.Number); ok {
			if f, _ := n.Float64(); math.Abs(f) >= 1<<53 && !strings.ContainsAny(string(n), ".eE") {
				return signature.ErrIntegerRange
			}
		}
	}
}

// typeGen draws a type that is no deeper than depth.
func typeGen(depth int) *rapid.Generator[reflect.Type] {
	leaves := []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[Str](),
		reflect.TypeFor[[]byte](), reflect.TypeFor[any](), reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[json.Number](),
		reflect.TypeFor[json.RawMessage](), reflect.TypeFor[ValueJSON](), reflect.TypeFor[PointerJSON](), reflect.TypeFor[ValueText](),
		reflect.TypeFor[PointerText](), reflect.TypeFor[BothWays](), reflect.TypeFor[Even](), reflect.TypeFor[Odd](), reflect.TypeFor[TextByte](),
		reflect.TypeFor[Inner1](), reflect.TypeFor[Shadow](), reflect.TypeFor[Twice](), reflect.TypeFor[Loop](),
	}
	leaf := rapid.SampledFrom(leaves)
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) reflect.Type {
		sub := typeGen(depth - 1)
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return reflect.SliceOf(sub.Draw(t, "elem"))
		case 1:
			return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "len"), sub.Draw(t, "elem"))
		case 2:
			return reflect.PointerTo(sub.Draw(t, "elem"))
		case 3:
			key := rapid.SampledFrom([]reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[Str](), reflect.TypeFor[int](),
				reflect.TypeFor[uint8](), reflect.TypeFor[PointKey](), reflect.TypeFor[UpperKey]()}).Draw(t, "key")
			return reflect.MapOf(key, sub.Draw(t, "elem"))
		case 4:
			return leaf.Draw(t, "leaf")
		}
		return structGen(sub).Draw(t, "struct")
	})
}

// structGen draws a struct type with tags and embedded structs.
func structGen(sub *rapid.Generator[reflect.Type]) *rapid.Generator[reflect.Type] {
	embeddable := []reflect.Type{reflect.TypeFor[Inner1](), reflect.TypeFor[Inner2](), reflect.TypeFor[Inner3](), reflect.TypeFor[Conflict3](),
		reflect.TypeFor[Left](), reflect.TypeFor[Mid](), reflect.TypeFor[*Inner1](), reflect.TypeFor[*Deepest]()}
	names := []string{"", "", "a", "A", "b", "B", "Deep", "é", "<x>", "😀", "\uf900", "-", "bad\"name"}
	options := []string{"", "", "", ",omitempty", ",omitzero", ",string", ",omitempty,omitzero", ",string,omitempty"}
	return rapid.Custom(func(t *rapid.T) reflect.Type {
		var fields []reflect.StructField
		for i := range rapid.IntRange(0, 5).Draw(t, "fields") {
			f := reflect.StructField{Name: string(rune('A'+i)) + "f", Type: sub.Draw(t, "type")}
			if rapid.IntRange(0, 3).Draw(t, "embed") == 0 {
				f.Type = rapid.SampledFrom(embeddable).Draw(t, "embedded")
				f.Anonymous = true
			}
			tag := rapid.SampledFrom(names).Draw(t, "name") + rapid.SampledFrom(options).Draw(t, "options")
			f.Tag = reflect.StructTag("json:" + strconv.Quote(tag))
			fields = append(fields, f)
		}
		return reflect.StructOf(fields)
	})
}

// fill draws a value. Recursive types and interfaces stop at depth.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		seconds := rapid.Int64Range(-1e9, 1e11).Draw(t, "time")
		v.Set(reflect.ValueOf(time.Unix(seconds, seconds%1e9).In(time.FixedZone("", int(seconds%10)*3600))))
		return
	case json.Number:
		v.SetString(rapid.SampledFrom([]string{"", "0", "-0", "1.50", "1e3", "9007199254740993", "-12"}).Draw(t, "number"))
		return
	case json.RawMessage:
		text := rapid.SampledFrom([]string{"null", " 1", `{"b":[1,2.0],"a":"\u00e9"}`, `"\u2028<"`, "18446744073709551615"}).Draw(t, "raw")
		v.SetBytes([]byte(text))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(anyInt.Draw(t, "int"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(anyInt.Draw(t, "uint")))
	case reflect.Float32:
		v.SetFloat(float64(rapid.Float32Range(-1e6, 1e6).Draw(t, "float32")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1<<53+1, 1<<53-1).Draw(t, "float64"))
	case reflect.String:
		v.SetString(anyString.Draw(t, "string"))
	case reflect.Pointer:
		if depth > 0 && rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth-1)
		}
	case reflect.Interface:
		if depth > 0 && v.NumMethod() == 0 {
			inner := reflect.New(typeGen(0).Draw(t, "dynamic")).Elem()
			fill(t, inner, depth-1)
			v.Set(inner)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(t, v.Field(i), depth)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), depth)
		}
	case reflect.Slice:
		n := rapid.IntRange(-1, 3).Draw(t, "len")
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			fill(t, v.Index(i), depth)
		}
	case reflect.Map:
		n := rapid.IntRange(-1, 4).Draw(t, "len")
		if n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for range n {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, depth)
			fill(t, elem, depth)
			v.SetMapIndex(key, elem)
		}
	}
}

var (
	anyInt = rapid.OneOf(rapid.Int64Range(-300, 300), rapid.SampledFrom([]int64{1<<53 - 1, -1<<53 + 1, 1 << 53, -1 << 53, math.MaxInt64, math.MinInt64}))

	anyString = rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "b\xff", "\xed\xa0\x80", "<&>\u2028", "😀", "\uf900", "\"\\\b\f\n\r\t\x00\x1f\x7f", "eight by eight by 8é"}),
		rapid.String().Filter(func(s string) bool { return !strings.ContainsRune(s, '\ufffd') }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return strings.ReplaceAll(string(b), "\ufffd", "") }),
	)
)

func TestGeneratedValues(t *testing.T) { rapid.Check(t, checkGenerated) }

// Every finite float is written as the reference writes it.
func TestGeneratedFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireReference(t, math.Float64frombits(rapid.Uint64Range(0, 0x7fefffffffffffff).Draw(t, "bits")))
		requireReference(t, -math.Float32frombits(rapid.Uint32Range(0, 0x7f7fffff).Draw(t, "bits32")))
		requireReference(t, rapid.Float64().Draw(t, "float"))
	})
}
