package expr

import (
	"strings"
	"unicode/utf8"
)

// signs are the operators and brackets. A longer one stands before its
// beginnings.
var signs = [...]struct {
	spelling string
	kind     kind
	op       Operator
}{
	{"==", relation, Equal},
	{"!=", relation, NotEqual},
	{"<=", relation, LessOrEqual},
	{"≤", relation, LessOrEqual},
	{">=", relation, GreaterOrEqual},
	{"≥", relation, GreaterOrEqual},
	{"<", relation, Less},
	{">", relation, Greater},
	{"&&", conjunction, ""},
	{"∧", conjunction, ""},
	{"||", disjunction, ""},
	{"∨", disjunction, ""},
	{"!", negation, ""},
	{"¬", negation, ""},
	{"(", openGroup, ""},
	{")", closeGroup, ""},
	{"[", openList, ""},
	{"]", closeList, ""},
	{",", comma, ""},
}

// slip is a sign that is taken for one of the language.
type slip struct{ spelling, cure string }

// joined begin like signs, and single are characters; they are looked up before
// and after the signs.
var (
	joined = [...]slip{{"===", "write =="}, {"!==", "write !="}, {"=<", "write <="}, {"=>", "write >="}, {"<>", "write !="}}
	single = [...]slip{
		{"=＝", "write =="}, {"≠", "write !="}, {"≦⩽", "write <="}, {"≧⩾", "write >="},
		{"&", "write &&"}, {"|", "write ||"}, {"~", "write !"}, {"∈", "write in"},
		{"‘’‚`", "write a straight quote '"}, {"“”„«»", `write a straight quote "`},
		{"−–", "write - before the digits of a negative number"},
		{"+*/%^", "there is no arithmetic"},
		{"{}", "lists are written [...]"},
		{".", "a path begins with a name, a number with a digit"},
	}
)

// sign reads an operator or bracket.
func (l *lexer) sign(x *lexeme) error {
	rest := l.src[l.at:]
	for _, s := range joined {
		if strings.HasPrefix(rest, s.spelling) {
			return fault(l.src, l.at, "%s is no sign of the language: %s", s.spelling, s.cure)
		}
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s.spelling) {
			x.kind, x.op = s.kind, s.op
			l.at += len(s.spelling)
			return nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	for _, s := range single {
		if strings.ContainsRune(s.spelling, r) {
			return fault(l.src, l.at, "%c is no sign of the language: %s", r, s.cure)
		}
	}
	return fault(l.src, l.at, "%+q is no sign of the language: remove it", r)
}
