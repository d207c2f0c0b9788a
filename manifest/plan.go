package manifest

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// plan is what reading, writing and checking know of a struct. It is made of the
// struct's tags, so that a member is declared in one place:
//
//	json:"name"             the member is required; with omitempty or omitzero it is not
//	rule:"nonempty"         its text may not be empty
//	rule:"nullable"         it may be null, which is the same as absent
//	rule:"positive|natural" its number is at least 1, or 0
//	since:"0.2"             the minor version it belongs to
type plan struct {
	members []member
	byName  map[string]int
	names   []string
	extra   int // index of the field Extra
}

type member struct {
	name     string
	field    int // index in the struct, which is also its bit in presence
	required bool
	nonempty bool
	nullable bool
	minimum  int  // of a number, -1 if there is none
	zero     bool // its zero value is written if it was read
	newer    bool
	values   []string // of an enumeration, or of a list of it
}

// plans holds the plan of every struct in a manifest.
var plans = sync.OnceValue(func() map[reflect.Type]*plan {
	all := make(map[reflect.Type]*plan)
	addPlan(all, reflect.TypeFor[Manifest]())
	return all
})

func addPlan(all map[reflect.Type]*plan, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || all[t] != nil {
		return
	}
	p := &plan{byName: make(map[string]int)}
	all[t] = p
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Name == "Extra":
			p.extra = i
		case f.IsExported() && name != "":
			p.add(newMember(f, i, name, options))
			addPlan(all, f.Type)
		}
	}
}

func (p *plan) add(m member) {
	p.byName[m.name] = len(p.members)
	p.names = append(p.names, m.name)
	p.members = append(p.members, m)
}

func newMember(f reflect.StructField, i int, name, options string) member {
	rules := "," + f.Tag.Get("rule") + ","
	m := member{
		name: name, field: i, minimum: -1,
		required: options == "",
		nonempty: strings.Contains(rules, ",nonempty,"),
		nullable: strings.Contains(rules, ",nullable,"),
		newer:    f.Tag.Get("since") == "0.2",
	}
	switch {
	case strings.Contains(rules, ",positive,"):
		m.minimum = 1
	case strings.Contains(rules, ",natural,"):
		m.minimum = 0
	}
	switch f.Type.Kind() {
	case reflect.Bool, reflect.Struct:
		m.zero = true
	case reflect.String:
		m.zero = m.nullable || !m.nonempty
	}
	t := f.Type
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if e, ok := reflect.Zero(t).Interface().(enumeration); ok {
		m.values = e.values()
	}
	return m
}

// enumeration is a type of text with a closed set of values.
type enumeration interface{ values() []string }

func texts[T ~string](all ...T) []string {
	s := make([]string, len(all))
	for i, v := range all {
		s[i] = string(v)
	}
	return s
}

// present is implemented by every struct in a manifest.
type present interface {
	mark(i int)
	has(i int) bool
}

func presenceOf(v reflect.Value) present {
	return v.Addr().Interface().(present) // every struct with a plan embeds presence
}

func extraOf(p *plan, v reflect.Value) map[string]json.RawMessage {
	extra, _ := v.Field(p.extra).Interface().(map[string]json.RawMessage)
	return extra
}

// wrote tells whether a member stood in the document that v was read from.
func wrote(v present, name string) bool {
	p := plans()[reflect.TypeOf(v).Elem()]
	return v.has(p.members[p.byName[name]].field)
}
