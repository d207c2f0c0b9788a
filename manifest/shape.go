package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// shape checks what the tags of the structs say (see plan), for every struct in
// the manifest: required members, enumerations, ranges, members of a newer version
// and unknown members.
func (c *checker) shape(v reflect.Value) {
	p, written := c.plans[v.Type()], presenceOf(v)
	for i := range p.members {
		m := &p.members[i]
		field := v.Field(m.field)
		c.path.name(m.name)
		c.member(m, field, written.has(m.field))
		c.path.up()
	}
	for _, name := range slices.Sorted(maps.Keys(extraOf(p, v))) {
		c.unknown(name, p.names)
	}
}

func (c *checker) member(m *member, v reflect.Value, written bool) {
	if missing(m, v, written) {
		if len(c.path) == 1 {
			c.absent[m.name] = true
		}
		c.failHere(CodeMissingMember, "the required member %s is missing", m.name)
		return
	}
	if v.IsZero() && !written {
		return
	}
	if m.newer && c.version.Major == 0 && c.version.Minor < 2 {
		c.newerMember(m.name)
	}
	if m.minimum >= 0 {
		c.number(m, v)
	}
	c.content(m, v)
}

// missing tells whether a required member is absent. A struct is absent if it holds
// nothing and was not written, a list if it is empty.
func missing(m *member, v reflect.Value, written bool) bool {
	switch {
	case !m.required:
		return false
	case v.Kind() == reflect.Slice:
		return v.Len() == 0
	case v.Kind() == reflect.Map:
		return v.IsNil()
	default:
		return v.IsZero() && (!written || v.Kind() != reflect.Struct)
	}
}

// content checks what is in a member.
func (c *checker) content(m *member, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		c.enumerated(m, v.String())
	case reflect.Struct:
		c.shape(v)
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			c.shape(v.Elem())
		}
	case reflect.Slice:
		if m.values == nil && v.Type().Elem().Kind() != reflect.Struct {
			return
		}
		for i := range v.Len() {
			c.path.element(i)
			c.content(m, v.Index(i))
			c.path.up()
		}
	}
}

func (c *checker) enumerated(m *member, v string) {
	if v == "" || m.values == nil || slices.Contains(m.values, v) {
		return
	}
	c.failHere(CodeBadValue, "%s is not one of %s%s", shorten(v), strings.Join(m.values, ", "), c.didYouMean(v, m.values))
}

func (c *checker) number(m *member, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	} else if v.IsZero() {
		return // absent; a written 0 is reported when it is read
	}
	if n := v.Int(); n < int64(m.minimum) || n > maxInt {
		c.failHere(CodeBadNumber, "%s", outOfRange(m, n))
	}
}

func outOfRange(m *member, n int64) string {
	return fmt.Sprintf("%s must be from %d to %d, got %d", m.name, m.minimum, int64(maxInt), n)
}

// newerMember: a 0.1 manifest with a member of 0.2. A newer patch of 0.1 may have
// taken it over.
func (c *checker) newerMember(name string) {
	severity := SeverityError
	if c.version.newer() {
		severity = SeverityWarning
	}
	c.add(Issue{
		Code: CodeNewerMember, Severity: severity, Pointer: c.path.pointer(), name: true,
		Message: name + " belongs to protocol 0.2; declare pulse_protocol_version 0.2, or leave it out",
	})
}

// unknown: an error at or below the text this package follows, kept and warned of
// when the declared patch is newer (C-023).
func (c *checker) unknown(name string, known []string) {
	severity, cure := SeverityError, "remove it"
	if c.version.newer() {
		severity, cure = SeverityWarning, "it is kept, and has no effect here"
	}
	code, what := CodeUnknownMember, "there is no member "
	if len(c.path) == 1 && c.path.last() == "substrates" { // the six slots are fixed until 1.0 (OS-010 §16.1)
		code, what, severity, cure = CodeUnknownSlot, "there is no substrate slot ", SeverityError, "the slots are "+strings.Join(known, ", ")
	}
	hint := c.meant(name, known)
	c.add(Issue{
		Code: code, Severity: severity, Pointer: jsonpos.AppendPointer(c.path.pointer(), name), name: true,
		Message: what + shorten(name) + " here; " + cure + hint,
	})
}

// invariantNames checks the keys of the map of invariants.
func (c *checker) invariantNames() {
	known := texts(Invariants()...)
	for _, name := range slices.Sorted(maps.Keys(c.m.Invariants)) {
		if slices.Contains(known, string(name)) {
			continue
		}
		severity := SeverityError
		if c.version.newer() {
			severity = SeverityWarning
		}
		c.add(Issue{
			Code: CodeUnknownInvariant, Severity: severity, Pointer: at("invariants", string(name)), name: true,
			Message: shorten(string(name)) + " is not one of the seven invariants" + c.didYouMean(string(name), known),
		})
	}
	for _, name := range known {
		if _, ok := c.m.Invariants[Invariant(name)]; !ok && c.m.Invariants != nil {
			c.note(CodeAbsentInvariant, at("invariants"), "%s is absent, so it is off", name)
		}
	}
}

// writable checks that a map of free-form members can be written as JSON.
func (c *checker) writable(values map[string]any, place func() string) {
	if c.m.doc != nil {
		return // what was read can be written
	}
	if _, err := json.Marshal(values); err != nil {
		c.fail(CodeWrongType, place(), "this cannot be written as JSON: %v", err)
	}
}
