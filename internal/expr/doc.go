// Package expr is the one predicate language of PULSE (C-058): emit conditions,
// trigger conditions, event filters, guards and refinements are written in it.
//
//	status in ['success', 'failure'] && !(confidence < 0.5)
//
// A condition compares paths and literals (<= ≤ >= ≥ < > == !=), asks for
// membership in a list of literals (in), and joins such atoms by && ∧ and, by
// || ∨ or, by ! ¬ not, and by parentheses. Negation applies to the comparison or
// group that follows it and binds tighter than conjunction, which binds tighter
// than disjunction. A path is names joined by dots; a literal is a JSON number,
// true, false, null, or a string in single or double quotes, in which a
// backslash stands before a quote or a backslash and nowhere else. A list holds
// literals. There are no calls and no arithmetic, a path or a literal alone is not
// a condition, nor is a comparison of two literals.
//
// # Truth
//
// Logic has two values, so De Morgan's laws hold and !!x is x. What that means
// for a path that the environment lacks: every comparison with it is false, !=
// and in among them, and the negation of such a comparison is true. Hence
// x != 1 demands an x, and !(x == 1) does not.
//
// Numbers compare with numbers, strings with strings by their bytes, and
// booleans with booleans by == and != only. null equals null and differs from
// every other value there is, objects and lists included; nothing else can be
// asked of an object or a list. Any other pairing of types is false, != too.
//
// Parsing and evaluating take time linear in the source, within [MaxSize] and
// [MaxDepth].
package expr
