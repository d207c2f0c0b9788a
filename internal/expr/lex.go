package expr

import (
	"encoding/json"
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
	kind  kind
	from  int      // byte of the source
	text  string   // as spelled, for messages
	op    Operator // of a relation
	path  Path
	value any // of a literal
}

type lexer struct {
	src string
	at  int
}

// next gives the lexeme that follows, or a *SyntaxError.
func (l *lexer) next() (lexeme, error) {
	l.skip(unicode.IsSpace)
	x := lexeme{from: l.at, text: "the end"}
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
	x.text = l.src[x.from:l.at]
	return x, err
}

func letter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

// skip passes over characters and gives them.
func (l *lexer) skip(belongs func(rune) bool) string {
	rest := l.src[l.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return !belongs(r) })
	if n < 0 {
		n = len(rest)
	}
	l.at += n
	return rest[:n]
}

// name reads one name of a path; empty if none begins here.
func (l *lexer) name() string {
	if r, _ := utf8.DecodeRuneInString(l.src[l.at:]); !letter(r) {
		return ""
	}
	return l.skip(func(r rune) bool { return letter(r) || unicode.IsDigit(r) || unicode.IsMark(r) })
}

// word reads a path, or a word of the language, which is one without dots.
func (l *lexer) word(x *lexeme) error {
	x.kind, x.path = path, Path{l.name()}
	for strings.HasPrefix(l.src[l.at:], ".") {
		l.at++
		n := l.name()
		if n == "" {
			return fault(l.src, l.at, "want a name after the dot: elements of lists have no path")
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
		if c == quote {
			l.at = i + 1
			x.kind, x.value = literal, b.String()
			return nil
		}
		if c == '\\' && i+1 < len(l.src) {
			i++
			if c = l.src[i]; c != '\\' && c != '\'' && c != '"' {
				return fault(l.src, i-1, `a backslash stands before a quote or a backslash only: write \\ for one`)
			}
		}
		b.WriteByte(c)
	}
	return fault(l.src, l.at, "the string is not terminated: add %c at its end", quote)
}

// number reads a number in JSON's form.
func (l *lexer) number(x *lexeme) error {
	s := l.skip(func(r rune) bool {
		return digit(r) || strings.ContainsRune("+-._", r) || r|' ' >= 'a' && r|' ' <= 'z'
	})
	if !json.Valid([]byte(s)) {
		return fault(l.src, x.from, "%.40s is not a number, such as -1, 0.5 or 2e3, and there is no arithmetic", s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fault(l.src, x.from, "the number %.40s is out of range", s)
	}
	if !strings.ContainsAny(s, ".eE") && strconv.FormatFloat(v, 'f', -1, 64) != s {
		return fault(l.src, x.from, "the number %.40s has more digits than a JSON number keeps: compare a string", s)
	}
	x.kind, x.value = literal, v+0 // -0 is 0
	return nil
}
