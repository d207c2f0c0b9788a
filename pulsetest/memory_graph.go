package pulsetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/opensentience/pulse-go/substrate"
)

// graph is the memory of one workspace. It knows no locks and no call context.
type graph struct {
	max      int // of nodes; 0 is no bound
	nodes    map[string]*node
	age      []*node           // by age; among them nodes that are gone
	stored   int               // nodes ever stored
	keys     memo[string]      // DedupeKey → the node that the call stored
	claims   map[string]string // ids that a prepared transaction will take, by its id
	merged   memo[string]      // id merged away → the node that took it over
	outcomes memo[learning]
	merges   memo[merging]
}

// node is a node with what the graph keeps beside it.
type node struct {
	substrate.Node
	seq   int      // its place among all nodes ever stored
	key   string   // the DedupeKey of the call that stored it
	event string   // the event that recorded it
	words []string // of type and content, sorted
	out   map[edge]link
	in    map[edge]link
}

type edge struct{ src, dst, kind string }

// link is what receipts say of an edge.
type link struct{ id, event string }

func newGraph(limit int) *graph {
	return &graph{
		max: limit, nodes: make(map[string]*node), claims: make(map[string]string),
		keys: memo[string]{max: limit}, merged: memo[string]{max: limit}, outcomes: memo[learning]{max: limit}, merges: memo[merging]{max: limit},
	}
}

// clone copies all that may change.
func (g *graph) clone() *graph {
	c := *g
	c.nodes = make(map[string]*node, len(g.nodes))
	for id, n := range g.nodes {
		n := *n
		n.out, n.in = maps.Clone(n.out), maps.Clone(n.in)
		c.nodes[id] = &n
	}
	c.age = c.inOrder(func(*node) bool { return true })
	c.claims = maps.Clone(g.claims)
	c.keys, c.merged, c.outcomes, c.merges = g.keys.clone(), g.merged.clone(), g.outcomes.clone(), g.merges.clone()
	return &c
}

// newNode checks a node that is to be stored and copies it.
func newNode(n *substrate.Node) (*node, error) {
	if inUnit := n.Confidence >= 0 && n.Confidence <= 1; !inUnit {
		return nil, fmt.Errorf("pulsetest: node of type %q: confidence %v is not in [0, 1]", n.Type, n.Confidence)
	}
	if len(n.Content) > 0 && !json.Valid(n.Content) {
		return nil, fmt.Errorf("pulsetest: node of type %q: content is not JSON", n.Type)
	}
	stored := &node{Node: *n}
	stored.Content = bytes.Clone(n.Content)
	stored.words = wordsOf(stored.Type, stored.Content)
	return stored, nil
}

// as is a copy of the node with its id and the event that records it.
func (n *node) as(id, event string) *node {
	c := *n
	c.ID, c.event = id, event
	return &c
}

// storeNode appends n, or returns the node that an equal call stored.
func (g *graph) storeNode(n *node) (*node, error) {
	if n.key != "" {
		if id, ok := g.keys.values[n.key]; ok {
			if earlier := g.find(id); earlier != nil {
				return earlier, nil
			}
			return n.as(id, ""), nil // erased since: it stays erased
		}
	}
	if _, taken := g.nodes[n.ID]; taken || g.claims[n.ID] != "" {
		return nil, fmt.Errorf("node %q: %w: store it without an id, or under another", n.ID, substrate.ErrNodeExists)
	}
	n.seq = g.stored
	g.stored++
	g.nodes[n.ID] = n
	g.age = append(g.age, n)
	if n.key != "" {
		g.keys.put(n.key, n.ID)
	}
	g.evict()
	return n, nil
}

// find returns the node of that id or the one that took it over, or nil.
func (g *graph) find(id string) *node {
	if n, ok := g.nodes[id]; ok {
		return n
	}
	if survivor, ok := g.merged.values[id]; ok {
		return g.nodes[survivor]
	}
	return nil
}

func (g *graph) storeEdge(src, dst, kind, event string) (change, error) {
	from, to := g.find(src), g.find(dst)
	for id, n := range map[string]*node{src: from, dst: to} {
		if n == nil {
			return change{}, fmt.Errorf("edge %q from %q to %q: %q: %w", kind, src, dst, id, substrate.ErrNodeNotFound)
		}
	}
	e := edge{from.ID, to.ID, kind}
	if l, ok := from.out[e]; ok {
		return change(l), nil
	}
	l := link{id: identify("edge", e.src, e.dst, e.kind), event: event}
	connect(from, to, e, l)
	return change(l), nil
}

func connect(from, to *node, e edge, l link) {
	if from.out == nil {
		from.out = make(map[edge]link)
	}
	if to.in == nil {
		to.in = make(map[edge]link)
	}
	from.out[e], to.in[e] = l, l
}

// remove takes the node and its edges out. Its key stays known: an equal call
// does not store it again.
func (g *graph) remove(n *node) {
	for e := range n.out {
		delete(g.nodes[e.dst].in, e)
	}
	for e := range n.in {
		delete(g.nodes[e.src].out, e)
	}
	delete(g.nodes, n.ID)
}

// erase removes nodes by id.
func (g *graph) erase(ids []string) {
	for _, id := range ids {
		if n := g.find(id); n != nil {
			g.remove(n)
		}
	}
}

// evict removes the oldest nodes beyond the bound, and forgets those that are
// gone once they are the greater part.
func (g *graph) evict() {
	live := func(n *node) bool { return g.nodes[n.ID] == n }
	for g.max > 0 && len(g.nodes) > g.max {
		if oldest := g.age[0]; live(oldest) {
			g.remove(oldest)
		}
		g.age = g.age[1:] // append copies the rest when the array is full
	}
	if len(g.age) > 2*len(g.nodes)+64 {
		g.age = slices.DeleteFunc(g.age, func(n *node) bool { return !live(n) })
	}
}

// inOrder returns the nodes that f accepts by age.
func (g *graph) inOrder(f func(*node) bool) []*node {
	var found []*node
	for _, n := range g.nodes {
		if f(n) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b *node) int { return a.seq - b.seq })
	return found
}

// view is the node as it is handed out: a copy.
func (n *node) view() substrate.Node {
	v := n.Node
	v.Content = bytes.Clone(n.Content)
	return v
}

// identify derives an id from texts: different texts, different ids.
func identify(kind string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(strconv.AppendInt(nil, int64(len(p)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(p))
	}
	return kind + "-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// memo remembers values by key, the newest max of them if max is positive.
type memo[V any] struct {
	max    int
	values map[string]V
	age    []string
}

func (m *memo[V]) put(key string, v V) {
	if m.values == nil {
		m.values = make(map[string]V)
	}
	if _, known := m.values[key]; !known {
		m.age = append(m.age, key)
	}
	m.values[key] = v
	if m.max > 0 && len(m.age) > m.max {
		delete(m.values, m.age[0])
		m.age = m.age[1:]
	}
}

func (m *memo[V]) clone() memo[V] {
	return memo[V]{max: m.max, values: maps.Clone(m.values), age: slices.Clone(m.age)}
}
