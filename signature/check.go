package signature

import "reflect"

// CheckType reports the first part of a type, in canonical order, that has no
// JSON form: a channel, function, complex number, unsafe pointer, or map whose
// keys have no text. Such a part can be encoded only while it is absent (in an
// empty slice, behind a nil pointer); a field with the json option "omitzero"
// is taken to be absent and not looked at. Interfaces are not looked into. The
// path of the [*Error] has "*" for any element of an array or map.
func CheckType(t reflect.Type) error {
	if t == nil {
		return nil
	}
	if f := (typeCheck{}).check(t); f != nil {
		return f.error()
	}
	return nil
}

// typeCheck holds the types looked at.
type typeCheck map[reflect.Type]bool

func (c typeCheck) check(t reflect.Type) *fault {
	if c[t] {
		return nil
	}
	c[t] = true
	if encodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return refuse(unsupportedType(t))
	case reflect.Pointer:
		return c.check(t.Elem())
	case reflect.Map:
		if !isKey(t.Key()) {
			return refuse(unsupportedType(t))
		}
		return c.element(t)
	case reflect.Slice, reflect.Array:
		return c.element(t)
	case reflect.Struct:
		return c.fields(t)
	}
	return nil
}

func (c typeCheck) element(t reflect.Type) *fault {
	if f := c.check(t.Elem()); f != nil {
		return f.under("*")
	}
	return nil
}

func (c typeCheck) fields(t reflect.Type) *fault {
	for _, field := range fieldsOf(t) {
		if field.omitZero {
			continue
		}
		if f := c.check(field.typ); f != nil {
			return f.under(field.name)
		}
	}
	return nil
}

// encodesItself reports whether values of a type have a method that encodes
// them, if only when they have an address.
func encodesItself(t reflect.Type) bool {
	ptr := reflect.PointerTo(t)
	return t.Implements(marshalerType) || t.Implements(textMarshalerType) ||
		ptr.Implements(marshalerType) || ptr.Implements(textMarshalerType)
}
