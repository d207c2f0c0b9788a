package signature

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

// quotedKind gives the encoder of a field with the json option "string", for a
// type without methods that matter. The text within the quotes is that of
// encoding/json: it is a string to RFC 8785. So integers of any size pass.
func (b *builder) quotedKind(t reflect.Type) encodeFunc {
	switch t.Kind() {
	case reflect.Bool:
		return quoted(func(dst []byte, v reflect.Value) []byte { return strconv.AppendBool(dst, v.Bool()) })
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return quoted(func(dst []byte, v reflect.Value) []byte { return strconv.AppendInt(dst, v.Int(), 10) })
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return quoted(func(dst []byte, v reflect.Value) []byte { return strconv.AppendUint(dst, v.Uint(), 10) })
	case reflect.Float32:
		return quotedFloat(32)
	case reflect.Float64:
		return quotedFloat(64)
	case reflect.String:
		if t == numberType {
			return encodeQuotedNumber
		}
		return encodeQuotedString
	case reflect.Pointer:
		return pointerTo(&plan{encode: b.compile(t.Elem(), true, true)})
	}
	return b.kind(t)
}

func quoted(content func(dst []byte, v reflect.Value) []byte) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		s.buf = append(s.buf, '"')
		s.buf = content(s.buf, v)
		s.buf = append(s.buf, '"')
		return nil
	}
}

func quotedFloat(bits int) encodeFunc {
	encode := quoted(func(dst []byte, v reflect.Value) []byte { return appendShortest(dst, v.Float(), bits) })
	return func(s *state, v reflect.Value) *fault {
		if d := v.Float(); math.IsNaN(d) || math.IsInf(d, 0) {
			return refuse(fmt.Errorf("%v: %w", d, ErrNotFinite))
		}
		return encode(s, v)
	}
}

func encodeQuotedNumber(s *state, v reflect.Value) *fault {
	text := v.String()
	if text == "" {
		text = "0"
	}
	if !jsonnumber.Valid(text) {
		return refuse(fmt.Errorf("number %s: %w", clip(text), ErrSyntax))
	}
	return s.text(text)
}

// encodeQuotedString writes a string of a JSON string. The inner one is
// escaped as encoding/json does it, with escapes for HTML.
func encodeQuotedString(s *state, v reflect.Value) *fault {
	text := v.String()
	if _, ok := appendString(nil, text); !ok {
		return refuse(ErrInvalidUTF8)
	}
	inner, err := json.Marshal(text)
	if err != nil {
		return refuse(err)
	}
	return s.text(string(inner))
}
