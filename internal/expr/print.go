package expr

import (
	"encoding/json"
	"strings"
)

// String gives the canonical form: ASCII operators, single quotes, and
// parentheses where the tree needs them and around what is negated. Parsing it
// gives an equal tree; a nil Expr gives the empty string.
func (e *Expr) String() string {
	var b strings.Builder
	write(&b, e.Root())
	return b.String()
}

func write(b *strings.Builder, n Node) {
	switch n := n.(type) {
	case And:
		for i, t := range n.Terms {
			separate(b, i, " && ")
			if _, ok := t.(Or); ok {
				group(b, t)
			} else {
				write(b, t)
			}
		}
	case Or:
		for i, t := range n.Terms {
			separate(b, i, " || ")
			write(b, t)
		}
	case Not:
		b.WriteByte('!')
		group(b, n.Term)
	case Compare:
		write(b, n.Left)
		b.WriteString(" " + string(n.Op) + " ")
		write(b, n.Right)
	case In:
		write(b, n.Path)
		b.WriteString(" in [")
		for i, l := range n.List {
			separate(b, i, ", ")
			write(b, l)
		}
		b.WriteByte(']')
	case Path:
		b.WriteString(strings.Join(n, "."))
	case Literal:
		b.WriteString(n.spell())
	}
}

func separate(b *strings.Builder, i int, by string) {
	if i > 0 {
		b.WriteString(by)
	}
}

func group(b *strings.Builder, n Node) {
	b.WriteByte('(')
	write(b, n)
	b.WriteByte(')')
}

var escaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func (l Literal) spell() string {
	if s, ok := l.Value.(string); ok {
		return "'" + escaper.Replace(s) + "'"
	}
	b, _ := json.Marshal(l.Value) // nil, a bool or finite
	return string(b)
}
