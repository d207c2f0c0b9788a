package signature_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/signature"
)

func ptr[T any](v T) *T { return &v }

func TestValuesAsReference(t *testing.T) {
	spec.Covers(t, "B-4.5-1", "C-028")
	pn := ptr(7)
	when := time.Date(2026, 2, 3, 4, 5, 6, 700, time.FixedZone("x", 3600))
	values := []any{
		nil, true, false, "", "plain", 0, -1, int8(-8), int16(16), int32(-32), int64(math.MinInt32),
		uint(1), uint8(8), uint16(16), uint32(32), uint64(1<<53 - 1), uintptr(3),
		int64(1<<53 - 1), int64(-(1<<53 - 1)),
		"<&>\u2028\u2029\x7f\u0000\x01\b\t\n\v\f\r\x1f\"\\/é€😀\uffff\ufffd",
		"exactly 8", "12345678\"", "1234567é", "\\", "\"12345678",
		Str("named"), Int(4), Flag(true), json.Number("1.50"), json.Number(""), json.Number("-0"), Num("text"),
		[]int(nil), []int{}, []int{1, 2}, [0]int{}, [3]bool{true}, []byte(nil), []byte{}, []byte("bytes"), [3]byte{1, 2, 3},
		Bytes("named"), []Letter("letters"), []TextByte{1, 2}, []Int{3},
		map[string]any(nil), map[string]any{}, map[string]any{"b": 1, "a": nil, "": []any{"x", 1.5, nil, []any(nil)}},
		map[string]string{"b": "x", "a": "y"}, map[string]int{"b": 1, "a": 2}, map[string]bool{"t": true},
		map[string]float64{"pi": 3.14}, map[string][]int{"x": {1}}, map[Str]int{"b": 1, "a": 2},
		map[int]string{10: "ten", 9: "nine", -1: "minus"}, map[uint8]int{200: 1, 30: 2},
		map[int64]int{math.MaxInt64: 1}, map[KeyText]int{3: 3, 1: 1}, map[UpperKey]int{"low": 1},
		map[PointKey]int{{2, 1}: 1, {10, 0}: 2}, map[*PointerKey]int{{"b"}: 1, {"a"}: 2, nil: 3},
		map[encoding.TextMarshaler]int{KeyText(2): 1, UpperKey("x"): 2},
		map[string]int(nil), map[int]int(nil), map[string]ValueJSON{"v": {1}}, map[string]PointerJSON{"p": {1}},
		map[string]*PointerJSON{"p": {1}, "nil": nil}, map[string]map[string]any{"m": {"z": 1, "y": map[string]any{"x": "w"}}},
		map[string]int{"\U00010437": 1, "\uf900": 2, "\ue000": 3, "\ud7ff": 4, "\U0010ffff": 5, "z": 6},
		ptr(1), &pn, (*int)(nil), ptr(any(nil)), ptr(any(ptr(any("deep")))), Self(nil), Tree{{}, nil, {{}}}, Graph{"a": {"b": nil}},
		ValueJSON{1}, &ValueJSON{2}, (*ValueJSON)(nil), PointerJSON{1}, &PointerJSON{2}, (*PointerJSON)(nil),
		[]PointerJSON{{1}}, [1]PointerJSON{{1}}, &[1]PointerJSON{{1}}, []any{PointerJSON{1}, &PointerJSON{2}},
		struct{ P PointerJSON }{}, &struct{ P PointerJSON }{}, struct{ M json.Marshaler }{}, struct{ M json.Marshaler }{&PointerJSON{3}},
		struct{ M json.Marshaler }{(*PointerJSON)(nil)}, struct{ T encoding.TextMarshaler }{}, struct{ T encoding.TextMarshaler }{ValueText{"t"}},
		ValueText{"v"}, &ValueText{"v"}, PointerText(1), ptr(PointerText(1)), []PointerText{1}, struct{ P PointerText }{}, &struct{ P PointerText }{},
		BothWays{"x"}, &BothWays{"x"}, []BothWays{{"x"}}, map[string]BothWays{"k": {"x"}},
		json.RawMessage(nil), json.RawMessage(` {"b" : 1E2, "a":"\u0041"} `), []json.RawMessage{nil, []byte("1")}, struct{ R json.RawMessage }{},
		&struct{ R *json.RawMessage }{ptr(json.RawMessage("[]"))}, Raw("\"\u2028<\""),
		when, &when, []time.Time{{}, when}, map[string]time.Time{"t": when}, time.Hour, time.March,
		netip.MustParseAddr("::1"), *big.NewInt(5), big.NewInt(5),
		Inner1{1, 2, 3}, Conflict{}, Shadow{A: "a"}, Shadow{Inner2: &Inner2{1, 2, 3}}, DeepHidden{}, Unexported{}, &Unexported{HiddenPtr: &HiddenPtr{1}},
		TaggedEmbed{}, TaggedEmbed{Inner2: new(Inner2)}, Loop{}, Loop{Next: &Loop{Name: "n"}}, Loop{Loop: &Loop{Name: "x"}}, Twice{Own: 1}, Thrice{},
		EmbedTime{Time: when}, &EmbedMarshaler{PointerJSON: &PointerJSON{1}}, EmbedMarshaler{}, EmbedInterface{X: 1},
		Tags{}, Tags{Comma: 1}, Omit{}, &Omit{},
		Omit{true, 1, 2, 3, "s", pn, 1, []int{1}, [0]int{}, [2]int{1}, map[string]int{"": 1}, struct{}{}, when, 1, []int{}, [2]int{0, 1}, when, 1, 1, Odd{2}, &Odd{2}, ptr(Even(1)), Even(3), nil, []int{}, 3},
		Omit{ZE: 2, ZO: Odd{1}, ZPO: &Odd{1}, ZPE: ptr(Even(2)), ZI2: (*Odd)(nil), BE: 2}, &Omit{ZO: Odd{1}, ZI2: Even(2)},
		Quoted{}, &Quoted{}, Quoted{true, math.MinInt64, math.MaxUint64, 1e-7, 1e21, "<a>\"\u2028\n\x01", "1e999", "s", ptr(uint64(1 << 60)), ptr("<p>"), nil, ptr(pn), pn, []int{1}, "x", 3, 2, "9"},
		&Quoted{F64: math.Copysign(0, -1), F32: 16777216, N: "-0.0", Text: 1},
		struct{}{}, &struct{ hidden }{hidden{1, 2}}, struct{ a, b int }{}, struct{ E error }{errRefused}, struct{ Z zeroer }{&Odd{1}}, [][]any{{map[string]any{"x": []byte("y")}}}, []error{nil},
		struct {
			F any `json:"f,string"`
		}{"x"},
	}
	for i, v := range values {
		t.Run(fmt.Sprintf("%d %T", i, v), func(t *testing.T) { requireReference(t, v) })
	}
}

