package house

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tiers orders the packages: imports go from a later tier to an earlier one.
// A package that is not listed takes the tier of the closest parent that is.
var tiers = [][]string{
	{"signature", "schemas", "internal"},
	{"token", "manifest"},
	{"substrate", "machine", "journal", "cadence", "wake", "body", "typecheck"},
	{"invariant"},
	{"pulse"},
	{"recovery", "pulsetest", "observe", "tool", "body/bodyloop"},
	{"conformance"},
	{"cmd", "examples", "internal/cli", "internal/cmd", "internal/house"},
}

// level says that a package may import another one of its own tier.
func level(from, to string) bool {
	switch {
	case strings.HasPrefix(to, "internal/"), strings.HasPrefix(from, to+"/"):
		return true // the tools of everybody, and a sub-package on its parent
	case from == "manifest":
		return to == "token"
	case from == "journal" && to == "machine":
		return true // what a journal keeps is the machine's record and snapshot
	case tier(from) == tier("substrate"):
		return to == "substrate"
	case tier(from) == tier("cmd"):
		return true // commands and examples are nobody's foundation
	}
	return false
}

// apart lists packages that must not reach each other even through others: two
// mechanisms with two receipts, and a core that does not carry the checker.
var apart = map[string][]string{
	"wake":     {"pulse", "recovery", "cadence"},
	"recovery": {"wake"},
	"pulse":    {"wake", "typecheck"},
	"cadence":  {"wake"},
}

// tier is the index of a package's tier, or -1 if no parent of it is listed.
func tier(pkg string) int {
	for p := pkg; p != "."; p = path.Dir(p) {
		for i, names := range tiers {
			if slices.Contains(names, p) {
				return i
			}
		}
	}
	return -1
}

// direction complains about imports against the order of the tiers.
func direction(pkgs []listed) []string {
	var out []string
	for _, p := range pkgs {
		from := p.rel()
		if tier(from) < 0 {
			out = append(out, fmt.Sprintf("%s stands in no tier; add it to the table of tiers", from))
			continue
		}
		for _, imported := range p.Imports {
			to := relative(imported)
			switch {
			case !ours(imported), tier(to) < 0, tier(to) < tier(from):
			case tier(to) > tier(from):
				out = append(out, fmt.Sprintf("%s imports %s, which stands above it", from, to))
			case !level(from, to):
				out = append(out, fmt.Sprintf("%s imports %s, which stands beside it", from, to))
			}
		}
	}
	return out
}

// separation complains about packages that reach what they must be apart from.
func separation(pkgs []listed) []string {
	var out []string
	for _, p := range pkgs {
		for _, dep := range p.Deps {
			if ours(dep) && slices.Contains(apart[p.rel()], relative(dep)) {
				out = append(out, fmt.Sprintf("%s depends on %s; the two must not know each other", p.rel(), relative(dep)))
			}
		}
	}
	return out
}

func TestImportsGoOneWay(t *testing.T) {
	complain(t, direction(packages(t)))
	complain(t, separation(packages(t)))
}

func TestDirectionRule(t *testing.T) {
	pkg := func(path string, imports ...string) listed {
		p := listed{ImportPath: modulePath + "/" + path}
		if path == "pulse" {
			p.ImportPath = modulePath
		}
		for _, i := range imports {
			if i == "pulse" {
				p.Imports = append(p.Imports, modulePath)
			} else {
				p.Imports = append(p.Imports, modulePath+"/"+i)
			}
		}
		p.Deps = p.Imports
		return p
	}
	for _, good := range []listed{
		pkg("manifest", "token", "signature", "internal/expr"), pkg("machine", "substrate", "manifest"), pkg("journal", "machine"),
		pkg("token/tokentest", "token"), pkg("body/bodyloop", "pulse"), pkg("pulse", "invariant", "cadence"),
		pkg("examples/quickstart", "pulse", "pulsetest"), pkg("cmd/pulse", "internal/cli"), pkg("internal/jsonpos", "internal/graph"),
		pkg("recovery", "pulse"), pkg("body/osbody", "body", "substrate"),
	} {
		require.Empty(t, append(direction([]listed{good}), separation([]listed{good})...))
	}
	for want, bad := range map[string]listed{
		"machine imports pulse, which stands above it":                 pkg("machine", "pulse"),
		"token imports manifest, which stands beside it":               pkg("token", "manifest"),
		"machine imports cadence, which stands beside it":              pkg("machine", "cadence"),
		"observe imports tool, which stands beside it":                 pkg("observe", "tool"),
		"signature imports internal/cli, which stands above it":        pkg("signature", "internal/cli"),
		"body imports body/bodyloop, which stands above it":            pkg("body", "body/bodyloop"),
		"helper stands in no tier; add it to the table of tiers":       pkg("helper"),
		"recovery depends on wake; the two must not know each other":   pkg("recovery", "wake"),
		"pulse depends on typecheck; the two must not know each other": pkg("pulse", "typecheck"),
	} {
		require.Contains(t, append(direction([]listed{bad}), separation([]listed{bad})...), want)
	}
}
