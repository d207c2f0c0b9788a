package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	require.Empty(t, diff("a\nb", "a\nb"))
	require.Equal(t, "-b\n+c\n", diff("a\nb\nd", "a\nc\nd"))
	require.Equal(t, "+b\n", diff("a\nd", "a\nb\nd"))
	require.Equal(t, "-a\n", diff("a\nd", "d"))
}

// The removed lines are a subsequence of one text and the added ones of the
// other, and as many lines remain on both sides.
func TestDiffExplainsTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 8)
		got, want := lines.Draw(t, "got"), lines.Draw(t, "want")
		var removed, added int
		for line := range strings.Lines(diff(strings.Join(got, "\n"), strings.Join(want, "\n"))) {
			if line[0] == '-' {
				removed++
			} else {
				added++
			}
		}
		require.Equal(t, len(got)-removed, len(want)-added)
	})
}
