package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

// largeManifest is a document with n phases, of which each names others.
func largeManifest(n int, phase func(i int) string) string {
	var b strings.Builder
	b.WriteString(`{"pulse_protocol_version":"0.1","loop_id":"acme.large","version":"1.0.0","phases":[` + "\n")
	for i := range n {
		b.WriteString(phase(i) + ",\n")
	}
	b.WriteString(`{"id":"last","kind":"learn"}],"closure":{"from_phase":"last","to_phase":"phase_0"},
"cadence":{"type":"manual"},"substrates":{"memory":"m","policy":"p","audit":"a","auth":"i"},"invariants":{}}`)
	return b.String()
}

func soundPhase(i int) string {
	kind := [...]string{"retrieve", "route", "act"}[i%3]
	return fmt.Sprintf(`{"id":"phase_%d","kind":"%s","description":"one of very many phases","inputs":{"from":"external|phase:phase_%d","schema":"Work"},`+
		`"outputs":{"to":"phase:phase_%d","schema":"Work"},"idempotent":true,"timeout_ms":500,"on_failure":"retry","max_retries":2,"audit_event":"work.done"}`,
		i, kind, max(i-1, 0), i)
}

// TestHostileDocuments: each takes time linear in its length, which the time limits
// allow tenfold, and gives issues.
func TestHostileDocuments(t *testing.T) {
	spec.Covers(t, "P-4-33", "C-025")
	const n = 10_000
	long := strings.Repeat("x", 2<<20)
	deep := strings.Repeat("[", 1<<18)
	for _, c := range []struct {
		name, text string
		yaml       bool
		want       manifest.Code
	}{
		{"long name", `{"` + long + `": 1}`, false, manifest.CodeUnknownMember},
		{"long value", `{"loop_id": "` + long + `"}`, false, manifest.CodeLoopID},
		{"long endpoint", largeManifest(1, func(int) string {
			return `{"id":"phase_0","kind":"retrieve","inputs":{"from":"` + strings.Repeat("external|", 1<<20) + `x"}}`
		}), false, manifest.CodeEndpoint},
		{"deep", deep, false, manifest.CodeTooDeep},
		{"faults everywhere", largeManifest(n, func(i int) string {
			return fmt.Sprintf(`{"id":"Phase %d","kind":"acts","inputs":{"from":"phase:phase_%d"},"xx_%d":1}`, i, i, i)
		}), false, manifest.CodePhaseID},
		{"duplicates everywhere", `{` + strings.Repeat(`"a":1,`, 1<<16) + `"a":1}`, false, manifest.CodeDuplicateMember},
		{"unknown members everywhere", `{` + manyMembers(1<<16) + `"a":1}`, false, manifest.CodeUnknownMember},
		{"comments everywhere", strings.Repeat("/**/", 1<<16), false, manifest.CodeComment},
		{"invalid UTF-8", "{\"loop_id\": \"a\xff\"}", false, manifest.CodeEncoding},
		{"binary", string([]byte{0, 1, 2, 0xff}), false, manifest.CodeEncoding},
		{"deep flow", deep, true, manifest.CodeTooDeep},
		{"deep block", strings.Repeat("- ", 1<<16), true, manifest.CodeTooDeep},
		{"deep mappings", deepMappings(300), true, manifest.CodeTooDeep},
		{"long names around much", longNames(), true, manifest.CodeTooLarge},
		{"tags", strings.Repeat("!!str ", 1<<16), true, manifest.CodeYAML},
		{"anchors", strings.Repeat("&a ", 1<<16), true, manifest.CodeYAML},
		{"invalid UTF-8 in YAML", "loop_id: a\xff", true, manifest.CodeEncoding},
		{"byte order mark", "\ufeffloop_id: a.b", true, manifest.CodeEncoding},
		{"brackets to the left", "a: [\n]\n]: x", true, manifest.CodeSyntax},
	} {
		t.Run(c.name, func(t *testing.T) {
			parse := manifest.Parse
			if c.yaml {
				parse = manifest.ParseYAML
			}
			start := time.Now()
			_, err := parse([]byte(c.text))
			require.Less(t, time.Since(start), 20*time.Second)
			var issues manifest.Issues
			require.ErrorAs(t, err, &issues)
			require.NotEmpty(t, codes(issues)[c.want], "got %v", err)
			require.Less(t, len(err.Error()), 1<<14, "the text of an error stays readable")
		})
	}
}

func codes(issues manifest.Issues) map[manifest.Code]int {
	n := make(map[manifest.Code]int)
	for _, i := range issues {
		n[i.Code]++
	}
	return n
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"unknown_%d":{},`, i)
	}
	return b.String()
}

func deepMappings(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// longNames: a parser that keeps with every value the names around it would need
// terabytes.
func longNames() string {
	return strings.Repeat("x", 1<<20) + ":\n" + strings.Repeat("- a\n", 1<<16)
}

// TestManyPhases: ten thousand phases are read and checked at once.
func TestManyPhases(t *testing.T) {
	spec.Covers(t, "P-1.1-2")
	m, err := manifest.Parse([]byte(largeManifest(10_000, soundPhase)))
	require.NoError(t, err)
	require.Len(t, m.Phases, 10_001)
}

// TestFaultsOfAllPhases: every fault of ten thousand phases is reported, with the
// line it stands in.
func TestFaultsOfAllPhases(t *testing.T) {
	const n = 10_000
	_, err := manifest.Parse([]byte(largeManifest(n, func(i int) string {
		return fmt.Sprintf(`{"id":"phase_%d","kind":"retrieve","timeout_ms":-1}`, i)
	})))
	var issues manifest.Issues
	require.ErrorAs(t, err, &issues)
	require.Equal(t, n, codes(issues)[manifest.CodeBadNumber])
	line := 2
	for _, i := range issues {
		if i.Code == manifest.CodeBadNumber {
			require.Equal(t, line, i.Line)
			require.Equal(t, fmt.Sprintf("/phases/%d/timeout_ms", line-2), i.Pointer)
			line++
		}
	}
	require.ErrorContains(t, err, "more")
}
