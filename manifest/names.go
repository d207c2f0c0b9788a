package manifest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The forms of names, written out rather than as regular expressions: they run
// for every member of every phase.

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLoopID: at least two labels of [a-z0-9_-] joined by dots, a letter first (C-032).
func isLoopID(s string) bool {
	if s == "" || !isLower(s[0]) {
		return false
	}
	labels := 0
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || !allBytes(label, func(c byte) bool { return isLower(c) || isDigit(c) || c == '_' || c == '-' }) {
			return false
		}
		labels++
	}
	return labels >= 2
}

// isPhaseID: [a-z0-9_]+ (C-032).
func isPhaseID(s string) bool {
	return s != "" && allBytes(s, func(c byte) bool { return isLower(c) || isDigit(c) || c == '_' })
}

// isSchemaName: a type name without white space or brackets, and an optional []
// (C-021).
func isSchemaName(s string) bool {
	name := strings.TrimSuffix(s, "[]")
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '[' || r == ']' || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// isSignature: name(field, …) (C-027).
func isSignature(s string) bool {
	name, rest, ok := strings.Cut(s, "(")
	fields, end, closed := strings.Cut(rest, ")")
	if !ok || !closed || end != "" || !isPath(name) {
		return false
	}
	if strings.Trim(fields, " ") == "" {
		return true
	}
	for field := range strings.SplitSeq(fields, ",") {
		if !isPath(strings.Trim(field, " ")) {
			return false
		}
	}
	return true
}

// isPath: identifiers joined by dots.
func isPath(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || isDigit(part[0]) || !allBytes(part, func(c byte) bool {
			return isLower(c|0x20) || isDigit(c) || c == '_'
		}) {
			return false
		}
	}
	return true
}

// isVersion: a semantic version, MAJOR.MINOR.PATCH with optional pre-release and
// build parts.
func isVersion(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	s, pre, hasPre := strings.Cut(s, "-")
	if hasBuild && !areIdentifiers(build, false) || hasPre && !areIdentifiers(pre, true) {
		return false
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts {
		if !isNumber(part) {
			return false
		}
	}
	return true
}

func areIdentifiers(s string, ordered bool) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || !allBytes(part, func(c byte) bool { return isLower(c|0x20) || isDigit(c) || c == '-' }) {
			return false
		}
		if ordered && allBytes(part, isDigit) && !isNumber(part) { // numbers are ordered, so 01 is none
			return false
		}
	}
	return true
}

func isNumber(s string) bool {
	return s != "" && allBytes(s, isDigit) && (len(s) == 1 || s[0] != '0')
}

func allBytes(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// shorten quotes a text for a message, cut if it is long.
func shorten(s string) string { return `"` + clip(s) + `"` }

func clip(s string) string {
	const most = 80
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.Map(printable, s)
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '\uFFFD'
}
