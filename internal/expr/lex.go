package expr

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a lexeme is to the parser.
type kind uint8

const (
	end kind = iota
	path
	literal
	relation
	membership
	conjunction
	disjunction
	negation
	openGroup
	closeGroup
	openList
	closeList
	comma
)

// lexeme is a word or sign of the source.
type lexeme struct {
	kind     kind
	from, to int      // bytes of the source
	op       Operator // of a relation
	path     Path
	value    any // of a literal
}

type lexer struct {
	src string
	at  int
}

// next gives the lexeme that follows, or a *SyntaxError.
func (l *lexer) next() (lexeme, error) {
	for l.at < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.at:])
		if !unicode.IsSpace(r) {
			break
		}
		l.at += size
	}
	x := lexeme{from: l.at, to: l.at}
	if l.at == len(l.src) {
		return x, nil
	}
	var err error
	switch r, _ := utf8.DecodeRuneInString(l.src[l.at:]); {
	case letter(r):
		err = l.word(&x)
	case r == '\'' || r == '"':
		err = l.text(&x)
	case digit(r) || r == '-':
		err = l.number(&x)
	default:
		err = l.sign(&x)
	}
	x.to = l.at
	return x, err
}

func letter(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

// name reads one name of a path and leaves the lexer behind it.
func (l *lexer) name() string {
	from := l.at
	for l.at < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.at:])
		if !letter(r) && !(l.at > from && (digit(r) || unicode.IsDigit(r) || unicode.IsMark(r))) {
			break
		}
		l.at += size
	}
	return l.src[from:l.at]
}

// word reads a path, or a word of the language, which is one without dots.
func (l *lexer) word(x *lexeme) error {
	x.kind, x.path = path, Path{l.name()}
	for strings.HasPrefix(l.src[l.at:], ".") {
		l.at++
		n := l.name()
		if n == "" {
			return fault(l.src, l.at, "a name is wanted after the dot; elements of lists have no path")
		}
		x.path = append(x.path, n)
	}
	if len(x.path) > 1 {
		return nil
	}
	switch n := x.path[0]; {
	case keyword(x, n):
		return nil
	case keyword(x, strings.ToLower(n)):
		return fault(l.src, x.from, "%s is no name: the word is written %s", n, strings.ToLower(n))
	case n == "κ":
		return fault(l.src, x.from, "κ is no name: write max_kappa")
	}
	return nil
}

// keyword makes a lexeme a word of the language, if the name is one.
func keyword(x *lexeme, name string) bool {
	switch name {
	case "and":
		x.kind = conjunction
	case "or":
		x.kind = disjunction
	case "not":
		x.kind = negation
	case "in":
		x.kind = membership
	case "null":
		x.kind = literal
	case "true", "false":
		x.kind, x.value = literal, name == "true"
	default:
		return false
	}
	return true
}

// text reads a string.
func (l *lexer) text(x *lexeme) error {
	quote := l.src[l.at]
	var b strings.Builder
	for i := l.at + 1; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case c == quote:
			if !utf8.ValidString(b.String()) {
				return fault(l.src, l.at, "the string is not valid UTF-8")
			}
			l.at = i + 1
			x.kind, x.value = literal, b.String()
			return nil
		case c == '\\':
			i++
			if i == len(l.src) {
				return fault(l.src, l.at, "the string is not terminated: add %c at its end", quote)
			}
			if c = l.src[i]; c != '\\' && c != '\'' && c != '"' {
				return fault(l.src, i-1, `a backslash stands before a quote or a backslash only: write \\ for one`)
			}
		}
		b.WriteByte(c)
	}
	return fault(l.src, l.at, "the string is not terminated: add %c at its end", quote)
}

// exact bounds the whole numbers that float64 tells apart.
const exact = 1 << 53

// number reads a number in JSON's form.
func (l *lexer) number(x *lexeme) error {
	from := l.at
	for l.at++; l.at < len(l.src); l.at++ {
		c := l.src[l.at]
		signed := (c == '-' || c == '+') && (l.src[l.at-1]|' ') == 'e'
		if !digit(rune(c)) && c != '.' && c != '_' && !signed && !(c|' ' >= 'a' && c|' ' <= 'z') {
			break
		}
	}
	s := l.src[from:l.at]
	if s == "-" {
		return fault(l.src, from, "there is no arithmetic, and - stands right before the digits of a number only")
	}
	if !json.Valid([]byte(s)) {
		return fault(l.src, from, "%s is not a number in JSON's form, such as -1, 0.5 or 2e3", clip(s))
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fault(l.src, from, "the number %s is out of range", clip(s))
	}
	if !strings.ContainsAny(s, ".eE") && math.Abs(v) > exact {
		return fault(l.src, from, "the number %s has more digits than a JSON number keeps: compare a string, or write an exponent", clip(s))
	}
	x.kind, x.value = literal, v+0 // -0 is 0
	return nil
}

// clip keeps a message short.
func clip(s string) string {
	r := []rune(s[:min(len(s), 4*40)])
	if len(r) <= 40 && len(s) <= 4*40 {
		return s
	}
	return string(r[:min(len(r), 40)]) + "…"
}
