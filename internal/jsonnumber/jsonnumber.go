// Package jsonnumber recognizes the numbers of JSON (RFC 8259 §6), which are fewer
// than those that strconv reads: no plus sign, no leading zeros, no bare point.
package jsonnumber

// Valid reports whether all of a text is a number.
func Valid[T string | []byte](text T) bool { return len(text) != 0 && Len(text) == len(text) }

// Len gives the length in bytes of the number that a text begins with, 0 if it
// begins with none, be it cut short.
func Len[T string | []byte](text T) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}
