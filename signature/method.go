package signature

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// The encoders of values that encode themselves.

var errHiddenMethod = errors.New("its method cannot be called, because it is embedded by an unexported name: export the type")

// hiddenMethod refuses a value whose method reflection does not let us call;
// encoding/json panics over it.
func hiddenMethod(v reflect.Value) *fault {
	return refuse(fmt.Errorf("%s: %w: %w", v.Type(), ErrUnsupportedType, errHiddenMethod))
}

func encodeJSONMethod(s *state, v reflect.Value) *fault {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return s.null()
	}
	if !v.CanInterface() {
		return hiddenMethod(v)
	}
	m, ok := reflect.TypeAssert[json.Marshaler](v)
	if !ok { // a nil interface
		return s.null()
	}
	raw, err := marshalJSON(m)
	if err != nil {
		return refuse(fmt.Errorf("MarshalJSON of %s: %w", v.Type(), err))
	}
	return s.raw(raw)
}

func encodeTextMethod(s *state, v reflect.Value) *fault {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return s.null()
	}
	if !v.CanInterface() {
		return hiddenMethod(v)
	}
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok {
		return s.null()
	}
	text, err := marshalText(m)
	if err != nil {
		return refuse(fmt.Errorf("MarshalText of %s: %w", v.Type(), err))
	}
	return s.text(string(text))
}

func encodeJSONMethodOfAddress(s *state, v reflect.Value) *fault {
	return encodeJSONMethod(s, v.Addr())
}

func encodeTextMethodOfAddress(s *state, v reflect.Value) *fault {
	return encodeTextMethod(s, v.Addr())
}

// encodeRawMessage is encodeJSONMethod for json.RawMessage, whose method gives
// the bytes themselves.
func encodeRawMessage(s *state, v reflect.Value) *fault {
	if v.IsNil() {
		return s.null()
	}
	return s.raw(v.Bytes())
}

func marshalJSON(m json.Marshaler) (raw []byte, err error) {
	defer recovered(&err)
	return m.MarshalJSON()
}

func marshalText(m encoding.TextMarshaler) (text []byte, err error) {
	defer recovered(&err)
	return m.MarshalText()
}

func isZero(z isZeroer) (zero bool, err error) {
	defer recovered(&err)
	return z.IsZero(), nil
}

// recovered makes the panic of a value's method an error. Nothing else is
// recovered from.
func recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("it panicked: %w", p)
	default:
		*err = fmt.Errorf("it panicked: %v", p)
	}
}
