package expr

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

// spelled gives the source of the current lexeme for a message.
func (p *parser) spelled() string {
	if p.cur.kind == end {
		return "the end"
	}
	return clip(p.src[p.cur.from:p.cur.to])
}

func (p *parser) fault(format string, args ...any) error {
	return fault(p.src, p.cur.from, format, args...)
}

func (p *parser) disjunction() (Node, error) {
	terms, err := p.terms(disjunction, p.conjunction, func(n Node) []Node {
		or, _ := n.(Or)
		return or.Terms
	})
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return Or{terms}, nil
}

func (p *parser) conjunction() (Node, error) {
	terms, err := p.terms(conjunction, p.factor, func(n Node) []Node {
		and, _ := n.(And)
		return and.Terms
	})
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return And{terms}, nil
}

// terms reads what an operator joins. A term that is itself a join by the same
// operator, as inner tells, gives its own terms: grouping does not matter there.
func (p *parser) terms(by kind, term func() (Node, error), inner func(Node) []Node) ([]Node, error) {
	var terms []Node
	for {
		n, err := term()
		if err != nil {
			return nil, err
		}
		if of := inner(n); of != nil {
			terms = append(terms, of...)
		} else {
			terms = append(terms, n)
		}
		if p.cur.kind != by {
			return terms, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

func first(terms []Node) Node {
	if len(terms) == 0 {
		return nil
	}
	return terms[0]
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
		return p.fault("comparisons do not chain: write a < b && b < c, and a negation as !(a == b)")
	}
	return p.fault("want && or || between conditions, got %s", p.spelled())
}
