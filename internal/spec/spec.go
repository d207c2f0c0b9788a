// Package spec ties tests to the requirements they show.
//
// A test declares the requirement ids it demonstrates; the generator of
// docs/spec-map.md counts an id as mapped only where a test that declared it
// passed.
package spec

import (
	"regexp"
	"testing"
)

// Key is the test attribute under which a declared id is reported.
const Key = "spec"

var id = regexp.MustCompile(`^(?:[PBTW]-[0-9A-Z][0-9A-Za-z.-]*|C-\d{3}|[A-Z]\d{2})$`)

// Covers declares that the running test demonstrates the given requirement ids
// (P-5.6-1), rulings (C-028) or engine cases (R01). A malformed id fails the
// test. The declaration is an attribute of the test, so it is visible in
// go test -json and counts only if the test passes.
func Covers(t testing.TB, ids ...string) {
	t.Helper()
	for _, s := range ids {
		if !id.MatchString(s) {
			t.Errorf("spec: %q is not a requirement id, ruling or case", s)
			continue
		}
		t.Attr(Key, s)
	}
}
