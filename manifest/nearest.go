package manifest

import (
	"strings"

	"github.com/opensentience/pulse-go/internal/near"
)

// suggester finds the name that was likely meant. Its budget bounds the work in a
// document with many faults and many names; beyond it nothing is suggested.
type suggester struct{ budget int }

const suggestBudget = 2_000_000 // compared bytes

// didYouMean gives "; did you mean …?", or nothing if no name is near enough.
func (s *suggester) didYouMean(got string, names []string) string {
	for _, name := range names {
		if s.budget -= len(got) * len(name); s.budget < 0 {
			return ""
		}
		if strings.HasPrefix(name, got) && len(got) >= 4 { // a name cut short
			return "; did you mean " + shorten(name) + "?"
		}
	}
	if meant := near.Name(got, names, max(1, len(got)/3)); meant != "" {
		return "; did you mean " + shorten(meant) + "?"
	}
	return ""
}
