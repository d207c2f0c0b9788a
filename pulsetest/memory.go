package pulsetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Memory is a [substrate.Memory] in memory: a graph per workspace, with
// transactions, erasure and a log of its own.
//
// Retrieval ranks by the words that a query shares with a node's type and
// content, then by confidence; nodes that share none are left out, and an empty
// query matches all. An outcome moves the confidence of its causal parents a
// fifth of the way: to 1 for success, ½ for partial, 0 for failure; a timeout
// moves nothing. An action moves confidence once; a further, different outcome
// of it is recorded only. Consolidation merges nodes of equal type and content
// into the oldest, in one pass; its scope is a node type, or empty for all. κ is
// described at [Memory.TopologyAnalyze].
//
// Its limits: words are compared exactly, the first write of a transaction
// copies the workspace's graph, what a transaction computed is computed again on
// the then current graph when it commits, and everything ends with the process.
type Memory struct {
	CallLog

	// MaxNodes bounds a long run: each workspace keeps its newest MaxNodes nodes
	// and about as many remembered outcomes, consolidations and ended
	// transactions, and the log of its own is not kept. Zero means no bound. Set
	// it before the first call.
	MaxNodes int

	mu           sync.Mutex
	graphs       map[string]*graph
	transactions map[string]*ledger // by workspace
	log          Audit
	sequence     int // of ids that are not derived from a call
}

var (
	_ substrate.Memory      = (*Memory)(nil)
	_ substrate.Transactor  = (*Memory)(nil)
	_ substrate.Eraser      = (*Memory)(nil)
	_ substrate.AuditReader = (*Memory)(nil)
)

// RetrieveContext returns the K nodes that match best and their topology.
func (m *Memory) RetrieveContext(ctx context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
	var out substrate.RetrieveContextResponse
	err := m.enter(ctx, substrate.OpRetrieveContext)
	if err == nil {
		err = m.read(&r.Origination, func(g *graph) { out = g.retrieve(&r) })
	}
	m.leave(substrate.OpRetrieveContext, &r.Origination, r.Query, strconv.Itoa(r.K), err)
	return out, err
}

// TopologyAnalyze returns the strongly connected components that have a cycle.
// κ of such a component is its cyclomatic number: its edges, counted once per
// pair of nodes, minus its nodes, plus 1; so a plain cycle has κ 1 and every
// further way round adds one. Without a cycle κ is 0 and the routing fast.
func (m *Memory) TopologyAnalyze(ctx context.Context, r substrate.TopologyAnalyzeRequest) (token.TopologyContext, error) {
	var out token.TopologyContext
	err := m.enter(ctx, substrate.OpTopologyAnalyze)
	if err == nil {
		err = m.read(&r.Origination, func(g *graph) { out = topology(r.TraceID, g.chosen(&r)) })
	}
	m.leave(substrate.OpTopologyAnalyze, &r.Origination, strings.Join(r.NodeIDs, " "), r.FromLoop, err)
	return out, err
}

// StoreNode appends a node, once per DedupeKey. A confidence outside [0, 1] and
// content that is not JSON are errors.
func (m *Memory) StoreNode(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
	var out substrate.Receipt
	err := m.enter(ctx, substrate.OpStoreNode)
	if err == nil {
		out, err = m.storeNode(&r)
	}
	m.leave(substrate.OpStoreNode, &r.Origination, out.ID, r.Node.Type, err)
	return out, err
}

func (m *Memory) storeNode(r *substrate.StoreNodeRequest) (substrate.Receipt, error) {
	n, err := newNode(&r.Node)
	if err != nil {
		return substrate.Receipt{}, err
	}
	n.key, n.Loop = r.DedupeKey(), r.Loop
	return m.mutate(&r.Origination, "node.created", func(g *graph, event string) (change, error) {
		stored, err := g.storeNode(n.as(m.assign(n, &r.Origination), event))
		if err != nil {
			return change{}, err
		}
		return change{id: stored.ID, event: stored.event}, nil
	})
}

// assign gives the node its id: its own, one derived from the call, so that the
// same call has the same id, or the next number.
func (m *Memory) assign(n *node, o *substrate.Origination) string {
	switch {
	case n.ID != "":
	case n.key != "":
		n.ID = identify("node", n.key)
	default:
		m.sequence++
		n.ID = identify("node", o.Workspace, strconv.Itoa(m.sequence))
	}
	return n.ID
}

// StoreEdge adds the edge between two nodes of the workspace.
func (m *Memory) StoreEdge(ctx context.Context, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
	var out substrate.Receipt
	err := m.enter(ctx, substrate.OpStoreEdge)
	if err == nil {
		out, err = m.mutate(&r.Origination, "edge.created", func(g *graph, event string) (change, error) {
			return g.storeEdge(r.Src, r.Dst, r.Type, event)
		})
	}
	m.leave(substrate.OpStoreEdge, &r.Origination, r.Src, r.Dst, err)
	return out, err
}

// LearnFromOutcome adjusts the causal parents' confidence and appends the
// attribution. A signal without an action id or with a status outside OS-010
// §6.3 is an error.
func (m *Memory) LearnFromOutcome(ctx context.Context, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
	var out substrate.LearnFromOutcomeResponse
	err := m.enter(ctx, substrate.OpLearnFromOutcome)
	if err == nil {
		out.Receipt, err = m.mutate(&r.Origination, "confidence.updated", func(g *graph, event string) (change, error) {
			learned, err := g.learn(&r.Signal, event)
			if err != nil {
				return change{}, err
			}
			out.Updates = learned.updates
			return learned.change, nil
		})
	}
	m.leave(substrate.OpLearnFromOutcome, &r.Origination, r.Signal.ActionID, string(r.Signal.Status), err)
	return out, err
}

