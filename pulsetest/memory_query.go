package pulsetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/opensentience/pulse-go/substrate"
)

// retrieve ranks the nodes by shared words, then confidence, then age.
func (g *graph) retrieve(r *substrate.RetrieveContextRequest) substrate.RetrieveContextResponse {
	asked := words(r.Query)
	type match struct {
		node   *node
		shared int
	}
	var matches []match
	for _, n := range g.nodes {
		if r.FromLoop != "" && n.Loop != r.FromLoop {
			continue
		}
		if shared := overlap(asked, n.words); shared > 0 || len(asked) == 0 {
			matches = append(matches, match{n, shared})
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(b.node.Confidence, a.node.Confidence), cmp.Compare(a.node.seq, b.node.seq))
	})
	matches = matches[:min(len(matches), max(r.K, 0))]
	out := substrate.RetrieveContextResponse{Nodes: make([]substrate.Node, len(matches))}
	found := make([]*node, len(matches))
	for i, m := range matches {
		out.Nodes[i], found[i] = m.node.view(), m.node
	}
	out.Topology = topology(r.TraceID, found)
	return out
}

// chosen returns the nodes that are to be analyzed.
func (g *graph) chosen(r *substrate.TopologyAnalyzeRequest) []*node {
	if len(r.NodeIDs) == 0 {
		return g.inOrder(func(n *node) bool { return r.FromLoop == "" || n.Loop == r.FromLoop })
	}
	var found []*node
	for _, id := range r.NodeIDs {
		n := g.find(id)
		if n != nil && (r.FromLoop == "" || n.Loop == r.FromLoop) && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found
}

// wordsOf returns the words of a node: of its type, and of the names, texts,
// numbers and truth values in its content.
func wordsOf(kind string, content json.RawMessage) []string {
	var text strings.Builder
	text.WriteString(kind)
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return words(text.String())
		}
		text.WriteByte(' ')
		switch v := tok.(type) {
		case string:
			text.WriteString(v)
		case json.Number:
			text.WriteString(v.String())
		case bool:
			if v {
				text.WriteString("true")
			} else {
				text.WriteString("false")
			}
		}
	}
}

// words returns the different words of a text in lower case, sorted.
func words(text string) []string {
	found := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(found)
	return slices.Compact(found)
}

// overlap counts the words that two sorted lists share.
func overlap(a, b []string) int {
	shared := 0
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			shared++
			a, b = a[1:], b[1:]
		}
	}
	return shared
}