// Values of every type behave alike wherever they stand.
func TestPlacesAsReference(t *testing.T) {
	for _, v := range []any{ValueJSON{1}, PointerJSON{1}, ValueText{"s"}, PointerText(2), BothWays{"b"}, TextByte(1), Unexported{}, Quoted{}, time.Time{}} {
		requireReference(t, []any{v, &v, map[string]any{"v": v}, struct{ V any }{v}})
	}
	type place[T any] struct {
		V T
		P *T
		L []T
		A [1]T
		M map[string]T
		Q T `json:",string"`
		Z T `json:",omitzero"`
		E T `json:",omitempty"`
	}
	requirePlaces := func(v any, p any) {
		requireReference(t, v)
		requireReference(t, p)
	}
	requirePlaces(place[ValueJSON]{}, &place[ValueJSON]{P: new(ValueJSON), L: make([]ValueJSON, 1), M: map[string]ValueJSON{"": {}}})
	requirePlaces(place[PointerJSON]{}, &place[PointerJSON]{P: new(PointerJSON), L: make([]PointerJSON, 1), M: map[string]PointerJSON{"": {}}})
	requirePlaces(place[ValueText]{}, &place[ValueText]{P: new(ValueText), L: make([]ValueText, 1), M: map[string]ValueText{"": {}}})
	requirePlaces(place[PointerText]{}, &place[PointerText]{P: new(PointerText), L: make([]PointerText, 1), M: map[string]PointerText{"": 1}})
	requirePlaces(place[BothWays]{}, &place[BothWays]{P: new(BothWays), L: make([]BothWays, 1), M: map[string]BothWays{"": {}}})
	requirePlaces(place[time.Time]{}, &place[time.Time]{P: new(time.Time), L: make([]time.Time, 1), M: map[string]time.Time{"": {}}})
	requirePlaces(place[float32]{}, &place[float32]{V: 0.1, P: ptr(float32(1e-7)), L: []float32{3.4e38}, Q: 1e21, Z: 1e-45, E: 16777216})
	requirePlaces(place[Even]{}, &place[Even]{V: 1, Z: 2, E: 2})
	requirePlaces(place[Odd]{Z: Odd{1}}, &place[Odd]{Z: Odd{1}})
}

