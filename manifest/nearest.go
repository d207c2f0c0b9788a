package manifest

import "strings"

// suggester finds the name that was likely meant. Its budget bounds the work in a
// document with many faults and many names; beyond it nothing is suggested.
type suggester struct{ budget int }

const suggestBudget = 2_000_000 // compared bytes

// didYouMean gives "; did you mean …?", or nothing if no name is near enough.
func (s *suggester) didYouMean(got string, names []string) string {
	best, least := "", max(1, len(got)/3)+1
	for _, name := range names {
		if s.budget -= len(got) * len(name); s.budget < 0 {
			return ""
		}
		if strings.HasPrefix(name, got) && len(got) >= 4 { // a name cut short
			return "; did you mean " + shorten(name) + "?"
		}
		if d := distance(got, name, least); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + shorten(best) + "?"
}

// distance counts the insertions, deletions, replacements and swaps of neighbors
// that turn a into b. It gives limit for anything from limit on.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
