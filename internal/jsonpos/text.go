package jsonpos

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. Without escapes it is a part of the source.
func (p *parser) text() (string, bool) {
	start := p.i + 1
	i := start
	for i < len(p.s) {
		switch c := p.s[i]; {
		case c == '"':
			p.i = i + 1
			return p.s[start:i], true
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			return "", p.control(i)
		default:
			i++
		}
	}
	return "", p.fail(Syntax, p.i, "the string that begins here has no end; close it with a double quote")
}

func (p *parser) control(pos int) bool {
	return p.fail(Syntax, pos, "a control character stands in a string; write it as an escape such as \\n or \\u%04x", p.s[pos])
}

// escaped reads on a string whose first escape is at i.
func (p *parser) escaped(start, i int) (string, bool) {
	var out strings.Builder
	for from := start; i < len(p.s); {
		switch c := p.s[i]; {
		case c == '"':
			out.WriteString(p.s[from:i])
			p.i = i + 1
			return out.String(), true
		case c == '\\':
			out.WriteString(p.s[from:i])
			r, n := unescape(p.s[i:])
			if n == 0 {
				return "", p.badEscape(i)
			}
			out.WriteRune(r)
			i += n
			from = i
		case c < ' ':
			return "", p.control(i)
		default:
			i++
		}
	}
	return "", p.fail(Syntax, start-1, "the string that begins here has no end; close it with a double quote")
}

func (p *parser) badEscape(pos int) bool {
	if r, ok := hex4(p.s[pos:]); ok && utf16.IsSurrogate(r) {
		return p.fail(Encoding, pos, "half of a surrogate pair stands alone; write the whole pair, or the character itself")
	}
	return p.fail(Syntax, pos, "this is no JSON escape; write \\\\ for a backslash")
}

// unescape reads the escape that s begins with and gives its length, 0 if it is
// none.
func unescape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(s[6:])
	if !ok {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
