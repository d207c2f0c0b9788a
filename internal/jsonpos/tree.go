package jsonpos

import (
	"encoding/json"
	"iter"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	Array
	Object
)

// String names the kind in a sentence.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	default:
		return "nothing"
	}
}

// node is a value or a member name. The nodes of a container follow it; next is
// the index after the last of them.
type node struct {
	kind Kind
	pos  int32
	next int32
	text string
}

// Tree is a document: its text and its values, in order. It does not change.
type Tree struct {
	source string
	nodes  []node
}

// Root gives the document's value.
func (t *Tree) Root() Value { return Value{t, 0} }

// Source gives the text.
func (t *Tree) Source() string { return t.source }

// Value is a value in a tree, or the name of a member. The zero Value is none.
type Value struct {
	tree *Tree
	i    int32
}

func (v Value) node() *node { return &v.tree.nodes[v.i] }

// Kind gives the kind of the value.
func (v Value) Kind() Kind { return v.node().kind }

// Text gives the content of a string, or the literal of a number, boolean or null.
func (v Value) Text() string { return v.node().text }

// Pos gives the offset of the value's first byte.
func (v Value) Pos() int { return int(v.node().pos) }

// Len gives the number of nodes under a container: no less than its elements, and
// twice its members.
func (v Value) Len() int { return int(v.node().next - v.i - 1) }

// Elements gives the elements of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		end := v.node().next
		for i := v.i + 1; i < end; i = v.tree.nodes[i].next {
			if !yield(Value{v.tree, i}) {
				return
			}
		}
	}
}

// Members gives the names and values of an object, in order.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		end := v.node().next
		for i := v.i + 1; i < end; i = v.tree.nodes[i+1].next {
			if !yield(Value{v.tree, i}, Value{v.tree, i + 1}) {
				return
			}
		}
	}
}

// Any gives the value as encoding/json does, with numbers as [json.Number].
func (v Value) Any() any {
	switch n := v.node(); n.kind {
	case Bool:
		return n.text == "true"
	case Number:
		return json.Number(n.text)
	case String:
		return n.text
	case Array:
		list := make([]any, 0, 4)
		for e := range v.Elements() {
			list = append(list, e.Any())
		}
		return list
	case Object:
		members := make(map[string]any, v.Len()/2)
		for name, e := range v.Members() {
			members[name.Text()] = e.Any()
		}
		return members
	default:
		return nil
	}
}

// AppendJSON appends the value in compact JSON, its members in order and its
// numbers as they were written.
func (v Value) AppendJSON(dst []byte) []byte {
	switch n := v.node(); n.kind {
	case String:
		return AppendString(dst, n.text)
	case Array:
		dst = append(dst, '[')
		for e := range v.Elements() {
			dst = e.AppendJSON(separate(dst, '['))
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for name, e := range v.Members() {
			dst = append(AppendString(separate(dst, '{'), name.Text()), ':')
			dst = e.AppendJSON(dst)
		}
		return append(dst, '}')
	default:
		return append(dst, n.text...)
	}
}

func separate(dst []byte, open byte) []byte {
	if dst[len(dst)-1] == open {
		return dst
	}
	return append(dst, ',')
}

const hex = "0123456789abcdef"

// AppendString appends a JSON string that escapes only what must be.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
