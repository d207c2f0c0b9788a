package substratetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Memory runs [MemoryRules] on the memories that open returns. Each must be new
// and empty, and serve [Workspace] and [OtherWorkspace]; one that is bound to
// Workspace only must refuse the other with substrate.ErrCrossWorkspace.
func Memory(t *testing.T, open func(*testing.T) substrate.Memory) {
	t.Helper()
	run(t, MemoryRules(), open)
}

// MemoryRules returns what every memory must do (OS-010 §9.1). The rules of
// transactions, erasure and the log of its own are skipped where the memory does
// not implement substrate.Transactor, Eraser or AuditReader.
func MemoryRules() []Rule[substrate.Memory] {
	return slices.Concat(retrieveRules(), storeRules(), learnRules(), topologyRules(),
		isolationRules(), transactionRules(), eraseRules(), logRules())
}

// graph drives a memory for the rules: a node's content is a text, and every
// node can be found by the word that all of them share.
type graph struct {
	substrate.Memory
	ctx context.Context
	*caller
}

const word = "lighthouse"

func newGraph(ctx context.Context, m substrate.Memory) *graph {
	return &graph{m, ctx, newCaller(Workspace)}
}

// another is a phase of another iteration on the same memory.
func (g *graph) another() *graph { return &graph{g.Memory, g.ctx, newCaller(g.Workspace)} }

// other is a phase in the other workspace on the same memory.
func (g *graph) other() *graph { return &graph{g.Memory, g.ctx, newCaller(OtherWorkspace)} }

func text(s string) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"text":%q}`, word+" "+s)) }

func (g *graph) store(s string) (substrate.Receipt, error) { return g.storeAs(g.next(), s) }

func (g *graph) storeAs(o substrate.Origination, s string) (substrate.Receipt, error) {
	r, err := g.StoreNode(g.ctx, substrate.StoreNodeRequest{
		Origination: o, Node: substrate.Node{Type: "belief", Content: text(s), Confidence: 0.5},
	})
	switch {
	case err != nil:
		return r, fmt.Errorf("store_node: %w", err)
	case r.ID == "":
		return r, errors.New("store_node: receipt without id")
	}
	return r, nil
}

// storeAll stores several nodes and returns their ids.
func (g *graph) storeAll(texts ...string) ([]string, error) {
	ids := make([]string, len(texts))
	for i, s := range texts {
		r, err := g.store(s)
		if err != nil {
			return nil, err
		}
		ids[i] = r.ID
	}
	return ids, nil
}

func (g *graph) edge(src, dst, kind string) (substrate.Receipt, error) {
	r, err := g.StoreEdge(g.ctx, substrate.StoreEdgeRequest{Origination: g.next(), Src: src, Dst: dst, Type: kind})
	switch {
	case err != nil:
		return r, fmt.Errorf("store_edge: %w", err)
	case r.ID == "":
		return r, errors.New("store_edge: receipt without id")
	}
	return r, nil
}

// ring stores an edge from each node to the next and from the last to the first.
func (g *graph) ring(ids ...string) error {
	for i, id := range ids {
		if _, err := g.edge(id, ids[(i+1)%len(ids)], "causal"); err != nil {
			return err
		}
	}
	return nil
}

// retrieve returns at most k nodes.
func (g *graph) retrieve(o substrate.Origination, k int) (substrate.RetrieveContextResponse, error) {
	r, err := g.RetrieveContext(g.ctx, substrate.RetrieveContextRequest{Origination: o, Query: word, K: k})
	if err != nil {
		return r, fmt.Errorf("retrieve_context: %w", err)
	}
	return r, nil
}

// nodes returns all nodes that the call sees, by id.
func (g *graph) nodes(o substrate.Origination) (map[string]substrate.Node, error) {
	r, err := g.retrieve(o, 1000)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]substrate.Node, len(r.Nodes))
	for _, n := range r.Nodes {
		if _, twice := byID[n.ID]; twice {
			return nil, fmt.Errorf("retrieve_context: node %q twice in one answer", n.ID)
		}
		byID[n.ID] = n
	}
	return byID, nil
}

// wantNodes says whether the call sees exactly the nodes of those ids.
func (g *graph) wantNodes(o substrate.Origination, when string, ids ...string) error {
	nodes, err := g.nodes(o)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := nodes[id]; !ok {
			return fmt.Errorf("%s: node %q is not found", when, id)
		}
	}
	if len(nodes) != len(ids) {
		return fmt.Errorf("%s: %d nodes are found, want %d", when, len(nodes), len(ids))
	}
	return nil
}

func (g *graph) topology(ids ...string) (token.TopologyContext, error) {
	t, err := g.TopologyAnalyze(g.ctx, substrate.TopologyAnalyzeRequest{Origination: g.next(), NodeIDs: ids})
	if err != nil {
		return t, fmt.Errorf("topology_analyze: %w", err)
	}
	return t, nil
}

func (g *graph) learn(action string, status token.Status, parents ...string) (substrate.LearnFromOutcomeResponse, error) {
	r, err := g.LearnFromOutcome(g.ctx, substrate.LearnFromOutcomeRequest{
		Origination: g.next(), Signal: g.outcome(action, status, parents),
	})
	if err != nil {
		return r, fmt.Errorf("learn_from_outcome: %w", err)
	}
	return r, nil
}

func (g *graph) consolidate() (substrate.ConsolidateResponse, error) {
	r, err := g.Consolidate(g.ctx, substrate.ConsolidateRequest{Origination: g.next()})
	if err != nil {
		return r, fmt.Errorf("consolidate: %w", err)
	}
	return r, nil
}
