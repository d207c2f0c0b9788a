package manifest_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

var update = flag.Bool("update", false, "rewrite the expected issues in testdata")

// A fixture is a file with a document, a marker and the issues expected of it, a
// line each.
type fixture struct {
	file, document, want string
}

const marker = "-- issues --\n"

func fixtures(t *testing.T, dir string) []fixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	require.NoError(t, err)
	var all []fixture
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		document, want, ok := strings.Cut(string(text), marker)
		require.True(t, ok, "%s has no line %q", file, marker)
		all = append(all, fixture{file, document, want})
	}
	return all
}

func (f fixture) parse() (*manifest.Manifest, error) {
	if strings.HasSuffix(f.file, ".yaml.txt") {
		return manifest.ParseYAML([]byte(f.document))
	}
	return manifest.Parse([]byte(f.document))
}

func (f fixture) check(t *testing.T, got manifest.Issues) {
	t.Helper()
	var b strings.Builder
	for _, i := range got {
		b.WriteString(i.String() + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(f.file, []byte(f.document+marker+b.String()), 0o644))
		return
	}
	require.Equal(t, f.want, b.String(), "issues of %s; run with -update if they are meant", f.file)
}

func TestInvalid(t *testing.T) {
	spec.Covers(t, "P-1.1-1", "P-3.1-1", "P-3.1-2", "P-3.2-1", "P-3.2-8", "P-3.2-9", "P-3.2-10", "P-3.2-11",
		"P-3.4-1", "P-4-3", "P-4-4", "P-4-5", "P-4-6", "P-4-7", "P-4-9", "P-4-10", "P-4-11", "P-4-13", "P-4-15", "P-4-16",
		"P-4-19", "P-4-20", "P-4-21", "P-4-33", "P-10.3-2", "P-16-5", "P-16-6", "T-2-1", "T-2-2", "I01",
		"C-001", "C-002", "C-009", "C-016", "C-019", "C-021", "C-023", "C-026", "C-030", "C-032", "C-036", "C-043", "C-055",
		"C-066", "C-081", "C-093", "C-094")
	seen := make(map[manifest.Code]bool)
	for _, f := range fixtures(t, "invalid") {
		m, err := f.parse()
		require.Nil(t, m, f.file)
		var issues manifest.Issues
		require.ErrorAs(t, err, &issues, f.file)
		f.check(t, issues)
		for _, i := range issues {
			require.NotEmpty(t, i.Message, f.file)
			require.NotZero(t, i.Line, "%s: %v has no line", f.file, i)
			if i.Severity == manifest.SeverityError {
				seen[i.Code] = true
			}
		}
	}
	require.GreaterOrEqual(t, len(seen), 40, "distinct faults")
	requireAllSeen(t, seen, func(finding bool) bool { return !finding })
}

// TestFindings: documents that are accepted, with warnings and notes.
func TestFindings(t *testing.T) {
	spec.Covers(t, "C-001", "C-005", "C-016", "C-022", "C-023", "C-038", "C-059", "C-073", "C-078", "C-085", "P-16-4")
	seen := make(map[manifest.Code]bool)
	for _, f := range fixtures(t, "findings") {
		m, err := f.parse()
		require.NoError(t, err, f.file)
		issues := manifest.Validate(m, manifest.Options{})
		require.NoError(t, issues.Err(), f.file)
		require.Len(t, issues, len(issues.Warnings())+len(issues.Notes()), f.file)
		f.check(t, issues)
		for _, i := range issues {
			seen[i.Code] = true
		}
	}
	requireAllSeen(t, seen, func(finding bool) bool { return finding })
}

// requireAllSeen demands a fixture for every code: of a fault, or of a finding that
// is never an error.
func requireAllSeen(t *testing.T, seen map[manifest.Code]bool, wanted func(finding bool) bool) {
	t.Helper()
	text, err := os.ReadFile("codes.go")
	require.NoError(t, err)
	faults, findings, ok := strings.Cut(string(text), "// Findings that are never errors.")
	require.True(t, ok)
	code := regexp.MustCompile(`Code = "([^"]+)"`)
	for finding, part := range map[bool]string{false: faults, true: findings} {
		if !wanted(finding) {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(part, -1) {
			if m[1] == string(manifest.CodeTooLarge) { // see TestTooLarge
				continue
			}
			require.True(t, seen[manifest.Code(m[1])], "no fixture shows the code %s", m[1])
		}
	}
}

// TestPrintedEmbodiment: OS-011 §12 as printed is refused, with these findings.
func TestPrintedEmbodiment(t *testing.T) {
	spec.Covers(t, "B-12-1", "C-017", "C-018", "C-056")
	all := fixtures(t, "invalid")
	i := slices.IndexFunc(all, func(f fixture) bool { return strings.Contains(f.file, "os011-printed") })
	require.GreaterOrEqual(t, i, 0)
	_, err := all[i].parse()
	var issues manifest.Issues
	require.ErrorAs(t, err, &issues)
	var got []string
	for _, i := range issues.Errors() {
		got = append(got, i.Pointer+" "+string(i.Code))
	}
	require.ElementsMatch(t, []string{
		"/phases/0/inputs wrong-type", "/phases/0/outputs wrong-type",
		"/phases/1/inputs wrong-type", "/phases/1/outputs wrong-type",
		"/phases/2/inputs wrong-type", "/phases/2/outputs wrong-type",
		"/phases/3/inputs wrong-type", "/phases/3/outputs wrong-type", "/phases/3/invariant wrong-type",
		"/phases/4/inputs wrong-type", "/phases/4/outputs wrong-type",
		"/cadence/type missing-member", "/cadence/primary unknown-member",
		"/substrates wrong-type",
	}, got)
	require.ErrorContains(t, err, "the required auth is missing")
	require.ErrorContains(t, err, `not among the seven: "perceive_before_act", "affordance_bounded"`)
	require.ErrorContains(t, err, `did you mean "type"?`)
}
