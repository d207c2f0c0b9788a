package house

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
)

// glossaryTerms are the terms of OS-010 §19.
var glossaryTerms = []string{
	"Loop", "Phase", "Cadence", "Substrate", "Connection", "Closure", "Token",
	"Invariant", "Trace ID", "Manifest", "Conformance", "BYOL", "κ",
}

var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)`")

// terms reads the rows of the glossary: term to the column that says where it
// stands.
func terms(text string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && !strings.Contains(line, "---") {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2])
		}
	}
	return rows
}

// undefined lists the Go names that a glossary points at and the code lacks.
func undefined(rows map[string]string, has func(pkg, name string) bool) []string {
	var out []string
	for term, where := range rows {
		for _, m := range goName.FindAllStringSubmatch(where, -1) {
			if !has(m[1], m[2]) {
				out = append(out, fmt.Sprintf("%s: the code has no %s.%s", term, m[1], m[2]))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestGlossary(t *testing.T) {
	spec.Covers(t, "P-19-1")
	rows := terms(read(t, "docs/glossary.md"))
	for _, term := range glossaryTerms {
		require.NotEmpty(t, rows[term], "docs/glossary.md does not say where %s stands", term)
	}
	names := map[string]bool{}
	for _, p := range packages(t) {
		for _, f := range parse(t, p.Dir, p.GoFiles).files {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					for _, s := range g.Specs {
						names[path.Base(p.rel())+"."+exportedSpec(s)] = true
					}
				}
			}
		}
	}
	complain(t, undefined(rows, func(pkg, name string) bool { return names[pkg+"."+name] }))
}

func TestGlossaryRule(t *testing.T) {
	rows := terms("| Term | Here | Meaning |\n|---|---|---|\n| Loop | `pulse.Loop`, `a.B` | x |\n")
	require.Equal(t, []string{"Loop: the code has no a.B"}, undefined(rows, func(pkg, _ string) bool { return pkg == "pulse" }))
}

// The non-goals stand where somebody who looks for a missing feature finds them.
func TestNonGoalsAreStated(t *testing.T) {
	spec.Covers(t, "T-N-1", "T-N-3", "P-18-1")
	_, section, found := strings.Cut(read(t, "RATIONALE.md"), "\n## Not promised\n")
	require.True(t, found, "RATIONALE.md has no section \"Not promised\"")
	section = strings.Join(strings.Fields(section), " ")
	for _, words := range []string{
		"no distributed consensus across loops", "no migration of an iteration in flight",
		"no encryption of phase payloads", "no discovery or registry", "no cost accounting",
		"no graphical authoring", "no process algebra", "deadlock freedom across parallel sub-agents is not decided",
		"No formal proof is promised",
	} {
		require.Contains(t, section, words)
	}
}
