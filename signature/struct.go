package signature

import (
	"fmt"
	"reflect"
)

// A member is a field with what its encoding needs.
type member struct {
	name   string
	head   string // comma, name and colon, ready to be copied
	first  int    // field of the struct
	rest   []int  // fields of embedded structs on the way
	omit   func(reflect.Value) (bool, *fault)
	encode encodeFunc
}

// structure gives the encoder of a struct type.
func (b *builder) structure(t reflect.Type) encodeFunc {
	fields := fieldsOf(t)
	members := make([]member, len(fields))
	for i, f := range fields {
		head, _ := appendString([]byte{','}, f.name)
		members[i] = member{
			name:   f.name,
			head:   string(append(head, ':')),
			first:  f.index[0],
			rest:   f.index[1:],
			omit:   f.omission(),
			encode: b.member(f),
		}
	}
	return func(s *state, v reflect.Value) *fault { return encodeStruct(s, v, members) }
}

func (b *builder) member(f field) encodeFunc {
	if f.quoted {
		return b.compile(f.typ, true, true)
	}
	return b.plan(f.typ).encodeLater()
}

// encodeLater gives the plan's encoder, which may not be there yet.
func (p *plan) encodeLater() encodeFunc {
	if p.encode != nil {
		return p.encode
	}
	return func(s *state, v reflect.Value) *fault { return p.encode(s, v) }
}

func encodeStruct(s *state, v reflect.Value, members []member) *fault {
	if f := s.enter(); f != nil {
		return f
	}
	start := len(s.buf)
	for i := range members {
		m := &members[i]
		fv := v.Field(m.first)
		if m.rest != nil {
			var ok bool
			if fv, ok = promoted(fv, m.rest); !ok {
				continue
			}
		}
		if m.omit != nil {
			omit, f := m.omit(fv)
			if f != nil {
				return f.under(m.name)
			}
			if omit {
				continue
			}
		}
		s.buf = append(s.buf, m.head...)
		if f := m.encode(s, fv); f != nil {
			return f.under(m.name)
		}
	}
	if len(s.buf) == start {
		s.buf = append(s.buf, '{')
	}
	s.buf[start] = '{' // in place of the first comma
	s.buf = append(s.buf, '}')
	s.leave()
	return nil
}

// promoted goes from an embedded struct to a field in it. There is none if it
// is embedded by a nil pointer.
func promoted(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// omission gives the function that says whether a field is left out; nil if it
// never is.
func (f field) omission() func(reflect.Value) (bool, *fault) {
	var zero func(reflect.Value) (bool, *fault)
	if f.omitZero {
		zero = zeroTest(f.typ)
	}
	switch {
	case f.omitEmpty && f.omitZero:
		return func(v reflect.Value) (bool, *fault) {
			if isEmpty(v) {
				return true, nil
			}
			return zero(v)
		}
	case f.omitEmpty:
		return func(v reflect.Value) (bool, *fault) { return isEmpty(v), nil }
	}
	return zero
}

// isEmpty is what the option "omitempty" asks.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Float32, reflect.Float64, reflect.Interface, reflect.Pointer,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.IsZero()
	}
	return false
}

type isZeroer interface{ IsZero() bool }

var isZeroerType = reflect.TypeFor[isZeroer]()

// zeroTest gives what the option "omitzero" asks of a type: its IsZero method,
// on the value or on its address, otherwise whether it is the zero value.
func zeroTest(t reflect.Type) func(reflect.Value) (bool, *fault) {
	switch {
	case t.Implements(isZeroerType):
		return func(v reflect.Value) (bool, *fault) {
			if isNil(v) || v.Kind() == reflect.Interface && isNil(v.Elem()) {
				return true, nil
			}
			return callIsZero(v)
		}
	case reflect.PointerTo(t).Implements(isZeroerType):
		return func(v reflect.Value) (bool, *fault) {
			if !v.CanAddr() && v.CanInterface() {
				addressable := reflect.New(v.Type()).Elem()
				addressable.Set(v)
				v = addressable
			}
			if v.CanAddr() {
				v = v.Addr()
			}
			return callIsZero(v)
		}
	}
	return func(v reflect.Value) (bool, *fault) { return v.IsZero(), nil }
}

// isNil reports whether a method called on v would find no value.
func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

func callIsZero(v reflect.Value) (bool, *fault) {
	if !v.CanInterface() {
		return false, hiddenMethod(v)
	}
	z, _ := reflect.TypeAssert[isZeroer](v)
	zero, err := isZero(z)
	if err != nil {
		return false, refuse(fmt.Errorf("IsZero of %s: %w", v.Type(), err))
	}
	return zero, nil
}
