package jsonpos

import "slices"

// Limits of a document.
const (
	MaxDepth = 200       // containers in containers
	MaxSize  = 1<<31 - 2 // bytes
)

// Code says what kind of fault a [Fault] is.
type Code string

// The kinds of faults.
const (
	Syntax        Code = "syntax"
	Comment       Code = "comment"
	Plus          Code = "plus-sign"
	TrailingComma Code = "trailing-comma"
	TrailingData  Code = "trailing-data"
	Duplicate     Code = "duplicate-member"
	Depth         Code = "too-deep"
	Encoding      Code = "encoding"
	TooLarge      Code = "too-large"
)

// Fault is one thing that keeps a text from being a document.
type Fault struct {
	Code    Code
	Pos     int    // byte offset
	Problem string // what is wrong, and the cure
}

// Builder makes a tree from values given in document order. Every name must be
// followed by a value, every container closed, and one value be given in all.
type Builder struct {
	tree   Tree
	open   []int32
	faults []Fault
}

// NewBuilder starts a tree over a text.
func NewBuilder(source string) *Builder {
	// A value takes a dozen bytes, as manifests go; growing would cost more.
	return &Builder{tree: Tree{source: source, nodes: make([]node, 0, len(source)/12+8)}}
}

// Scalar adds a string, or a literal as JSON writes it.
func (b *Builder) Scalar(kind Kind, text string, pos int) {
	n := int32(len(b.tree.nodes))
	b.tree.nodes = append(b.tree.nodes, node{kind: kind, pos: int32(pos), next: n + 1, text: text})
}

// Name adds the name of the next member.
func (b *Builder) Name(text string, pos int) { b.Scalar(String, text, pos) }

// Open begins an array or object. It reports false, and adds a fault, if that
// would nest too deep.
func (b *Builder) Open(kind Kind, pos int) bool {
	if len(b.open) == MaxDepth {
		b.Fault(Depth, pos, "values are nested more than 200 deep; flatten the document")
		return false
	}
	b.open = append(b.open, int32(len(b.tree.nodes)))
	b.tree.nodes = append(b.tree.nodes, node{kind: kind, pos: int32(pos)})
	return true
}

// Close ends the innermost array or object, and reports duplicate names in it.
func (b *Builder) Close() {
	i := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.tree.nodes[i].next = int32(len(b.tree.nodes))
	if b.tree.nodes[i].kind == Object {
		b.duplicates(Value{&b.tree, i})
	}
}

// Fault adds a fault.
func (b *Builder) Fault(code Code, pos int, problem string) {
	b.faults = append(b.faults, Fault{Code: code, Pos: pos, Problem: problem})
}

// Tree gives the tree. It is to be used only if the values given made up a whole
// document.
func (b *Builder) Tree() *Tree { return &b.tree }

// Faults gives the faults in order of their place.
func (b *Builder) Faults() []Fault {
	slices.SortStableFunc(b.faults, func(x, y Fault) int { return x.Pos - y.Pos })
	return b.faults
}

func (b *Builder) inside() Kind {
	return b.tree.nodes[b.open[len(b.open)-1]].kind
}

// fewMembers is up to how many members comparing all pairs beats a map.
const fewMembers = 24

func (b *Builder) duplicates(object Value) {
	if object.Len() > 2*fewMembers {
		b.manyDuplicates(object)
		return
	}
	var names [fewMembers]string
	n := 0
	for name := range object.Members() {
		if n == fewMembers {
			b.manyDuplicates(object)
			return
		}
		for _, earlier := range names[:n] {
			if earlier == name.Text() {
				b.duplicate(name)
				break
			}
		}
		names[n] = name.Text()
		n++
	}
}

func (b *Builder) manyDuplicates(object Value) {
	seen := make(map[string]struct{}, min(object.Len()/2, 1024))
	for name := range object.Members() {
		if _, ok := seen[name.Text()]; ok {
			b.duplicate(name)
		}
		seen[name.Text()] = struct{}{}
	}
}

func (b *Builder) duplicate(name Value) {
	b.Fault(Duplicate, name.Pos(), "the member "+quote(name.Text())+" stands here twice; keep one")
}

// quote quotes a text for a message, shortened if it is long.
func quote(s string) string {
	const most = 60
	if len(s) <= most {
		return string(AppendString(nil, s))
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not within a character
		cut--
	}
	return string(AppendString(nil, s[:cut]+"…"))
}
