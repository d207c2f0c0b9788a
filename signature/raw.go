package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
)

// CanonicalJSON gives the RFC 8785 form of a JSON text, or an [*Error]. The
// result has a canonical form of its own: itself.
func CanonicalJSON(raw []byte) ([]byte, error) {
	s := newState()
	defer s.free()
	s.begin(s.buf)
	if err := s.finish(s.raw(raw)); err != nil {
		return nil, err
	}
	return bytes.Clone(s.buf), nil
}

// raw encodes a JSON text found in a value. The reference reads it only when
// it is known to be sound.
func (s *state) raw(text []byte) *fault {
	if len(text) > MaxSize {
		return refuse(fmt.Errorf("raw JSON: %w of %d bytes", ErrSize, MaxSize))
	}
	c := checker{text: text, depth: s.depth}
	if f := c.document(); f != nil {
		return f
	}
	canonical, err := jcs.Transform(text)
	if err != nil {
		return refuse(fmt.Errorf("%w: %w", ErrSyntax, err))
	}
	s.buf = append(s.buf, canonical...)
	return nil
}

// checker reads a JSON text (RFC 8259) and finds what the package refuses. Its
// recursion is bounded by MaxDepth.
type checker struct {
	text  []byte
	pos   int
	depth int
}

func (c *checker) document() *fault {
	c.space()
	if f := c.value(); f != nil {
		return f
	}
	c.space()
	if c.pos < len(c.text) {
		return c.unexpected("the end")
	}
	return nil
}

// unexpected refuses what stands at the current position.
func (c *checker) unexpected(want string) *fault {
	if c.pos >= len(c.text) {
		return refuse(fmt.Errorf("%w: it ends where %s should be", ErrSyntax, want))
	}
	return refuse(fmt.Errorf("%w: %q at offset %d, want %s", ErrSyntax, c.text[c.pos], c.pos, want))
}

// peek gives the byte at the current position, 0 at the end.
func (c *checker) peek() byte {
	if c.pos < len(c.text) {
		return c.text[c.pos]
	}
	return 0
}

// take goes past b, if it is next.
func (c *checker) take(b byte) bool {
	if c.pos < len(c.text) && c.text[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *checker) space() {
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *checker) value() *fault {
	switch b := c.peek(); b {
	case '{':
		return c.nested(c.object)
	case '[':
		return c.nested(c.array)
	case '"':
		_, f := c.string()
		return f
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	}
	return c.number()
}

// nested reads an array or object, whose first byte is next.
func (c *checker) nested(read func() *fault) *fault {
	c.depth++
	if c.depth > MaxDepth {
		return tooDeep()
	}
	c.pos++
	f := read()
	c.depth--
	return f
}

func (c *checker) array() *fault {
	c.space()
	if c.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		c.space()
		if f := c.value(); f != nil {
			return f.under(itoa(i))
		}
		c.space()
		if c.take(']') {
			return nil
		}
		if !c.take(',') {
			return c.unexpected("a comma or ]").under(itoa(i))
		}
	}
}

func (c *checker) object() *fault {
	c.space()
	if c.take('}') {
		return nil
	}
	var seen names
	for {
		c.space()
		if c.peek() != '"' {
			return c.unexpected("a member name")
		}
		name, f := c.name()
		if f != nil {
			return f
		}
		if !seen.add(name) {
			return refuse(ErrDuplicateKey).under(name)
		}
		if f := c.member(); f != nil {
			return f.under(name)
		}
		if c.take('}') {
			return nil
		}
		if !c.take(',') {
			return c.unexpected("a comma or }").under(name)
		}
	}
}

// member reads what follows a member name.
func (c *checker) member() *fault {
	c.space()
	if !c.take(':') {
		return c.unexpected("a colon")
	}
	c.space()
	if f := c.value(); f != nil {
		return f
	}
	c.space()
	return nil
}

