package jsonpos

import (
	"slices"
	"strconv"
	"strings"
)

// Lines turns offsets in a text into lines and columns.
type Lines struct{ starts []int32 }

// NewLines looks through a text for its lines.
func NewLines(source string) *Lines {
	l := &Lines{starts: make([]int32, 1, 64)}
	for i := range len(source) {
		if source[i] == '\n' {
			l.starts = append(l.starts, int32(i+1))
		}
	}
	return l
}

// Position gives the line and column of an offset. Both start at 1; columns count
// bytes, as those of the Go tools do.
func (l *Lines) Position(pos int) (line, column int) {
	line, found := slices.BinarySearch(l.starts, int32(pos))
	if found {
		line++
	}
	return line, pos - int(l.starts[line-1]) + 1
}

// Locator finds the places of values by JSON pointer (RFC 6901). It remembers what
// it has looked through, so that many look-ups cost no more than reading the
// document. It is for one goroutine at a time.
type Locator struct {
	tree     *Tree
	elements map[int32][]int32          // the elements of an array
	members  map[int32]map[string]int32 // the values of an object with many members
}

// Locator makes a locator for the tree.
func (t *Tree) Locator() *Locator {
	return &Locator{tree: t, elements: make(map[int32][]int32), members: make(map[int32]map[string]int32)}
}

// Find gives the offset of the value that the pointer names or, if name is set, of
// the name of the member. Where there is none it gives that of the innermost value
// around it.
func (l *Locator) Find(pointer string, name bool) int {
	at, pos := int32(0), l.tree.nodes[0].pos
	if pointer == "" {
		return int(pos)
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		value, ok := l.child(at, unescapePointer(token))
		if !ok {
			return int(l.tree.nodes[at].pos)
		}
		pos = l.tree.nodes[value].pos
		if name && l.tree.nodes[at].kind == Object {
			pos = l.tree.nodes[value-1].pos
		}
		at = value
	}
	return int(pos)
}

func (l *Locator) child(of int32, token string) (int32, bool) {
	switch v := (Value{l.tree, of}); v.Kind() {
	case Object:
		return l.member(v, token)
	case Array:
		i, err := strconv.Atoi(token)
		if all := l.elementsOf(v); err == nil && 0 <= i && i < len(all) {
			return all[i], true
		}
	}
	return 0, false
}

func (l *Locator) elementsOf(array Value) []int32 {
	all, ok := l.elements[array.i]
	if !ok {
		for e := range array.Elements() {
			all = append(all, e.i)
		}
		l.elements[array.i] = all
	}
	return all
}

func (l *Locator) member(object Value, name string) (int32, bool) {
	if object.Len() <= 2*fewMembers {
		for n, value := range object.Members() {
			if n.Text() == name {
				return value.i, true
			}
		}
		return 0, false
	}
	all, ok := l.members[object.i]
	if !ok {
		all = make(map[string]int32, object.Len()/2)
		for n, value := range object.Members() {
			all[n.Text()] = value.i
		}
		l.members[object.i] = all
	}
	i, ok := all[name]
	return i, ok
}

func unescapePointer(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// AppendPointer appends a token to a JSON pointer.
func AppendPointer(pointer, token string) string {
	if strings.ContainsAny(token, "~/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
	}
	return pointer + "/" + token
}
