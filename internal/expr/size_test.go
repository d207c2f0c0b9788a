package expr_test

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/stretchr/testify/require"
)

// The evaluator stays small, comments apart, and stands on the standard library
// alone.
func TestSmallAndAlone(t *testing.T) {
	spec.Covers(t, "T-2-10")
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code bytes.Buffer
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution) // without comments
		require.NoError(t, err)
		require.NoError(t, format.Node(&code, set, f))
		for _, i := range f.Imports {
			first, _, _ := strings.Cut(strings.Trim(i.Path.Value, `"`), "/")
			require.NotContains(t, first, ".", "%s imports %s, which is not of the standard library", name, i.Path.Value)
		}
	}
	require.Contains(t, code.String(), "func Parse(", "the sources were not found")
	require.LessOrEqual(t, code.Len(), 25<<10, "the code is over 25 KB")
	t.Logf("%d bytes of code", code.Len())
}
