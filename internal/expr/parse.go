package expr

import (
	"strings"
	"unicode/utf8"
)

// Limits of a source. Beyond them [Parse] gives a [*SyntaxError].
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 200     // groups and negations inside each other
)

// Parse reads a condition; the error is a [*SyntaxError].
func Parse(src string) (*Expr, error) {
	if len(src) > MaxSize {
		return nil, fault(src, 0, "it has %d bytes, more than the %d allowed: split it", len(src), MaxSize)
	}
	for i, r := range src {
		if r == utf8.RuneError && !strings.HasPrefix(src[i:], string(r)) {
			return nil, fault(src, i, "the byte %#x is not UTF-8", src[i])
		}
	}
	p := &parser{lexer: lexer{src: src}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.cur.kind == end {
		return nil, fault(src, 0, "it is empty: write a comparison, or leave the condition out")
	}
	root, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if p.cur.kind != end {
		return nil, p.surplus()
	}
	return &Expr{root: root}, nil
}

type parser struct {
	lexer
	cur   lexeme
	depth int
}

func (p *parser) advance() (err error) {
	p.cur, err = p.next()
	return err
}

func (p *parser) fault(format string, args ...any) error {
	return fault(p.src, p.cur.from, format, args...)
}

func (p *parser) disjunction() (Node, error) { return p.join(disjunction, p.conjunction) }

func (p *parser) conjunction() (Node, error) { return p.join(conjunction, p.factor) }

// join reads terms with an operator between them. A term that joins by the same
// operator gives its own terms, for grouping does not matter there.
func (p *parser) join(by kind, term func() (Node, error)) (Node, error) {
	var terms []Node
	for {
		n, err := term()
		if err != nil {
			return nil, err
		}
		or, _ := n.(Or)
		and, _ := n.(And)
		switch {
		case by == disjunction && or.Terms != nil:
			terms = append(terms, or.Terms...)
		case by == conjunction && and.Terms != nil:
			terms = append(terms, and.Terms...)
		default:
			terms = append(terms, n)
		}
		if p.cur.kind != by {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(terms) == 1:
		return terms[0], nil
	case by == disjunction:
		return Or{terms}, nil
	}
	return And{terms}, nil
}

// factor reads a comparison or a group, and the negations before it. A group
// and a negation cost a level each, a negated group one: so the canonical form,
// which groups what is negated, is never deeper than its source.
func (p *parser) factor() (Node, error) {
	negations := 0
	for p.cur.kind == negation {
		negations++
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if negations == 0 && p.cur.kind != openGroup {
		return p.atom()
	}
	levels := max(1, negations)
	if p.depth+levels > MaxDepth {
		return nil, p.fault("groups and negations are more than %d deep: write it flatter", MaxDepth)
	}
	p.depth += levels
	n, err := p.group()
	p.depth -= levels
	if err != nil || negations%2 == 0 {
		return n, err
	}
	if inner, ok := n.(Not); ok {
		return inner.Term, nil
	}
	return Not{n}, nil
}

// group reads a condition in parentheses, or an atom.
func (p *parser) group() (Node, error) {
	if p.cur.kind != openGroup {
		return p.atom()
	}
	opened := p.cur.from
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.disjunction()
	switch {
	case err != nil:
		return nil, err
	case p.cur.kind == end:
		return nil, fault(p.src, opened, "the group is not closed: add )")
	case p.cur.kind != closeGroup:
		return nil, p.surplus()
	}
	return n, p.advance()
}

// surplus says what is wrong with a lexeme after a whole condition.
func (p *parser) surplus() error {
	switch p.cur.kind {
	case closeGroup:
		return p.fault("no group is open: remove the )")
	case relation, membership:
		return p.fault("comparisons do not chain: write a < b && b < c")
	}
	return p.fault("want && or || between conditions, got %.40s", p.cur.text)
}
