package signature

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// An encodeFunc appends the canonical form of a value of one type.
type encodeFunc func(s *state, v reflect.Value) *fault

// A plan is how the values of one type are encoded. Plans refer to one another
// by pointer, because types can be recursive.
type plan struct {
	encode encodeFunc
}

// plans holds the plan of each type met so far.
var plans sync.Map // reflect.Type to *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	b := builder{begun: map[reflect.Type]*plan{}}
	p := b.plan(t)
	for t, p := range b.begun {
		plans.LoadOrStore(t, p)
	}
	return p
}

// A builder makes the plan of a type and of all types in it. They become
// visible to others when all are complete.
type builder struct {
	begun map[reflect.Type]*plan
}

func (b *builder) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := b.begun[t]; ok {
		return p
	}
	p := new(plan)
	b.begun[t] = p
	p.encode = b.compile(t, true, false)
	return p
}

var (
	timeType          = reflect.TypeFor[time.Time]()
	numberType        = reflect.TypeFor[json.Number]()
	rawMessageType    = reflect.TypeFor[json.RawMessage]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// compile chooses the encoder as encoding/json does: methods before kinds,
// MarshalJSON before MarshalText, and methods on the pointer only for values
// that have an address. With addressed false those are left out. Quoted is the
// json option "string".
func (b *builder) compile(t reflect.Type, addressed, quoted bool) encodeFunc {
	switch t {
	case timeType:
		return encodeTime
	case rawMessageType:
		return encodeRawMessage
	}
	addressed = addressed && t.Kind() != reflect.Pointer
	switch {
	case addressed && reflect.PointerTo(t).Implements(marshalerType):
		return ifAddressed(encodeJSONMethodOfAddress, b.compile(t, false, quoted))
	case t.Implements(marshalerType):
		return encodeJSONMethod
	case addressed && reflect.PointerTo(t).Implements(textMarshalerType):
		return ifAddressed(encodeTextMethodOfAddress, b.compile(t, false, quoted))
	case t.Implements(textMarshalerType):
		return encodeTextMethod
	case quoted:
		return b.quotedKind(t)
	}
	return b.kind(t)
}

func ifAddressed(yes, no encodeFunc) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		if v.CanAddr() {
			return yes(s, v)
		}
		return no(s, v)
	}
}

// kind gives the encoder of a type without methods that matter.
func (b *builder) kind(t reflect.Type) encodeFunc {
	switch t.Kind() {
	case reflect.Bool:
		return encodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return encodeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return encodeUint
	case reflect.Float32:
		return encodeFloat32
	case reflect.Float64:
		return encodeFloat64
	case reflect.String:
		if t == numberType {
			return encodeNumber
		}
		return encodeString
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return encodeAny
		}
		return encodeInterface
	case reflect.Pointer:
		return pointerTo(b.plan(t.Elem()))
	case reflect.Struct:
		return b.structure(t)
	case reflect.Map:
		return b.mapping(t)
	case reflect.Slice:
		if isBytes(t) {
			return encodeBytes
		}
		return orNull(arrayOf(b.plan(t.Elem())))
	case reflect.Array:
		return arrayOf(b.plan(t.Elem()))
	}
	return unsupported(t)
}

// unsupported is the encoder of a type that has no JSON form.
func unsupported(t reflect.Type) encodeFunc {
	return func(*state, reflect.Value) *fault { return refuse(unsupportedType(t)) }
}

func unsupportedType(t reflect.Type) error { return fmt.Errorf("%s: %w", t, ErrUnsupportedType) }

// encodeAny is for interfaces without methods, encodeInterface for others.
func encodeAny(s *state, v reflect.Value) *fault {
	if v.IsNil() {
		return s.null()
	}
	if f := s.follow(); f != nil {
		return f
	}
	defer s.arrive()
	return s.any(v.Interface())
}

func encodeInterface(s *state, v reflect.Value) *fault {
	if v.IsNil() {
		return s.null()
	}
	if f := s.follow(); f != nil {
		return f
	}
	defer s.arrive()
	v = v.Elem()
	return planOf(v.Type()).encode(s, v)
}

func pointerTo(elem *plan) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		if v.IsNil() {
			return s.null()
		}
		if f := s.follow(); f != nil {
			return f
		}
		defer s.arrive()
		return elem.encode(s, v.Elem())
	}
}

// orNull is for slices: a nil one is null.
func orNull(encode encodeFunc) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		if v.IsNil() {
			return s.null()
		}
		return encode(s, v)
	}
}

func arrayOf(elem *plan) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		if f := s.enter(); f != nil {
			return f
		}
		s.buf = append(s.buf, '[')
		for i := range v.Len() {
			if f := s.element(i); f != nil {
				return f
			}
			if f := elem.encode(s, v.Index(i)); f != nil {
				return f.under(itoa(i))
			}
		}
		s.buf = append(s.buf, ']')
		s.leave()
		return nil
	}
}

// isBytes reports whether a slice type is written as base64: its elements are
// bytes without methods of their own.
func isBytes(t reflect.Type) bool {
	elem := t.Elem()
	ptr := reflect.PointerTo(elem)
	return elem.Kind() == reflect.Uint8 && !ptr.Implements(marshalerType) && !ptr.Implements(textMarshalerType)
}

func encodeBytes(s *state, v reflect.Value) *fault {
	if v.IsNil() {
		return s.null()
	}
	s.buf = append(s.buf, '"')
	s.buf = base64.StdEncoding.AppendEncode(s.buf, v.Bytes())
	s.buf = append(s.buf, '"')
	return nil
}
