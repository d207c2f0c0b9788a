package token_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
)

// shape gives a line for every place that the JSON of a type can have:
// OutcomeSignal/status string.
func shape(at string, t reflect.Type) []string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return []string{at + " object"}
	case t == reflect.TypeOf(noon):
		return []string{at + " time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shape(at, t.Elem())
	case reflect.Slice:
		return shape(at+"/*", t.Elem())
	case reflect.Map:
		return shape(at+"/<name>", t.Elem())
	case reflect.Struct:
		var lines []string
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || len(f.Index) > 1 && !t.Field(f.Index[0]).Anonymous {
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if strings.Contains(options, "omitempty") {
				name += "?"
			}
			lines = append(lines, shape(at+"/"+name, f.Type)...)
		}
		return lines
	}
	return []string{at + " " + t.Kind().String()}
}

// The tokens are stable until 1.0: what is there stays as it is, and -update
// writes additions only.
func TestPayloadsChangeByAdditionOnly(t *testing.T) {
	spec.Covers(t, "P-16.1-2", "P-16.1-3", "P-6.1-2", "P-6.2-3", "P-6.3-3", "P-6.4-4", "P-6.5-3", "B-8.2-1", "C-075")
	var now []string
	for _, s := range samples() {
		now = append(now, shape(string(s.TokenName()), reflect.TypeOf(s))...)
	}
	file := filepath.Join("testdata", "members.txt")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	promised := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, line := range promised {
		require.Contains(t, now, line, "a promised member was removed or changed")
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o644))
		return
	}
	require.Equal(t, promised, now, "members were added: write the list anew with -update")
}

// There is one form in which trust, confidence and reputation change across
// loops: no other token says by how much something of a subject changes.
func TestReputationHasOneToken(t *testing.T) {
	spec.Covers(t, "P-0-5")
	for _, member := range []string{"subject_id", "subject_type", "delta", "calibration_adjustment"} {
		var with []string
		for _, s := range samples() {
			if slices.ContainsFunc(shape("", reflect.TypeOf(s)), func(line string) bool {
				return strings.HasPrefix(line, "/"+member+" ")
			}) {
				with = append(with, string(s.TokenName()))
			}
		}
		require.Equal(t, []string{"ReputationUpdate"}, with, "tokens with the member %s", member)
	}
}
