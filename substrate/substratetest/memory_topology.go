package substratetest

import (
	"context"
	"fmt"
	"reflect"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func topologyRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-9.1-6", Name: "topology_finds_cycles", Section: "OS-010 §6.1, §9.1",
		Text:  "topology_analyze has κ 0 and routing fast for a chain, and κ above 0 and routing deliberate for a cycle; nothing given means everything, and ids that are not nodes are passed over",
		Check: checkTopology,
	}, {
		ID: "P-9.1-6", Name: "topology_repeats", Section: "OS-010 §9.1",
		Text:  "topology_analyze is idempotent: equal requests have equal answers",
		Check: checkTopologyRepeats,
	}, {
		ID: "P-9.1-1", Name: "retrieve_brings_the_topology", Section: "OS-010 §6.1, §9.1",
		Text:  "the topology of retrieve_context is that of the nodes it returns",
		Check: checkRetrievedTopology,
	}, {
		ID: "P-3.6-3", Name: "reads_can_be_scoped_to_a_loop", Section: "OS-010 §3.6, C-085",
		Text:  "with from_loop, retrieve_context and topology_analyze see only nodes that this loop stored",
		Check: checkFromLoop,
	}}
}

func checkTopology(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b", "c", "d")
	if err != nil {
		return err
	}
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}} {
		if _, err := g.edge(ids[e[0]], ids[e[1]], "causal"); err != nil {
			return err
		}
	}
	if err := g.wantTopology("a chain of four", 4, 3, false); err != nil {
		return err
	}
	if _, err := g.edge(ids[2], ids[0], "causal"); err != nil {
		return err
	}
	if err := g.wantTopology("a cycle of three and its tail", 4, 4, true); err != nil {
		return err
	}
	if err := g.wantTopology("the cycle alone, and an unknown id", 3, 3, true, ids[0], ids[1], ids[2], "nowhere"); err != nil {
		return err
	}
	return g.wantTopology("the cycle's last node and the tail", 2, 1, false, ids[2], ids[3])
}

// wantTopology analyzes the nodes and compares.
func (g *graph) wantTopology(what string, nodes, edges int, cyclic bool, ids ...string) error {
	t, err := g.topology(ids...)
	if err != nil {
		return err
	}
	return compareTopology(what, t, nodes, edges, cyclic)
}

func compareTopology(what string, t token.TopologyContext, nodes, edges int, cyclic bool) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("%s: topology: %w", what, err)
	}
	if len(t.Nodes) != nodes || len(t.Edges) != edges {
		return fmt.Errorf("%s: %d nodes and %d edges, want %d and %d", what, len(t.Nodes), len(t.Edges), nodes, edges)
	}
	routing := token.RoutingFast
	if cyclic {
		routing = token.RoutingDeliberate
	}
	if (t.MaxKappa > 0) != cyclic || t.Routing != routing {
		return fmt.Errorf("%s: κ %v and routing %q, want routing %q", what, t.MaxKappa, t.Routing, routing)
	}
	return nil
}

func checkTopologyRepeats(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b", "c", "d", "e")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	req := substrate.TopologyAnalyzeRequest{Origination: g.next()}
	first, err := g.TopologyAnalyze(ctx, req)
	if err != nil {
		return fmt.Errorf("topology_analyze: %w", err)
	}
	for range 5 {
		again, err := g.TopologyAnalyze(ctx, req)
		if err != nil {
			return fmt.Errorf("topology_analyze: %w", err)
		}
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("first answer %+v, then %+v", first, again)
		}
	}
	return nil
}

func checkRetrievedTopology(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	both, err := g.retrieve(g.next(), 2)
	if err != nil {
		return err
	}
	if err := compareTopology("both nodes of a cycle", both.Topology, 2, 2, true); err != nil {
		return err
	}
	one, err := g.retrieve(g.next(), 1)
	if err != nil {
		return err
	}
	return compareTopology("one node of a cycle of two", one.Topology, 1, 0, false)
}

func checkFromLoop(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	inner := g.another()
	inner.Loop = "substratetest.inner"
	if _, err := g.storeAll("outer"); err != nil {
		return err
	}
	ids, err := inner.storeAll("inner")
	if err != nil {
		return err
	}
	found, err := g.RetrieveContext(ctx, substrate.RetrieveContextRequest{Origination: g.next(), Query: word, K: 10, FromLoop: inner.Loop})
	if err != nil {
		return fmt.Errorf("retrieve_context: %w", err)
	}
	if len(found.Nodes) != 1 || found.Nodes[0].ID != ids[0] {
		return fmt.Errorf("retrieve_context from loop %s: %+v, want node %q alone", inner.Loop, found.Nodes, ids[0])
	}
	t, err := g.TopologyAnalyze(ctx, substrate.TopologyAnalyzeRequest{Origination: g.next(), FromLoop: inner.Loop})
	if err != nil {
		return fmt.Errorf("topology_analyze: %w", err)
	}
	if len(t.Nodes) != 1 || t.Nodes[0].ID != ids[0] {
		return fmt.Errorf("topology_analyze from loop %s: %+v, want node %q alone", inner.Loop, t.Nodes, ids[0])
	}
	return nil
}
