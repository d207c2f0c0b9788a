package pulse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program in the README is the one that compiles and runs.
func TestReadmeProgramIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	program, err := os.ReadFile("examples/hello/main.go")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(program), "package main")
	require.Contains(t, string(readme), "```go\npackage main"+code+"```", "copy examples/hello/main.go into the README")
	require.LessOrEqual(t, strings.Count(code, "\n"), 40, "the program has at most 40 lines")
	require.LessOrEqual(t, strings.Count(string(readme), "\n"), 200, "the README has at most 200 lines")
}
