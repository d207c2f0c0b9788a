package manifest

import (
	"github.com/goccy/go-yaml/token"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// scan looks at the tokens before they are parsed: it refuses what the manifest
// does not take, and what would cost the parser more than its length warrants. The
// parser recurses, and keeps with each node the names of all that are around it.
func (y *yamlReader) scan(tokens token.Tokens) bool {
	s := yamlScan{y: y}
	for i, t := range tokens {
		if !s.token(t, i, tokens) {
			return false
		}
	}
	return len(y.b.Faults()) == 0
}

const maxPaths = 1 << 28 // bytes of names kept with nodes

type yamlScan struct {
	y     *yamlReader
	open  []yamlLevel
	path  int // length of the names around the current token
	paths int // sum of those
}

// yamlLevel is a mapping or sequence that is not over: one in brackets, or one that
// ends with the first token to its left.
type yamlLevel struct {
	column int // 0 in brackets
	dash   bool
	name   int // length of the current name
}

func (s *yamlScan) token(t *token.Token, i int, tokens token.Tokens) bool {
	y := s.y
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return y.fail(yamlOnly, t, "a manifest has no anchors, aliases or merge keys; write the value out")
	case token.TagType, token.DirectiveType:
		return y.fail(yamlOnly, t, "a manifest has no tags or directives; remove it")
	case token.MappingKeyType:
		return y.fail(yamlOnly, t, "a name must be a string on one line; write name: value")
	case token.SequenceStartType, token.MappingStartType:
		s.push(yamlLevel{})
	case token.SequenceEndType, token.MappingEndType:
		s.leaveBrackets()
	case token.SequenceEntryType:
		s.pop(func(l yamlLevel) bool {
			return l.column > t.Position.Column || l.column == t.Position.Column && l.dash
		})
		s.push(yamlLevel{column: t.Position.Column, dash: true})
	case token.MappingValueType:
		if i > 0 {
			s.name(tokens[i-1])
		}
	}
	if len(s.open) > jsonpos.MaxDepth {
		return y.fail(jsonpos.Depth, t, "values are nested more than %d deep; flatten the document", jsonpos.MaxDepth)
	}
	if s.paths += s.path; s.paths > maxPaths {
		return y.fail(jsonpos.TooLarge, t, "the names around here are too long for so much content; shorten them, or write JSON")
	}
	return true
}

// name takes the name before a colon.
func (s *yamlScan) name(t *token.Token) {
	if n := len(s.open); n > 0 && s.open[n-1].column == 0 {
		s.path += len(t.Value) - s.open[n-1].name
		s.open[n-1].name = len(t.Value)
		return
	}
	s.pop(func(l yamlLevel) bool { return l.column >= t.Position.Column })
	s.push(yamlLevel{column: t.Position.Column, name: len(t.Value)})
}

func (s *yamlScan) push(l yamlLevel) {
	s.path += l.name + 1
	s.open = append(s.open, l)
}

// pop leaves levels outside brackets while they are over.
func (s *yamlScan) pop(over func(yamlLevel) bool) {
	for n := len(s.open); n > 0 && s.open[n-1].column > 0 && over(s.open[n-1]); n-- {
		s.path -= s.open[n-1].name + 1
		s.open = s.open[:n-1]
	}
}

func (s *yamlScan) leaveBrackets() {
	s.pop(func(yamlLevel) bool { return true })
	if n := len(s.open); n > 0 {
		s.path -= s.open[n-1].name + 1
		s.open = s.open[:n-1]
	}
}
