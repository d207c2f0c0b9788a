package near

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	names := []string{"retrieve", "route", "act", "learn", "Act2"}
	for _, c := range []struct {
		got  string
		most int
		want string
	}{
		{"rertieve", 2, "retrieve"}, // neighbors swapped
		{"retrievee", 1, "retrieve"},
		{"rout", 1, "route"},
		{"RETRIEVE", 0, "retrieve"},
		{"acts", 1, "act"}, // the first of two that are as near
		{"act22", 1, "Act2"},
		{"lrn", 1, ""},
		{"lrn", 2, "learn"},
		{"", 2, ""},
		{"", 3, "act"},
		{"act", -1, ""},
		{"größe", 2, ""},
	} {
		require.Equal(t, c.want, Name(c.got, names, c.most), "%q within %d", c.got, c.most)
	}
	require.Empty(t, Name("act", []string(nil), 9))
}

// TestDistance: the band gives what the whole table gives.
func TestDistance(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("abAc")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		limit := rapid.IntRange(1, 14).Draw(t, "limit")
		want := plain(strings.ToLower(a), strings.ToLower(b))
		require.Equal(t, min(want, limit), distance(a, b, limit))
		require.Equal(t, min(want, limit), distance(b, a, limit), "the other way round")
	})
}

// TestLong: two long texts that begin alike are not compared in full.
func TestLong(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	require.Equal(t, long+"b", Name(long, []string{long + "b"}, 2))
	require.Empty(t, Name(long, []string{strings.Repeat("b", 1<<20)}, 2))
}

// plain is the distance by its definition.
func plain(a, b string) int {
	known := map[[2]int]int{}
	var of func(i, j int) int
	of = func(i, j int) int {
		if i == 0 || j == 0 {
			return i + j
		}
		if d, ok := known[[2]int{i, j}]; ok {
			return d
		}
		d := of(i-1, j-1)
		if a[i-1] != b[j-1] {
			d++
		}
		d = min(d, of(i-1, j)+1, of(i, j-1)+1)
		if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
			d = min(d, of(i-2, j-2)+1)
		}
		known[[2]int{i, j}] = d
		return d
	}
	return of(len(a), len(b))
}
