package signature

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// mapping gives the encoder of a map type. The commonest types need no
// reflection.
func (b *builder) mapping(t reflect.Type) encodeFunc {
	if !isKey(t.Key()) {
		return unsupported(t)
	}
	switch t {
	case reflect.TypeFor[map[string]any]():
		return stringMap((*state).any)
	case reflect.TypeFor[map[string]string]():
		return stringMap((*state).text)
	case reflect.TypeFor[map[string]bool]():
		return stringMap((*state).bool)
	case reflect.TypeFor[map[string]int]():
		return stringMap(func(s *state, v int) *fault { return s.int(int64(v)) })
	case reflect.TypeFor[map[string]float64]():
		return stringMap(func(s *state, v float64) *fault { return s.float(v, 64) })
	}
	return mapOf(b.plan(t.Elem()))
}

// isKey reports whether encoding/json can make member names of a key type.
func isKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return t.Implements(textMarshalerType)
}

func stringMap[V any](value func(*state, V) *fault) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		m, _ := reflect.TypeAssert[map[string]V](v)
		return encodeStringMap(s, m, value)
	}
}

func encodeStringMap[V any](s *state, m map[string]V, value func(*state, V) *fault) *fault {
	if m == nil {
		return s.null()
	}
	if f := s.enter(); f != nil {
		return f
	}
	// The names of all open maps share one stack; this map's begin at base.
	base := len(s.keys)
	for k := range m {
		s.keys = append(s.keys, k)
	}
	end := len(s.keys)
	slices.SortFunc(s.keys[base:], compareUTF16)
	s.buf = append(s.buf, '{')
	for i := base; i < end; i++ {
		k := s.keys[i]
		if f := s.member(k, i == base); f != nil {
			return f
		}
		if f := value(s, m[k]); f != nil {
			return f.under(k)
		}
	}
	s.buf = append(s.buf, '}')
	clear(s.keys[base:])
	s.keys = s.keys[:base]
	s.leave()
	return nil
}

// member starts a member of an object.
func (s *state) member(name string, first bool) *fault {
	if !first {
		s.buf = append(s.buf, ',')
	}
	if f := s.text(name); f != nil {
		return f.under(name)
	}
	s.buf = append(s.buf, ':')
	return nil
}

// An entry is a member of a map known only by reflection.
type entry struct {
	name  string
	value reflect.Value
}

func mapOf(elem *plan) encodeFunc {
	return func(s *state, v reflect.Value) *fault {
		if v.IsNil() {
			return s.null()
		}
		if f := s.enter(); f != nil {
			return f
		}
		entries, f := entriesOf(v)
		if f != nil {
			return f
		}
		s.buf = append(s.buf, '{')
		for i, e := range entries {
			if i > 0 && e.name == entries[i-1].name {
				return refuse(ErrDuplicateKey).under(e.name)
			}
			if f := s.member(e.name, i == 0); f != nil {
				return f
			}
			if f := elem.encode(s, e.value); f != nil {
				return f.under(e.name)
			}
		}
		s.buf = append(s.buf, '}')
		s.leave()
		return nil
	}
}

// entriesOf gives the members of a map in canonical order.
func entriesOf(v reflect.Value) ([]entry, *fault) {
	entries := make([]entry, 0, v.Len())
	key := reflect.New(v.Type().Key()).Elem() // reused: a name is copied out of it
	for iter := v.MapRange(); iter.Next(); {
		key.SetIterKey(iter)
		name, err := keyName(key)
		if err != nil {
			return nil, refuse(fmt.Errorf("key of %s: %w", v.Type(), err))
		}
		entries = append(entries, entry{name, iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return compareUTF16(a.name, b.name) })
	return entries, nil
}

// keyName gives the member name of a map key, as encoding/json does: strings
// as they are, then methods, then integers.
func keyName(k reflect.Value) (string, error) {
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	if k.Kind() == reflect.Pointer && k.IsNil() {
		return "", nil
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](k); ok {
		text, err := marshalText(m)
		return string(text), err
	}
	switch {
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10), nil
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", fmt.Errorf("nil %s: %w", k.Type(), ErrUnsupportedType)
}
