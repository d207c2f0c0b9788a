package pulsetest

import (
	"slices"

	"github.com/opensentience/pulse-go/token"
)

// merging is a consolidation as the graph remembers it.
type merging struct {
	change     change
	affected   []string // nodes that were merged away
	into       []string // the nodes that took them over
	confidence float64  // change of the mean confidence
}

// consolidate merges the nodes of the scope that are equal in type and content
// into the oldest of them, which takes over their edges and the highest
// confidence. One pass is enough: no two nodes of the scope are equal after it.
func (g *graph) consolidate(scope, key, event string) merging {
	if done, ok := g.merges.values[key]; ok && key != "" {
		return done
	}
	before := g.meanConfidence()
	oldest := make(map[string]*node)
	var m merging
	for _, n := range g.inOrder(func(n *node) bool { return scope == "" || n.Type == scope }) {
		id := identify("content", n.Type, string(n.Content))
		survivor, ok := oldest[id]
		if !ok {
			oldest[id] = n
			continue
		}
		g.merge(n, survivor)
		m.affected = append(m.affected, n.ID)
		if !slices.Contains(m.into, survivor.ID) {
			m.into = append(m.into, survivor.ID)
		}
	}
	m.confidence = g.meanConfidence() - before
	m.change = change{identify("consolidation", append([]string{key, event, scope}, m.affected...)...), event}
	if key != "" {
		g.merges.put(key, m)
	}
	return m
}

// merge lets one node take over another. An edge between the two would become a
// cycle that nobody stored; it is dropped.
func (g *graph) merge(gone, survivor *node) {
	survivor.Confidence = max(survivor.Confidence, gone.Confidence)
	out, in := gone.out, gone.in
	g.remove(gone)
	for e, l := range out {
		if to := g.nodes[e.dst]; to != nil && to != survivor {
			g.takeOver(survivor, to, edge{survivor.ID, e.dst, e.kind}, l)
		}
	}
	for e, l := range in {
		if from := g.nodes[e.src]; from != nil && from != survivor {
			g.takeOver(from, survivor, edge{e.src, survivor.ID, e.kind}, l)
		}
	}
	g.merged.put(gone.ID, survivor.ID)
}

// takeOver adds an edge unless its equal is there.
func (g *graph) takeOver(from, to *node, e edge, l link) {
	if _, ok := from.out[e]; !ok {
		connect(from, to, e, link{id: identify("edge", e.src, e.dst, e.kind), event: l.event})
	}
}

func (g *graph) meanConfidence() float64 {
	if len(g.nodes) == 0 {
		return 0
	}
	var sum float64
	for _, n := range g.inOrder(func(*node) bool { return true }) { // in order: sums do not depend on the map
		sum += n.Confidence
	}
	return sum / float64(len(g.nodes))
}

// token is the report of the consolidation (OS-010 §6.5). One pass converges, so
// it is always stable.
func (m *merging) token(trace string) token.ConsolidationEvent {
	return token.ConsolidationEvent{
		Header:            token.Header{Token: token.ConsolidationEventName, Version: token.Version, TraceID: trace},
		Timescale:         token.TimescaleFast,
		AffectedNodeIDs:   append([]string{}, m.affected...),
		MergedIntoIDs:     append([]string{}, m.into...),
		ConvergenceStatus: token.ConvergenceStable,
		MetricDeltas:      map[string]float64{"graph_size": -float64(len(m.affected)), "avg_confidence": m.confidence},
	}
}
