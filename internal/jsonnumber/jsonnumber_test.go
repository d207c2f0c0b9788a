package jsonnumber_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

func TestLen(t *testing.T) {
	for text, want := range map[string]int{
		"0": 1, "-0": 2, "12": 2, "1.50": 4, "1e9": 3, "1E+09": 5, "-1.5e-3": 7,
		"01": 1, "1 ": 1, "1,2": 1, "0x1": 1,
		"": 0, "-": 0, "+1": 0, ".5": 0, "1.": 0, "1.e1": 0, "1e": 0, "1e+": 0, "NaN": 0, " 1": 0,
	} {
		require.Equal(t, want, jsonnumber.Len(text), "%q", text)
		require.Equal(t, want, jsonnumber.Len([]byte(text)), "%q as bytes", text)
	}
}

// TestValid holds Valid against encoding/json.
func TestValid(t *testing.T) {
	near := rapid.StringOfN(rapid.RuneFrom([]rune("01.eE+-9 x")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		text := near.Draw(t, "text")
		want := json.Valid([]byte(text)) && strings.TrimSpace(text) == text
		require.Equal(t, want, jsonnumber.Valid(text), "%q", text)
	})
}