// Consolidate merges nodes of equal type and content. The same call again, by
// its DedupeKey, gives the answer of the first.
func (m *Memory) Consolidate(ctx context.Context, r substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error) {
	var out substrate.ConsolidateResponse
	err := m.enter(ctx, substrate.OpConsolidate)
	if err == nil {
		out.Receipt, err = m.mutate(&r.Origination, "memory.consolidated", func(g *graph, event string) (change, error) {
			merged := g.consolidate(r.Scope, r.DedupeKey(), event)
			out.Event = merged.token(r.TraceID)
			return merged.change, nil
		})
	}
	m.leave(substrate.OpConsolidate, &r.Origination, r.Scope, "", err)
	return out, err
}

// Erase removes the nodes and their edges.
func (m *Memory) Erase(ctx context.Context, r substrate.EraseRequest) (substrate.Receipt, error) {
	var out substrate.Receipt
	err := m.enter(ctx, substrate.OpErase)
	if err == nil {
		out, err = m.mutate(&r.Origination, "node.erased", func(g *graph, event string) (change, error) {
			g.erase(r.NodeIDs)
			return change{id: identify("erasure", r.NodeIDs...), event: event}, nil
		})
	}
	m.leave(substrate.OpErase, &r.Origination, strings.Join(r.NodeIDs, " "), r.Reason, err)
	return out, err
}

// ReadAudit returns the memory's own events of the trace: one per mutation that
// had an effect and whose transaction, if any, was committed.
func (m *Memory) ReadAudit(ctx context.Context, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
	if m.MaxNodes > 0 {
		return nil, fmt.Errorf("pulsetest: memory with MaxNodes keeps no log: %w", errors.ErrUnsupported)
	}
	return m.log.QueryByTrace(ctx, r)
}

// change is what a mutation did: the id of its receipt, and the event that
// records it, which is an earlier one if there was nothing left to do.
type change struct{ id, event string }

// read runs f on the graph that the call sees.
func (m *Memory) read(o *substrate.Origination, f func(*graph)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.transaction(o)
	if err != nil {
		return err
	}
	if t != nil && t.view != nil {
		f(t.view)
		return nil
	}
	f(m.graph(o.Workspace))
	return nil
}

// mutation is a change of a graph. In a transaction it is applied to a copy, and
// again, to the then current graph, at the commit; apply must depend on nothing
// else.
type mutation struct {
	call  substrate.Origination
	event substrate.AuditEvent
	apply func(g *graph, event string) (change, error)
}

// mutate performs a mutation on the graph that the call changes.
func (m *Memory) mutate(o *substrate.Origination, eventType string, apply func(g *graph, event string) (change, error)) (substrate.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.transaction(o)
	if err != nil {
		return substrate.Receipt{}, err
	}
	mut := mutation{call: *o, event: m.newEvent(o, eventType), apply: apply}
	var done change
	if t == nil {
		done, err = m.perform(m.graph(o.Workspace), &mut)
	} else {
		if t.view == nil {
			t.view = m.graph(o.Workspace).clone()
		}
		done, err = apply(t.view, mut.event.EventID)
	}
	if err != nil {
		return substrate.Receipt{}, fmt.Errorf("pulsetest: workspace %q: %w", o.Workspace, err)
	}
	if t != nil {
		t.writes = append(t.writes, mut)
	}
	return substrate.Receipt{ID: done.id, AuditEventID: done.event, TraceID: o.TraceID}, nil
}

// perform applies the mutation for good and logs its event, unless there was
// nothing left to do and an earlier event has recorded it.
func (m *Memory) perform(g *graph, mut *mutation) (change, error) {
	done, err := mut.apply(g, mut.event.EventID)
	if err != nil || done.event != mut.event.EventID || m.MaxNodes > 0 {
		return done, err
	}
	_, err = m.log.append(&substrate.AppendEventRequest{Origination: mut.call, Event: mut.event})
	return done, err
}

// graph returns the graph of a workspace.
func (m *Memory) graph(workspace string) *graph {
	g, ok := m.graphs[workspace]
	if !ok {
		if m.graphs == nil {
			m.graphs = make(map[string]*graph)
		}
		g = newGraph(m.MaxNodes)
		m.graphs[workspace] = g
	}
	return g
}

// newEvent is the event of a mutation that is about to happen. A memory without
// a log has none, and its receipts name none.
func (m *Memory) newEvent(o *substrate.Origination, eventType string) substrate.AuditEvent {
	if m.MaxNodes > 0 {
		return substrate.AuditEvent{}
	}
	m.sequence++
	return substrate.AuditEvent{
		EventID: "memory-" + strconv.Itoa(m.sequence), Class: substrate.ClassMutation, EventType: eventType,
		WorkspaceID: o.Workspace, LoopID: o.Loop, LoopVersion: o.LoopVersion, IterationID: o.Iteration,
		PhaseID: o.Phase, Attempt: o.Attempt, TraceID: o.TraceID, SpanID: o.SpanID,
		Timestamp: time.Now(), Signature: o.Signature, Origin: o.Origin,
	}
}
