package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreign lists which packages of other modules a package of the core may
// import outside its tests, by module. Reasons stand in RATIONALE.md.
var foreign = map[string][]string{
	"signature":   {"github.com/gowebpki/jcs", "lukechampine.com/blake3"},
	"token":       {"github.com/cloudevents/sdk-go/v2", "github.com/santhosh-tekuri/jsonschema/v6"},
	"schemas":     {"github.com/santhosh-tekuri/jsonschema/v6"},
	"manifest":    {"github.com/goccy/go-yaml"},
	"substrate":   {"github.com/sony/gobreaker/v2"},
	"cadence":     {"golang.org/x/time"},
	"pulse":       {"github.com/cloudevents/sdk-go/v2", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace"},
	"body/osbody": {"golang.org/x/sys"},
}

// inTests lists the modules that tests may import besides.
var inTests = []string{"github.com/stretchr/testify", "pgregory.net/rapid"}

// belongs says that an import path is in one of the modules.
func belongs(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// standard says that an import path is of the standard library.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// everyForeign is every module of the table.
func everyForeign() []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for modules := range maps.Values(foreign) {
			for _, m := range modules {
				if !yield(m) {
					return
				}
			}
		}
	}))
}

func thirdParty(pkgs []listed) []string {
	var out []string
	for _, p := range pkgs {
		for _, path := range p.Imports {
			if !standard(path) && !ours(path) && !belongs(path, foreign[p.rel()]) {
				out = append(out, fmt.Sprintf("%s imports %s; the table of foreign imports does not allow it", p.rel(), path))
			}
		}
		for _, path := range append(slices.Clone(p.TestImports), p.XTestImports...) {
			if !standard(path) && !ours(path) && !belongs(path, inTests) && !belongs(path, everyForeign()) {
				out = append(out, fmt.Sprintf("tests of %s import %s; the table of foreign imports does not allow it", p.rel(), path))
			}
		}
	}
	return out
}

func TestForeignImports(t *testing.T) {
	complain(t, thirdParty(packages(t)))
}

func TestForeignImportsRule(t *testing.T) {
	require.Empty(t, thirdParty([]listed{{
		ImportPath: modulePath + "/signature", Imports: []string{"fmt", "lukechampine.com/blake3"},
		TestImports: []string{"pgregory.net/rapid", "github.com/stretchr/testify/require", "github.com/gowebpki/jcs"},
	}}))
	require.Equal(t, []string{
		"machine imports lukechampine.com/blake3; the table of foreign imports does not allow it",
		"tests of machine import example.org/x; the table of foreign imports does not allow it",
	}, thirdParty([]listed{{
		ImportPath: modulePath + "/machine", Imports: []string{"lukechampine.com/blake3"}, XTestImports: []string{"example.org/x"},
	}}))
}

// The go.mod of the core requires nothing directly that no package may import.
func TestCoreRequiresOnlyWhatIsAllowed(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	var mod struct {
		Go      string
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{}
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader(out)).Decode(&mod))
	require.Equal(t, "1.26.0", mod.Go, "the floor is Go 1.26; raising it is a decision for RATIONALE.md")
	require.Empty(t, mod.Replace, "a replace directive is ignored by users of the module")
	for _, r := range mod.Require {
		if !r.Indirect {
			require.Contains(t, append(everyForeign(), inTests...), r.Path, "a new dependency needs a reason in RATIONALE.md and a line in the table")
		}
	}
}

// Every dependency that the table allows has its reason written down.
func TestRationaleNamesEveryDependency(t *testing.T) {
	text := read(t, "RATIONALE.md")
	for _, m := range append(everyForeign(), inTests...) {
		require.Contains(t, text, "`"+m+"`", "RATIONALE.md gives no reason for the module")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	for _, f := range texts(t) {
		if f.path == filepath.ToSlash(name) {
			return f.text
		}
	}
	t.Fatalf("%s is missing", name)
	return ""
}
