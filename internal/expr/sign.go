package expr

import (
	"strings"
	"unicode/utf8"
)

// sign is a sign of the language, or one that is taken for it: then it has a
// cure.
type sign struct {
	spelling string
	kind     kind
	op       Operator
	cure     string
}

// signs are tried in this order: a longer one stands before its beginnings.
var signs = [...]sign{
	{"===", end, "", "write =="},
	{"!==", end, "", "write !="},
	{"=<", end, "", "write <="},
	{"=>", end, "", "write >="},
	{"<>", end, "", "write !="},
	{"==", relation, Equal, ""},
	{"!=", relation, NotEqual, ""},
	{"<=", relation, LessOrEqual, ""},
	{"≤", relation, LessOrEqual, ""},
	{">=", relation, GreaterOrEqual, ""},
	{"≥", relation, GreaterOrEqual, ""},
	{"<", relation, Less, ""},
	{">", relation, Greater, ""},
	{"&&", conjunction, "", ""},
	{"∧", conjunction, "", ""},
	{"||", disjunction, "", ""},
	{"∨", disjunction, "", ""},
	{"!", negation, "", ""},
	{"¬", negation, "", ""},
	{"(", openGroup, "", ""},
	{")", closeGroup, "", ""},
	{"[", openList, "", ""},
	{"]", closeList, "", ""},
	{",", comma, "", ""},
	{"=", end, "", "write =="},
	{"&", end, "", "write &&"},
	{"|", end, "", "write ||"},
	{"~", end, "", "write !"},
	{".", end, "", "a path begins with a name, a number with a digit"},
}

// alike are characters that look like signs, or are signs elsewhere.
var alike = [...]struct{ characters, cure string }{
	{"≠", "write !="},
	{"≦⩽", "write <="},
	{"≧⩾", "write >="},
	{"＝", "write =="},
	{"∈", "write in"},
	{"‘’‚`", "write a straight quote '"},
	{"“”„«»", `write a straight quote "`},
	{"−–", "write - before the digits of a negative number"},
	{"+*/%^", "there is no arithmetic"},
	{"{}", "lists are written [...]"},
}

// sign reads an operator or bracket.
func (l *lexer) sign(x *lexeme) error {
	rest := l.src[l.at:]
	for _, s := range signs {
		switch {
		case !strings.HasPrefix(rest, s.spelling):
		case s.cure != "":
			return fault(l.src, l.at, "%s is no sign of the language: %s", s.spelling, s.cure)
		default:
			x.kind, x.op = s.kind, s.op
			l.at += len(s.spelling)
			return nil
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && size == 1 {
		return fault(l.src, l.at, "the byte %#02x is not valid UTF-8", rest[0])
	}
	for _, a := range alike {
		if strings.ContainsRune(a.characters, r) {
			return fault(l.src, l.at, "%c is no sign of the language: %s", r, a.cure)
		}
	}
	return fault(l.src, l.at, "%+q is no sign of the language: remove it", r)
}
