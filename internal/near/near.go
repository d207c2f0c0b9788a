// Package near finds the name that was likely meant, for the "did you mean …?" of
// an error. Every suggestion of the module comes from here, so that a misspelt
// phase, token and member of a manifest are forgiven alike.
package near

// Name gives the first of the names that are the fewest edits away from got, or ""
// if all of them are more than most edits away. An edit inserts, deletes or
// replaces a byte, or swaps two neighbors; the case of ASCII letters does not
// count. The work for a name is proportional to len(got) times most, and none if
// the lengths alone differ by more than most.
func Name[N ~string](got string, names []N, most int) N {
	best, limit := N(""), most+1
	for _, name := range names {
		if d := distance(got, string(name), limit); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// distance counts the edits that turn a into b. It gives limit for anything from
// limit on, and so looks only at the cells of the table that are fewer than limit
// off the diagonal: one further off costs more than that.
func distance(a, b string, limit int) int {
	if limit <= 0 || max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-limit), min(len(b), i+limit)
		row[from-1] = limit
		if from == 1 {
			row[0] = i
		}
		for j := from; j <= to; j++ {
			cost := 1
			if same(a[i-1], b[j-1]) {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && same(a[i-1], b[j-2]) && same(a[i-2], b[j-1]) {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if to < len(b) {
			row[to+1] = limit
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}

// same reports whether two bytes are equal but for the case of an ASCII letter.
func same(a, b byte) bool { return lower(a) == lower(b) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
