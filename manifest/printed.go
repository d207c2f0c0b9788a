package manifest

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// The manifest that OS-011 §12 prints has another shape than OS-010's, and is
// refused (C-017). What is here makes the messages say how OS-010 writes it.

// printedNames are members of the printed manifest and what OS-010 calls them
// (C-056).
var printedNames = map[string]string{"primary": "type", "event_source": "trigger"}

// meant gives "; did you mean …?" for an unknown member, or nothing.
func (c *checker) meant(name string, known []string) string {
	if m := printedNames[name]; slices.Contains(known, m) {
		return "; did you mean " + shorten(m) + "?"
	}
	return c.didYouMean(name, known)
}

// cure tells how to write what stands as an array.
func (d *decoder) cure(v jsonpos.Value, want jsonpos.Kind) string {
	name := d.path.last()
	if v.Kind() != jsonpos.Array {
		if want == jsonpos.String && v.Kind() == jsonpos.Number {
			return "; put it in quotes"
		}
		return ""
	}
	switch {
	case name == "inputs" && want == jsonpos.Object:
		return `; write {"from": "<endpoint>", "schema": "<type>"}`
	case name == "outputs" && want == jsonpos.Object:
		return `; write {"to": "<endpoint>", "schema": "<type>"}`
	case name == "substrates" && want == jsonpos.Object:
		return `; write {"memory": "<reference>", …}` + missingSlots(v)
	case name == "invariant" && want == jsonpos.String:
		return "; write the one invariant that is decided here" + notInvariants(v)
	default:
		return ""
	}
}

// missingSlots names the required slots that a printed list does not have.
func missingSlots(list jsonpos.Value) string {
	var given []string
	for e := range list.Elements() {
		if e.Kind() != jsonpos.Object {
			continue
		}
		for name, v := range e.Members() {
			if name.Text() == "substrate_type" {
				given = append(given, v.Text())
			}
		}
	}
	missing := slices.DeleteFunc(texts(Slots()[:requiredSlots]...), func(s string) bool { return slices.Contains(given, s) })
	if len(missing) == 0 {
		return ""
	}
	return "; the required " + strings.Join(missing, ", ") + " is missing"
}

// notInvariants names what is not one of the seven (C-018).
func notInvariants(list jsonpos.Value) string {
	var wrong []string
	for e := range list.Elements() {
		if e.Kind() == jsonpos.String && !slices.Contains(Invariants(), Invariant(e.Text())) {
			wrong = append(wrong, shorten(e.Text()))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "; not among the seven: " + strings.Join(wrong[:min(len(wrong), 3)], ", ")
}
