package jsonpos

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

// Parse reads a text that holds one JSON value. The tree is nil if a fault kept
// it from being read to the end; faults are in order of their place.
func Parse(data []byte) (*Tree, []Fault) {
	if len(data) > MaxSize {
		return nil, []Fault{{Code: TooLarge, Problem: "the document is larger than 2 GB; split it"}}
	}
	p := &parser{s: string(data)}
	p.b = NewBuilder(p.s)
	if pos := invalidUTF8(p.s); pos >= 0 {
		p.b.Fault(Encoding, pos, "this is no valid UTF-8; save the document as UTF-8")
		return nil, p.b.Faults()
	}
	if !p.document() {
		return nil, p.b.Faults()
	}
	return p.b.Tree(), p.b.Faults()
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// parser reads with a stack of its own, the builder's, so that depth costs no
// stack.
type parser struct {
	s     string
	i     int
	fresh bool // the innermost container was just opened
	b     *Builder
}

func (p *parser) fail(code Code, pos int, format string, args ...any) bool {
	p.b.Fault(code, pos, fmt.Sprintf(format, args...))
	return false
}

func (p *parser) document() bool {
	if strings.HasPrefix(p.s, "\ufeff") {
		return p.fail(Encoding, 0, "the document begins with a byte order mark; save it without one")
	}
	if !p.value() {
		return false
	}
	for len(p.b.open) > 0 {
		if !p.step() {
			return false
		}
	}
	if !p.space() {
		return false
	}
	if p.i < len(p.s) {
		return p.fail(TrailingData, p.i, "the document has ended before this; remove what follows, or put a second document into a file of its own")
	}
	return true
}

// step reads what follows an opening bracket or a value in a container: the
// bracket that closes it, or the next element.
func (p *parser) step() bool {
	if !p.space() {
		return false
	}
	inside, closing := p.b.inside(), byte(']')
	if inside == Object {
		closing = '}'
	}
	switch c := p.peek(); {
	case c == closing:
		return p.close()
	case p.fresh:
	case c == ',':
		comma := p.i
		p.i++
		if !p.space() {
			return false
		}
		if p.peek() == closing {
			p.b.Fault(TrailingComma, comma, "a comma stands before the closing bracket; remove it")
			return p.close()
		}
	case p.i == len(p.s):
		return p.ended(inside)
	default:
		return p.fail(Syntax, p.i, "expected , or %c here, got %s", closing, p.here())
	}
	if inside == Object && !p.name() {
		return false
	}
	return p.value()
}

func (p *parser) close() bool {
	p.i++
	p.fresh = false
	p.b.Close()
	return true
}

func (p *parser) ended(inside Kind) bool {
	return p.fail(Syntax, p.i, "the document ends within %v; close it", inside)
}

func (p *parser) name() bool {
	pos := p.i
	switch {
	case pos == len(p.s):
		return p.ended(Object)
	case p.s[pos] != '"':
		return p.fail(Syntax, pos, "expected the name of a member in double quotes, got %s", p.here())
	}
	text, ok := p.text()
	if !ok {
		return false
	}
	p.b.Name(text, pos)
	if !p.space() {
		return false
	}
	if p.peek() != ':' {
		return p.fail(Syntax, p.i, "expected : after the name %s, got %s", quote(text), p.here())
	}
	p.i++
	return true
}

func (p *parser) value() bool {
	if !p.space() {
		return false
	}
	pos := p.i
	switch c := p.peek(); {
	case c == '{' || c == '[':
		kind := Array
		if c == '{' {
			kind = Object
		}
		p.i++
		p.fresh = true
		return p.b.Open(kind, pos)
	case c == '"':
		text, ok := p.text()
		if !ok {
			return false
		}
		p.b.Scalar(String, text, pos)
	case c == '-' || c == '+' || '0' <= c && c <= '9':
		return p.number()
	default:
		return p.literal()
	}
	p.fresh = false
	return true
}

func (p *parser) literal() bool {
	rest := p.s[p.i:]
	for _, l := range []struct {
		text string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(rest, l.text) && !continues(rest[len(l.text):]) {
			p.b.Scalar(l.kind, l.text, p.i)
			p.i += len(l.text)
			p.fresh = false
			return true
		}
	}
	if rest == "" {
		return p.fail(Syntax, p.i, "the document ends where a value is expected")
	}
	return p.fail(Syntax, p.i, "expected a value, got %s; strings stand in double quotes, and the only words are true, false and null", p.here())
}

// number reads a number. A plus sign is reported and left out; it may stand in
// the exponent.
func (p *parser) number() bool {
	if p.s[p.i] == '+' {
		p.b.Fault(Plus, p.i, "a JSON number has no plus sign; remove it")
		p.i++
	}
	pos, end := p.i, jsonnumber.Len(p.s[p.i:])
	if end == 0 || continues(p.s[pos+end:]) {
		return p.fail(Syntax, pos, "%s is no JSON number; write digits, with a minus sign, fraction or exponent if need be, and no leading zero", p.here())
	}
	p.i += end
	p.b.Scalar(Number, p.s[pos:p.i], pos)
	p.fresh = false
	return true
}

// continues tells whether a word or number goes on.
func continues(s string) bool {
	return s != "" && isWord(s[0])
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '.' || c == '+' || c == '-' || c >= utf8.RuneSelf
}

// peek gives the next byte, 0 at the end. A 0 in the text is an error wherever it
// is looked at.
func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// here describes what stands at the current place.
func (p *parser) here() string {
	if p.i == len(p.s) {
		return "the end of the document"
	}
	end := p.i
	for end < len(p.s) && end-p.i < 60 && isWord(p.s[end]) {
		end++
	}
	if end == p.i {
		end++
	}
	return quote(strings.ToValidUTF8(p.s[p.i:end], ""))
}

// space skips white space and comments, which it reports.
func (p *parser) space() bool {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		case '/':
			if !p.comment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func (p *parser) comment() bool {
	pos, rest := p.i, p.s[p.i:]
	length := -1
	switch {
	case strings.HasPrefix(rest, "//"):
		if length = strings.IndexByte(rest, '\n'); length < 0 {
			length = len(rest)
		}
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			length = end + 4
		}
	default:
		return p.fail(Syntax, pos, "expected no / here; remove it")
	}
	if length < 0 {
		return p.fail(Comment, pos, "JSON has no comments, and this one has no end; remove it")
	}
	p.b.Fault(Comment, pos, "JSON has no comments; remove it")
	p.i += length
	return true
}
