package substratetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func isolationRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-12-11", Name: "workspaces_do_not_read_each_other", Section: "OS-010 §12, C-095",
		Text:  "a call sees the nodes of its own workspace only, or is substrate.ErrCrossWorkspace",
		Check: checkIsolatedReads,
	}, {
		ID: "P-12-11", Name: "workspaces_do_not_change_each_other", Section: "OS-010 §12, C-095",
		Text:  "a call from another workspace that names this workspace's nodes changes none of them",
		Check: checkIsolatedWrites,
	}, {
		ID: "P-12-11", Name: "workspaces_do_not_share_calls", Section: "OS-010 §12, C-040, C-095",
		Text:  "calls that differ in the workspace only store a node in each",
		Check: checkIsolatedKeys,
	}}
}

// foreign makes of the answer to a call from the other workspace what the rules
// want to know: refused is as good as empty.
func foreign(err error) error {
	if errors.Is(err, substrate.ErrCrossWorkspace) {
		return nil
	}
	return err
}

func checkIsolatedReads(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	other := g.other()
	found, err := other.retrieve(other.next(), 10)
	if err := foreign(err); err != nil {
		return err
	}
	if len(found.Nodes) > 0 || len(found.Topology.Nodes) > 0 {
		return fmt.Errorf("workspace %s retrieves %+v of workspace %s", other.Workspace, found, g.Workspace)
	}
	for _, ids := range [][]string{nil, ids} {
		t, err := other.topology(ids...)
		if err := foreign(err); err != nil {
			return err
		}
		if len(t.Nodes) > 0 || len(t.Edges) > 0 || t.MaxKappa > 0 {
			return fmt.Errorf("workspace %s analyzes %+v of workspace %s", other.Workspace, t, g.Workspace)
		}
	}
	return nil
}

func checkIsolatedWrites(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("same", "same")
	if err != nil {
		return err
	}
	before, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	other := g.other()
	if _, err := other.edge(ids[0], ids[1], "causal"); err == nil {
		return fmt.Errorf("workspace %s stored an edge between nodes of workspace %s", other.Workspace, g.Workspace)
	}
	_, err = other.learn("action-1", token.StatusFailure, ids...)
	if err := foreign(err); err != nil {
		return err
	}
	_, err = other.consolidate()
	if err := foreign(err); err != nil {
		return err
	}
	if eraser, ok := m.(substrate.Eraser); ok && substrate.Supports(m, substrate.OpErase) {
		_, err := eraser.Erase(ctx, substrate.EraseRequest{Origination: other.next(), NodeIDs: ids})
		if err := foreign(err); err != nil {
			return fmt.Errorf("erase: %w", err)
		}
	}
	after, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("workspace %s changed nodes of workspace %s from %+v to %+v", other.Workspace, g.Workspace, before, after)
	}
	return g.wantTopology("after foreign calls", 2, 0, false)
}

func checkIsolatedKeys(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	here := g.next()
	r, err := g.storeAs(here, "here")
	if err != nil {
		return err
	}
	there := here
	there.Workspace = OtherWorkspace
	other := &graph{m, ctx, &caller{there}}
	second, err := other.storeAs(there, "there")
	if errors.Is(err, substrate.ErrCrossWorkspace) {
		return g.wantNodes(g.next(), "after a refused call", r.ID)
	}
	if err != nil {
		return err
	}
	for _, c := range []struct {
		in         *graph
		id, stored string
	}{{g, r.ID, "here"}, {other, second.ID, "there"}} {
		if err := c.in.wantNodes(c.in.next(), "in workspace "+c.in.Workspace, c.id); err != nil {
			return err
		}
		nodes, err := c.in.nodes(c.in.next())
		if err != nil {
			return err
		}
		if n := nodes[c.id]; !strings.Contains(string(n.Content), word+" "+c.stored) {
			return fmt.Errorf("workspace %s stored %s and finds %s", c.in.Workspace, text(c.stored), n.Content)
		}
	}
	return nil
}
