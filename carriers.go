package pulse

import (
	"iter"
	"reflect"

	"github.com/opensentience/pulse-go/token"
)

var (
	tokenType        = reflect.TypeFor[token.Token]()
	topologyType     = reflect.TypeFor[token.TopologyContext]()
	deliberationType = reflect.TypeFor[token.DeliberationResult]()
)

// carriers says where in values of a type the tokens sit that invariants look
// for: κ and the results of deliberations count as received when they are in an
// input or output, however deep.
type carriers struct {
	kind   reflect.Kind
	itself bool        // a value of the type is such a token
	elem   *carriers   // of a pointer, slice, array or map
	fields []fieldPath // of a struct
}

type fieldPath struct {
	index int
	at    *carriers
}

// maxWalk bounds how deep values are searched, so that a cyclic value ends.
const maxWalk = 64

// maxSeen bounds how many values are looked at, so that a value that shares its
// parts ends, too.
const maxSeen = 100_000

// carriersOf works out the carriers of a type, nil if it has none.
func carriersOf(t reflect.Type) *carriers {
	s := &carrierScan{by: map[reflect.Type]*carriers{}, has: map[reflect.Type]bool{}}
	if !s.reaches(t, map[reflect.Type]bool{}) {
		return nil
	}
	return s.build(t)
}

type carrierScan struct {
	by  map[reflect.Type]*carriers
	has map[reflect.Type]bool
}

func (s *carrierScan) reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == topologyType || t == deliberationType {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return s.reaches(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && s.reaches(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

func (s *carrierScan) build(t reflect.Type) *carriers {
	if c, ok := s.by[t]; ok {
		return c
	}
	c := &carriers{kind: t.Kind(), itself: t == topologyType || t == deliberationType}
	s.by[t] = c
	if c.itself {
		return c
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		c.elem = s.build(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && s.reaches(f.Type, map[reflect.Type]bool{}) {
				c.fields = append(c.fields, fieldPath{i, s.build(f.Type)})
			}
		}
	}
	return c
}

// find appends the tokens in v to what was known before; the slices given are
// not written to.
func (c *carriers) find(v any, ts []*token.TopologyContext, ds []*token.DeliberationResult) ([]*token.TopologyContext, []*token.DeliberationResult) {
	f := finding{ts: ts[:len(ts):len(ts)], ds: ds[:len(ds):len(ds)]}
	f.walk(c, reflect.ValueOf(v), 0)
	return f.ts, f.ds
}

type finding struct {
	seen int
	ts   []*token.TopologyContext
	ds   []*token.DeliberationResult
}

func (f *finding) walk(c *carriers, v reflect.Value, depth int) {
	f.seen++
	if depth > maxWalk || f.seen > maxSeen || !v.IsValid() {
		return
	}
	if c.itself {
		switch t := v.Interface().(type) {
		case token.TopologyContext:
			f.ts = append(f.ts, &t)
		case token.DeliberationResult:
			f.ds = append(f.ds, &t)
		}
		return
	}
	switch c.kind {
	case reflect.Pointer:
		if !v.IsNil() {
			f.walk(c.elem, v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			f.walk(c.elem, v.Index(i), depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			f.walk(c.elem, it.Value(), depth+1)
		}
	case reflect.Struct:
		for _, p := range c.fields {
			f.walk(p.at, v.Field(p.index), depth+1)
		}
	}
}

// carriesTokens reports whether values of a type are tokens, or lists of them.
func carriesTokens(t reflect.Type) bool {
	return t.Implements(tokenType) || (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Implements(tokenType)
}

// tokens gives the tokens that an output is, or lists; nil ones are passed over.
func tokens(out any) iter.Seq[token.Token] {
	return func(yield func(token.Token) bool) {
		if t, ok := out.(token.Token); ok {
			if !isNil(t) {
				yield(t)
			}
			return
		}
		v := reflect.ValueOf(out)
		if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
			return
		}
		for i := range v.Len() {
			t, ok := v.Index(i).Interface().(token.Token)
			if ok && !isNil(t) && !yield(t) {
				return
			}
		}
	}
}
