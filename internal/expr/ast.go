package expr

import "slices"

// Node is a part of an expression: [And], [Or], [Not], [Compare], [In], and as
// operands of the last two [Path] and [Literal].
type Node interface{ node() }

// Operand is what an atom compares: a [Path] or a [Literal].
type Operand interface {
	Node
	operand()
}

// And holds when all its terms do. It has at least two, none of them an And.
type And struct{ Terms []Node }

// Or holds when one of its terms does. It has at least two, none of them an Or.
type Or struct{ Terms []Node }

// Not holds when its term does not. The term is never a Not.
type Not struct{ Term Node }

// Compare holds when both operands are there, their types compare, and the
// relation holds between them. At most one of them is a literal.
type Compare struct {
	Left  Operand
	Op    Operator
	Right Operand
}

// In holds when the path is there and its value equals an element of the list,
// which has at least one.
type In struct {
	Path Path
	List []Literal
}

// Path names a value of the environment: topology.max_kappa is
// {"topology", "max_kappa"}.
type Path []string

// Literal is a value in the source: nil, bool, float64 (finite) or string.
type Literal struct{ Value any }

func (And) node()     {}
func (Or) node()      {}
func (Not) node()     {}
func (Compare) node() {}
func (In) node()      {}
func (Path) node()    {}
func (Literal) node() {}

func (Path) operand()    {}
func (Literal) operand() {}

// Operator is a relation between two operands, in its canonical spelling.
type Operator string

// The relations.
const (
	Equal          Operator = "=="
	NotEqual       Operator = "!="
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
)

// Expr is a parsed condition. It does not change and may be shared.
type Expr struct{ root Node }

// Root gives the tree, which is not to be changed; nil for a nil Expr.
func (e *Expr) Root() Node {
	if e == nil {
		return nil
	}
	return e.root
}

// Paths gives the paths that the expression reads, sorted, each once.
func (e *Expr) Paths() [][]string {
	var paths [][]string
	each(e.Root(), func(p Path) { paths = append(paths, slices.Clone(p)) })
	slices.SortFunc(paths, slices.Compare)
	return slices.CompactFunc(paths, slices.Equal)
}

// Aliases gives the names that stand for another field (C-059), sorted, each
// once: kappa and outcome, at the head of a path or right after topology.
func (e *Expr) Aliases() []string {
	var used []string
	each(e.Root(), func(p Path) {
		if p[0] == topology && len(p) > 1 {
			p = p[1:]
		}
		if _, ok := alias(p[0]); ok {
			used = append(used, p[0])
		}
	})
	slices.Sort(used)
	return slices.Compact(used)
}

// each visits the paths below a node.
func each(n Node, visit func(Path)) {
	switch n := n.(type) {
	case And:
		for _, t := range n.Terms {
			each(t, visit)
		}
	case Or:
		for _, t := range n.Terms {
			each(t, visit)
		}
	case Not:
		each(n.Term, visit)
	case Compare:
		each(n.Left, visit)
		each(n.Right, visit)
	case In:
		visit(n.Path)
	case Path:
		visit(n)
	}
}
