package signature

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

// maxInteger is the greatest integer up to which each has a double of its own
// (C-028).
const maxInteger = 1<<53 - 1

func itoa(i int) string { return strconv.Itoa(i) }

func (s *state) bool(v bool) *fault {
	s.buf = strconv.AppendBool(s.buf, v)
	return nil
}

func (s *state) int(v int64) *fault {
	if v > maxInteger || v < -maxInteger {
		return refuse(fmt.Errorf("%d: %w", v, ErrIntegerRange))
	}
	s.buf = strconv.AppendInt(s.buf, v, 10)
	return nil
}

func (s *state) uint(v uint64) *fault {
	if v > maxInteger {
		return refuse(fmt.Errorf("%d: %w", v, ErrIntegerRange))
	}
	s.buf = strconv.AppendUint(s.buf, v, 10)
	return nil
}

func (s *state) float(v float64, bits int) *fault {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return refuse(fmt.Errorf("%v: %w", v, ErrNotFinite))
	}
	s.buf = appendFloat(s.buf, v, bits)
	return nil
}

// appendFloat writes a finite number as ECMAScript does (RFC 8785 §3.2.2.3).
//
// A float32 is written with the digits that tell it from other float32s, as
// encoding/json does. Read as a double, these nine digits or fewer are again
// the shortest, so the reference leaves them as they are.
func appendFloat(dst []byte, v float64, bits int) []byte {
	if v == 0 {
		return append(dst, '0') // minus zero too
	}
	if v == math.Trunc(v) && math.Abs(v) <= maxInteger && bits == 64 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return appendShortest(dst, v, bits)
}

// appendShortest writes the shortest digits that give v back, with an exponent
// where ECMAScript and encoding/json have one. Minus zero keeps its sign.
func appendShortest(dst []byte, v float64, bits int) []byte {
	low, high := 1e-6, 1e21
	if bits == 32 {
		low, high = float64(float32(low)), float64(float32(high))
	}
	if abs := math.Abs(v); abs == 0 || low <= abs && abs < high {
		return strconv.AppendFloat(dst, v, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	// The exponent has two digits at least in Go, one in ECMAScript.
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// number encodes a JSON number that has no Go type.
func (s *state) number(v json.Number) *fault {
	text := string(v)
	if text == "" {
		text = "0" // as encoding/json has it
	}
	if !jsonnumber.Valid(text) {
		return refuse(fmt.Errorf("number %s: %w", clip(text), ErrSyntax))
	}
	d, f := double(text)
	if f != nil {
		return f
	}
	s.buf = appendFloat(s.buf, d, 64)
	return nil
}

// double gives the value of a JSON number, by the rule of the package comment.
func double(text string) (float64, *fault) {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil { // the grammar is checked, so it is the range
		return 0, refuse(fmt.Errorf("%s: %w", clip(text), ErrNotFinite))
	}
	if abs := math.Abs(d); abs > maxInteger && (abs < 1e21 || !strings.ContainsAny(text, "eE")) {
		return 0, refuse(fmt.Errorf("%s: %w", clip(text), ErrIntegerRange))
	}
	return d, nil
}

// clip shortens a text for an error.
func clip(text string) string {
	const shown = 40
	if len(text) <= shown {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:shown]) + "…"
}

// The encoders of scalar kinds.

func encodeBool(s *state, v reflect.Value) *fault    { return s.bool(v.Bool()) }
func encodeInt(s *state, v reflect.Value) *fault     { return s.int(v.Int()) }
func encodeUint(s *state, v reflect.Value) *fault    { return s.uint(v.Uint()) }
func encodeFloat32(s *state, v reflect.Value) *fault { return s.float(v.Float(), 32) }
func encodeFloat64(s *state, v reflect.Value) *fault { return s.float(v.Float(), 64) }
func encodeString(s *state, v reflect.Value) *fault  { return s.text(v.String()) }
func encodeNumber(s *state, v reflect.Value) *fault  { return s.number(json.Number(v.String())) }

// encodeTime writes what time.Time.MarshalJSON does, without its allocations.
func encodeTime(s *state, v reflect.Value) *fault {
	if !v.CanInterface() {
		return hiddenMethod(v)
	}
	t, _ := reflect.TypeAssert[time.Time](v)
	s.buf = append(s.buf, '"')
	b, err := t.AppendText(s.buf)
	if err != nil {
		return refuse(err)
	}
	b = append(b, '"')
	s.buf = b
	return nil
}
