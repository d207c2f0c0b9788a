package expr

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Eval says whether the condition holds in an environment. It allocates nothing
// besides what the environment does. A nil Expr is no condition and holds; a nil
// environment lacks every path.
func (e *Expr) Eval(env Env) bool {
	if env == nil {
		env = Map(nil)
	}
	return e.Root() == nil || holds(e.Root(), env)
}

func holds(n Node, env Env) bool {
	switch n := n.(type) {
	case And:
		for _, t := range n.Terms {
			if !holds(t, env) {
				return false
			}
		}
		return true
	case Or:
		for _, t := range n.Terms {
			if holds(t, env) {
				return true
			}
		}
		return false
	case Not:
		return !holds(n.Term, env)
	case Compare:
		left, l := value(n.Left, env)
		right, r := value(n.Right, env)
		return l && r && related(left, n.Op, right)
	case In:
		v, ok := env.Lookup(n.Path)
		return ok && slices.ContainsFunc(n.List, func(l Literal) bool { return related(v, Equal, l.Value) })
	}
	return false
}

func value(o Operand, env Env) (any, bool) {
	switch o := o.(type) {
	case Path:
		return env.Lookup(o)
	case Literal:
		return o.Value, true
	}
	return nil, false
}

// related compares two values that are there.
func related(a any, op Operator, b any) bool {
	if a == nil || b == nil {
		same := a == nil && b == nil
		return op == Equal && same || op == NotEqual && !same
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && op.admits(strings.Compare(a, b))
	case bool:
		b, ok := b.(bool)
		return ok && (op == Equal && a == b || op == NotEqual && a != b)
	}
	x, xok := number(a)
	y, yok := number(b)
	return xok && yok && op.admits(cmp.Compare(x, y))
}

// admits says whether the relation allows an order as cmp.Compare gives it.
func (op Operator) admits(order int) bool {
	switch op {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case LessOrEqual:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterOrEqual:
		return order >= 0
	}
	return false
}

// number gives a numeric value; NaN, which has no order, is none. A host's
// variables are Go values: its int 3 has to equal the literal 3.
func number(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, !math.IsNaN(f)
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), !math.IsNaN(r.Float())
	}
	return 0, false
}
