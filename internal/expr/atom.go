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
	case openList:
		return nil, p.fault("a list stands after in only")
	case membership, relation:
		return nil, p.fault("want a path or a literal before %s", p.spelled())
	}
	return nil, p.fault("want a path or a literal, got %s", p.spelled())
}

// alone says why what follows an operand does not make it a condition.
func (p *parser) alone(operand lexeme) error {
	word := clip(p.src[operand.from:operand.to])
	switch p.cur.kind {
	case openGroup:
		return p.fault("there are no calls: compare the path %s with a value", word)
	case openList:
		return p.fault("elements of lists have no path: in asks whether a value is in a list of literals")
	case negation:
		return p.fault("a negation stands before what it negates: write !(%s in [...])", word)
	case path, literal:
		return p.fault("want a comparison or in after %s, got %s", word, p.spelled())
	}
	if operand.kind == path {
		return fault(p.src, operand.from, "%s alone is no condition: write %s == true", word, word)
	}
	return fault(p.src, operand.from, "%s alone is no condition: compare a path with it, or leave the condition out", word)
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
	if constant(c.Left) && constant(c.Right) {
		return nil, fault(p.src, from, "two literals compare always the same: name a path")
	}
	return c, nil
}

func constant(o Operand) bool {
	_, ok := o.(Literal)
	return ok
}

func (p *parser) membership(left Operand, from int) (Node, error) {
	of, ok := left.(Path)
	if !ok {
		return nil, fault(p.src, from, "want a path before in: whether a literal is in a list is always the same")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.cur.kind != openList {
		return nil, p.fault("want a list of literals in brackets after in, got %s", p.spelled())
	}
	opened := p.cur.from
	in := In{Path: of}
	for sep := openList; p.cur.kind == sep; sep = comma {
		if err := p.advance(); err != nil {
			return nil, err
		}
		l, err := p.element(opened)
		if err != nil {
			return nil, err
		}
		in.List = append(in.List, l)
	}
	switch p.cur.kind {
	case closeList:
		return in, p.advance()
	case end:
		return nil, fault(p.src, opened, "the list is not closed: add ]")
	}
	return nil, p.fault("want , or ] in the list, got %s", p.spelled())
}

// element reads a literal of the list that opens at a byte.
func (p *parser) element(opened int) (Literal, error) {
	switch x := p.cur; x.kind {
	case literal:
		return Literal{x.value}, p.advance()
	case path:
		return Literal{}, p.fault("a list holds literals: write '%s' for the string", p.spelled())
	case closeList:
		return Literal{}, p.fault("want a literal before the ]")
	case end:
		return Literal{}, fault(p.src, opened, "the list is not closed: add ]")
	}
	return Literal{}, p.fault("a list holds literals, got %s", p.spelled())
}