// names is the set of member names of an object. Most objects are small.
type names struct {
	few  []string
	many map[string]bool
}

// add reports whether the name is new.
func (n *names) add(name string) bool {
	const fewest = 16
	if n.many == nil && len(n.few) < fewest {
		for _, other := range n.few {
			if other == name {
				return false
			}
		}
		n.few = append(n.few, name)
		return true
	}
	if n.many == nil {
		n.many = make(map[string]bool, 2*fewest)
		for _, other := range n.few {
			n.many[other] = true
		}
	}
	if n.many[name] {
		return false
	}
	n.many[name] = true
	return true
}

func (c *checker) literal(want string) *fault {
	end := min(c.pos+len(want), len(c.text))
	if string(c.text[c.pos:end]) != want {
		return c.unexpected("a JSON value")
	}
	c.pos = end
	return nil
}

func (c *checker) number() *fault {
	n := jsonnumber.Len(c.text[c.pos:])
	if n == 0 {
		return c.unexpected("a JSON value")
	}
	if _, f := double(string(c.text[c.pos : c.pos+n])); f != nil {
		return f
	}
	c.pos += n
	return nil
}

// name reads a member name.
func (c *checker) name() (string, *fault) {
	start := c.pos
	escaped, f := c.string()
	if f != nil {
		return "", f
	}
	quoted := c.text[start:c.pos]
	if !escaped {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var name string
	if err := json.Unmarshal(quoted, &name); err != nil {
		return "", refuse(fmt.Errorf("%w: %w", ErrSyntax, err))
	}
	return name, nil
}

// string goes past a string and reports whether it has escapes.
func (c *checker) string() (escaped bool, f *fault) {
	c.pos++
	for c.pos < len(c.text) {
		b := c.text[c.pos]
		switch {
		case b == '"':
			c.pos++
			return escaped, nil
		case b == '\\':
			escaped = true
			if f := c.escape(); f != nil {
				return escaped, f
			}
		case b < 0x20:
			return escaped, c.unexpected("an escape in its place")
		case b < utf8.RuneSelf:
			c.pos++
		default:
			r, size := utf8.DecodeRune(c.text[c.pos:])
			if r == utf8.RuneError && size == 1 {
				return escaped, refuse(fmt.Errorf("byte %#x at offset %d: %w", b, c.pos, ErrInvalidUTF8))
			}
			c.pos += size
		}
	}
	return escaped, c.unexpected("a quote")
}

// escape goes past an escape, or past the two that make a surrogate pair.
func (c *checker) escape() *fault {
	start := c.pos
	c.pos++
	switch c.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.pos++
		return nil
	case 'u':
	default:
		return c.unexpected("an escape")
	}
	unit, f := c.unit()
	if f != nil || !isHigh(unit) && !isLow(unit) {
		return f
	}
	if isHigh(unit) && c.take('\\') && c.peek() == 'u' {
		low, f := c.unit()
		if f != nil {
			return f
		}
		if isLow(low) {
			return nil
		}
	}
	return refuse(fmt.Errorf("lone surrogate at offset %d: %w", start, ErrInvalidUTF8))
}

func isHigh(unit rune) bool { return 0xD800 <= unit && unit < 0xDC00 }
func isLow(unit rune) bool  { return 0xDC00 <= unit && unit < 0xE000 }

// unit reads a u and four hexadecimal digits.
func (c *checker) unit() (rune, *fault) {
	c.pos++
	var unit rune
	for range 4 {
		b := c.peek()
		switch {
		case '0' <= b && b <= '9':
			unit = unit<<4 | rune(b-'0')
		case 'a' <= b && b <= 'f':
			unit = unit<<4 | rune(b-'a'+10)
		case 'A' <= b && b <= 'F':
			unit = unit<<4 | rune(b-'A'+10)
		default:
			return 0, c.unexpected("a hexadecimal digit")
		}
		c.pos++
	}
	return unit, nil
}
