package expr

// atom reads a comparison or a membership.
func (p *parser) atom() (Node, error) {
	from := p.cur
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	switch p.cur.kind {
	case relation:
		return p.comparison(left, from.from)
	case membership:
		return p.membership(left, from.from)
	}
	return nil, p.alone(from)
}

// operand reads a path or a literal.
func (p *parser) operand() (Operand, error) {
	switch x := p.cur; x.kind {
	case path:
		return x.path, p.advance()
	case literal:
		return Literal{x.value}, p.advance()
	}
	return nil, p.fault("want a path or a literal, got %.40s", p.cur.text)
}

// alone says why what follows an operand does not make it a condition.
func (p *parser) alone(operand lexeme) error {
	word := operand.text
	switch p.cur.kind {
	case openGroup:
		return p.fault("there are no calls: compare the path %.40s with a value", word)
	case openList:
		return p.fault("elements of lists have no path: in asks whether a value is in a list of literals")
	case negation:
		return p.fault("a negation stands before what it negates: write !(%.40s in [...])", word)
	case path, literal:
		if p.cur.text[0] == '-' {
			return p.fault("there is no arithmetic")
		}
		return p.fault("want a comparison or in after %.40s, got %.40s", word, p.cur.text)
	}
	if operand.kind == path {
		return fault(p.src, operand.from, "%.40s alone is no condition: write %.40s == true", word, word)
	}
	return fault(p.src, operand.from, "%.40s alone is no condition: compare a path with it, or leave the condition out", word)
}

func (p *parser) comparison(left Operand, from int) (Node, error) {
	c := Compare{Left: left, Op: p.cur.op}
	err := p.advance()
	if err != nil {
		return nil, err
	}
	if c.Right, err = p.operand(); err != nil {
		return nil, err
	}
	_, l := c.Left.(Literal)
	_, r := c.Right.(Literal)
	if l && r {
		return nil, fault(p.src, from, "two literals compare always the same: name a path")
	}
	return c, nil
}

func (p *parser) membership(left Operand, from int) (Node, error) {
	of, ok := left.(Path)
	if !ok {
		return nil, fault(p.src, from, "want a path before in")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.cur.kind != openList {
		return nil, p.fault("want a list of literals after in: [...]")
	}
	in, opened := In{Path: of}, p.cur.from
	for sep := openList; p.cur.kind == sep; sep = comma {
		if err := p.advance(); err != nil {
			return nil, err
		}
		switch p.cur.kind {
		case literal:
			in.List = append(in.List, Literal{p.cur.value})
		case path:
			return nil, p.fault("a list holds literals: write '%.40s' for the string", p.cur.text)
		default:
			return nil, p.fault("a list holds literals, got %.40s", p.cur.text)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	switch p.cur.kind {
	case closeList:
		return in, p.advance()
	case end:
		return nil, fault(p.src, opened, "the list is not closed: add ]")
	}
	return nil, p.fault("want , or ] in the list, got %.40s", p.cur.text)
}
