package substratetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func eraseRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-7.3-6", Name: "erase_removes", Section: "OS-010 §7.3, C-102",
		Text:  "erase removes the nodes named and their edges and nothing else, may be repeated, and passes over ids that are not nodes",
		Check: checkErase,
	}, {
		ID: "P-7.3-6", Name: "erase_rewrites_no_log", Section: "OS-010 §7.3, C-102",
		Text:  "erase leaves the events that the memory's own log held as they were",
		Check: checkEraseKeepsLog,
	}}
}

func logRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-5.5-2", Name: "own_log_echoes_the_trace", Section: "OS-010 §5.5, §7.7, C-089",
		Text:  "the memory's own log has each mutation under the trace id of its call and the id in its receipt, and nothing of other traces",
		Check: checkOwnLog,
	}}
}

func eraser(m substrate.Memory) (substrate.Eraser, error) {
	e, ok := m.(substrate.Eraser)
	if !ok || !substrate.Supports(m, substrate.OpErase) {
		return nil, skipf("the memory is no substrate.Eraser")
	}
	return e, nil
}

func checkErase(ctx context.Context, m substrate.Memory) error {
	e, err := eraser(m)
	if err != nil {
		return err
	}
	g := newGraph(ctx, m)
	ids, err := g.storeAll("keep", "gone", "stay")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	for range 2 {
		r, err := e.Erase(ctx, substrate.EraseRequest{Origination: g.next(), NodeIDs: []string{ids[1], "nowhere"}, Reason: "request 7"})
		if err != nil {
			return fmt.Errorf("erase: %w", err)
		}
		if r.TraceID != g.TraceID {
			return fmt.Errorf("receipt of erase: trace id %q, want %q", r.TraceID, g.TraceID)
		}
		if err := g.wantNodes(g.next(), "after erase", ids[0], ids[2]); err != nil {
			return err
		}
		if err := g.wantTopology("after erase", 2, 1, false); err != nil {
			return err
		}
	}
	return nil
}

// log returns the memory's own events of the call's trace.
func (g *graph) log() ([]substrate.AuditEvent, error) {
	reader, ok := g.Memory.(substrate.AuditReader)
	if !ok {
		return nil, skipf("the memory is no substrate.AuditReader")
	}
	events, err := reader.ReadAudit(g.ctx, substrate.QueryByTraceRequest{Origination: g.next(), TraceID: g.TraceID})
	if err != nil {
		return nil, fmt.Errorf("read of the own log: %w", err)
	}
	return events, nil
}

func checkEraseKeepsLog(ctx context.Context, m substrate.Memory) error {
	e, err := eraser(m)
	if err != nil {
		return err
	}
	g := newGraph(ctx, m)
	ids, err := g.storeAll("gone")
	if err != nil {
		return err
	}
	before, err := g.log()
	if err != nil {
		return err
	}
	if _, err := e.Erase(ctx, substrate.EraseRequest{Origination: g.next(), NodeIDs: ids}); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	after, err := g.log()
	if err != nil {
		return err
	}
	if len(after) < len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
		return fmt.Errorf("the log was %+v, after the erasure it is %+v", before, after)
	}
	return nil
}

func checkOwnLog(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	if _, err := g.log(); err != nil {
		return err
	}
	if _, err := g.another().store("of another trace"); err != nil {
		return err
	}
	node, err := g.store("a")
	if err != nil {
		return err
	}
	loop, err := g.edge(node.ID, node.ID, "causal")
	if err != nil {
		return err
	}
	learned, err := g.learn("action-1", token.StatusSuccess, node.ID)
	if err != nil {
		return err
	}
	events, err := g.log()
	if err != nil {
		return err
	}
	for what, r := range map[string]substrate.Receipt{"store_node": node, "store_edge": loop, "learn_from_outcome": learned.Receipt} {
		if r.AuditEventID == "" {
			return fmt.Errorf("%s: a memory with a log of its own must name the event in its receipt", what)
		}
		if !slices.ContainsFunc(events, func(e substrate.AuditEvent) bool { return e.EventID == r.AuditEventID }) {
			return fmt.Errorf("%s: the receipt names event %q, which the log does not have under trace %q", what, r.AuditEventID, g.TraceID)
		}
	}
	for _, e := range events {
		if e.TraceID != g.TraceID {
			return fmt.Errorf("asked for trace %q, the log gives event %q of trace %q", g.TraceID, e.EventID, e.TraceID)
		}
	}
	if len(events) != 3 {
		return fmt.Errorf("three mutations, %d events in the own log", len(events))
	}
	return nil
}
