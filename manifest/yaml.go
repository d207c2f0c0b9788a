package manifest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/opensentience/pulse-go/internal/jsonnumber"
	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// readYAML makes of YAML the same tree that JSON gives. What JSON cannot express,
// or what different YAML readers understand differently, is refused.
func readYAML(data []byte, file string) (doc *document, issues Issues) {
	if len(data) > jsonpos.MaxSize || !utf8.Valid(data) || strings.HasPrefix(string(data), "\ufeff") {
		return readJSON(data, file) // has the words for it
	}
	y := yamlReader{source: string(data), b: jsonpos.NewBuilder(string(data)), line: 1, column: 1}
	defer func() { // of the YAML package, on a text it did not expect
		if r := recover(); r != nil {
			y.b.Fault(jsonpos.Syntax, 0, "this is no YAML that can be read; write it more simply, or as JSON")
			doc, issues = readTree(nil, y.b.Faults(), data, file)
		}
	}()
	if !y.read() {
		return readTree(nil, y.b.Faults(), data, file)
	}
	return readTree(y.b.Tree(), y.b.Faults(), data, file)
}

type yamlReader struct {
	source string
	b      *jsonpos.Builder

	// The last place turned into an offset. Places come in order, so that each
	// costs only the way from the one before.
	line, column, offset int
}

func (y *yamlReader) read() bool {
	tokens := lexer.Tokenize(y.source)
	if !y.scan(tokens) {
		return false
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return y.syntax(err)
	}
	var body ast.Node
	for _, d := range parsed.Docs {
		switch {
		case d.Body == nil:
		case body == nil:
			body = d.Body
		default:
			return y.fail(jsonpos.TrailingData, d.Body.GetToken(), "a second document begins here; put it into a file of its own")
		}
	}
	if body == nil {
		y.b.Fault(jsonpos.Syntax, len(y.source), "the document is empty")
		return false
	}
	return y.node(body)
}

func (y *yamlReader) syntax(err error) bool {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return y.fail(jsonpos.Syntax, at.GetToken(), "this is no YAML: %s", at.GetMessage())
	}
	y.b.Fault(jsonpos.Syntax, 0, "this is no YAML: "+err.Error())
	return false
}

func (y *yamlReader) fail(code jsonpos.Code, t *token.Token, format string, args ...any) bool {
	y.b.Fault(code, y.pos(t), fmt.Sprintf(format, args...))
	return false
}

// yamlOnly is the kind of faults that JSON does not have.
const yamlOnly = jsonpos.Code(CodeYAML)

func (y *yamlReader) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n.Values, n.GetToken())
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{n}, n.GetToken())
	case *ast.SequenceNode:
		return y.sequence(n)
	case *ast.StringNode:
		y.b.Scalar(jsonpos.String, n.Value, y.pos(n.Token))
	case *ast.LiteralNode:
		y.b.Scalar(jsonpos.String, n.Value.Value, y.pos(n.Start))
	case *ast.NullNode:
		y.b.Scalar(jsonpos.Null, "null", y.pos(n.Token))
	case *ast.BoolNode:
		y.b.Scalar(jsonpos.Bool, fmt.Sprint(n.Value), y.pos(n.Token))
	case *ast.IntegerNode:
		return y.number(n.Token)
	case *ast.FloatNode:
		return y.number(n.Token)
	default:
		return y.fail(yamlOnly, n.GetToken(), "JSON has no such value; write a string, number, boolean, null, list or mapping")
	}
	return true
}

// number takes what is a number in JSON too. YAML readers differ on the rest:
// 0123 is 83 to one and 123 to another.
func (y *yamlReader) number(t *token.Token) bool {
	if !jsonnumber.Valid(t.Value) {
		return y.fail(yamlOnly, t, "%s is no JSON number; write it in decimal, or in quotes if a text is meant", shorten(t.Value))
	}
	y.b.Scalar(jsonpos.Number, t.Value, y.pos(t))
	return true
}

func (y *yamlReader) sequence(n *ast.SequenceNode) bool {
	if !y.b.Open(jsonpos.Array, y.pos(n.GetToken())) {
		return false
	}
	for _, v := range n.Values {
		if !y.node(v) {
			return false
		}
	}
	y.b.Close()
	return true
}

func (y *yamlReader) mapping(values []*ast.MappingValueNode, start *token.Token) bool {
	if len(values) > 0 && start.Type != token.MappingStartType { // else the token is the first colon
		start = values[0].Key.GetToken()
	}
	if !y.b.Open(jsonpos.Object, y.pos(start)) {
		return false
	}
	for _, v := range values {
		name, ok := v.Key.(*ast.StringNode)
		if !ok {
			return y.fail(yamlOnly, v.Key.GetToken(), "a name must be a string; put it in quotes")
		}
		y.b.Name(name.Value, y.pos(name.Token))
		if !y.node(v.Value) {
			return false
		}
	}
	y.b.Close()
	return true
}

// pos gives the offset of a token, which knows its line and its column in
// characters.
func (y *yamlReader) pos(t *token.Token) int {
	if t == nil || t.Position == nil {
		return y.offset
	}
	line, column := t.Position.Line, max(t.Position.Column, 1)
	if line < y.line || line == y.line && column < y.column {
		y.line, y.column, y.offset = 1, 1, 0
	}
	for y.line < line {
		next := strings.IndexByte(y.source[y.offset:], '\n')
		if next < 0 {
			return y.offset
		}
		y.line, y.column, y.offset = y.line+1, 1, y.offset+next+1
	}
	for y.column < column && y.offset < len(y.source) && y.source[y.offset] != '\n' {
		_, size := utf8.DecodeRuneInString(y.source[y.offset:])
		y.column, y.offset = y.column+1, y.offset+size
	}
	return y.offset
}
