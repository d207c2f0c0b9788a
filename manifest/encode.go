package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// MarshalJSON writes the manifest in compact JSON, its members in the order of
// OS-010 §4. Members with their zero value are left out, unless they are required
// or stood in the document that the manifest was read from. Members in Extra are
// written if the declared patch is newer than the text this package follows
// (C-023), and are an error otherwise.
func (m Manifest) MarshalJSON() ([]byte, error) {
	e := encoder{plans: plans(), newer: m.newerPatch()}
	e.object(reflect.ValueOf(&m).Elem())
	if e.err != nil {
		return nil, fmt.Errorf("manifest %s: %w", m.LoopID, e.err)
	}
	return e.out, nil
}

// UnmarshalJSON reads a manifest as [Parse] does, but does not check what its
// members say; see [Validate]. The error is of type [Issues].
func (m *Manifest) UnmarshalJSON(data []byte) error {
	doc, issues := readJSON(data, "")
	if doc == nil {
		return issues
	}
	read, shape := decode(doc)
	if issues = append(issues, doc.place(shape)...); len(issues) > 0 {
		return issues.sorted()
	}
	*m = *read
	return nil
}

type encoder struct {
	plans map[reflect.Type]*plan
	newer bool
	out   []byte
	err   error
}

func (e *encoder) object(v reflect.Value) {
	p, written := e.plans[v.Type()], presenceOf(v)
	e.out = append(e.out, '{')
	for i := range p.members {
		m := &p.members[i]
		field := v.Field(m.field)
		if field.IsZero() && !m.required && (!m.zero || !written.has(m.field)) {
			continue
		}
		e.name(m.name)
		if m.nullable && field.IsZero() {
			e.out = append(e.out, "null"...)
			continue
		}
		e.value(field)
	}
	e.extra(extraOf(p, v))
	e.out = append(e.out, '}')
}

func (e *encoder) extra(extra map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !e.newer {
			e.fail(fmt.Errorf("unknown member %q in Extra: remove it, or declare the patch it belongs to", name))
			return
		}
		e.name(name)
		e.any(extra[name])
	}
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) name(name string) {
	e.separate()
	e.out = append(jsonpos.AppendString(e.out, name), ':')
}

func (e *encoder) separate() {
	if last := e.out[len(e.out)-1]; last != '{' && last != '[' {
		e.out = append(e.out, ',')
	}
}

func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		e.out = jsonpos.AppendString(e.out, v.String())
	case reflect.Bool:
		e.out = strconv.AppendBool(e.out, v.Bool())
	case reflect.Int:
		e.out = strconv.AppendInt(e.out, v.Int(), 10)
	case reflect.Pointer:
		e.value(v.Elem()) // a nil one is left out
	case reflect.Slice:
		e.out = append(e.out, '[')
		for i := range v.Len() {
			e.separate()
			e.value(v.Index(i))
		}
		e.out = append(e.out, ']')
	case reflect.Map:
		e.mapping(v)
	case reflect.Struct:
		e.object(v)
	default:
		e.any(v.Interface())
	}
}

// mapping writes a map: the seven invariants in the order of OS-010 §7, then other
// names in alphabetical order.
func (e *encoder) mapping(v reflect.Value) {
	if invariants, ok := v.Interface().(map[Invariant]bool); ok {
		e.out = append(e.out, '{')
		names := append(Invariants(), slices.Sorted(maps.Keys(invariants))...)
		for i, name := range names {
			if on, ok := invariants[name]; ok && !slices.Contains(names[:i], name) {
				e.name(string(name))
				e.out = strconv.AppendBool(e.out, on)
			}
		}
		e.out = append(e.out, '}')
		return
	}
	e.any(v.Interface())
}

func (e *encoder) any(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		e.fail(err)
		return
	}
	e.out = append(e.out, raw...)
}