func TestFloatsAsReference(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1.5, 1e-6, 1e-7, 9.999999999999999e-7, 1e20, 1e21, 999999999999999900000,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2, 1e17, 123456789012345680000, 5e-324, 1e-10, 1e100, 4.35, 2.2250738585072014e-308} {
		requireReference(t, f)
		requireReference(t, -f)
		if f32 := float32(f); !math.IsInf(float64(f32), 0) {
			requireReference(t, f32)
		}
	}
	for _, bits := range []uint32{1, 0x3a83126f, 0x358637bd, 0x358637bc, 0x6258d727, 0x6258d726, 0x6258d728, 0x7f7fffff, 0x4b800000, 0x5d5e0b6b} {
		requireReference(t, math.Float32frombits(bits))
	}
}

// Two fields of one name, both tagged, cancel at their depth and hide deeper
// ones. The type is made here because go vet refuses to see it written.
func TestTagConflict(t *testing.T) {
	tagged := func(name string) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: name, Type: reflect.TypeFor[int](), Tag: `json:"n"`}})
	}
	embed := func(types ...reflect.Type) reflect.Type {
		var fields []reflect.StructField
		for i, typ := range types {
			fields = append(fields, reflect.StructField{Name: "E" + string(rune('0'+i)), Type: typ, Anonymous: true})
		}
		return reflect.StructOf(fields)
	}
	a, b := tagged("A"), tagged("B")
	for _, typ := range []reflect.Type{
		embed(a), embed(a, b), embed(a, embed(b)), embed(embed(a), embed(b)), embed(a, b, embed(a)), embed(embed(a), embed(a)),
		embed(reflect.TypeFor[Inner2](), embed(reflect.TypeFor[Inner1]()), a),
	} {
		requireReference(t, reflect.New(typ).Elem().Interface())
	}
}

// encoding/json panics over a value whose method reflection may not call.
func TestHiddenMethod(t *testing.T) {
	for path, v := range map[string]any{
		"/h": EmbedHiddenValue{},
		"/e": struct {
			hiddenTime `json:"e"`
			BothWays   `json:"z"` // its methods conflict with those of the time
		}{},
		"/i": struct {
			hiddenZero  `json:"i,omitzero"`
			hiddenZero2 `json:"ii,omitzero"`
		}{},
		"/z": struct {
			hiddenText  `json:"z"`
			hiddenText2 `json:"zz"`
		}{},
	} {
		_, err := signature.Canonical(v)
		requireRefused(t, err, signature.ErrUnsupportedType, path)
	}
}
