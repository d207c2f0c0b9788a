package expr_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/stretchr/testify/require"
)

// The evaluator stays small and stands on the standard library alone.
func TestSmallAndAlone(t *testing.T) {
	spec.Covers(t, "T-2-10")
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	size, sources := 0, 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		size, sources = size+len(src), sources+1
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			first, _, _ := strings.Cut(strings.Trim(i.Path.Value, `"`), "/")
			require.NotContains(t, first, ".", "%s imports %s, which is not of the standard library", name, i.Path.Value)
		}
	}
	require.Positive(t, sources)
	require.LessOrEqual(t, size, 25<<10, "the source, comments included, is over 25 KB")
}
