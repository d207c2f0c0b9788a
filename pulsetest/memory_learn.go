package pulsetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// rate is how far an outcome moves confidence towards its target.
const rate = 0.2

// Attribution is the record of an outcome (OS-010 §7.2). It is never changed.
type Attribution struct {
	ID              string
	ActionID        string
	Status          token.Status
	CausalParentIDs []string
	Updates         []substrate.ConfidenceUpdate // empty if the action had its effect before
}

// learning is an outcome as the graph remembers it.
type learning struct {
	Attribution
	change  change
	updates []substrate.ConfidenceUpdate
}

// learn records the outcome once per action and status, and moves confidence
// once per action.
func (g *graph) learn(s *token.OutcomeSignal, event string) (learning, error) {
	if s.ActionID == "" {
		return learning{}, errors.New("outcome signal: action_id is empty (OS-010 §6.3)")
	}
	target, moves, err := target(s.Status)
	if err != nil {
		return learning{}, err
	}
	id := identify("attribution", s.ActionID, string(s.Status))
	if known, ok := g.outcomes.values[id]; ok {
		known.updates = slices.Clone(known.Updates)
		return known, nil
	}
	l := learning{change: change{id, event}, Attribution: Attribution{
		ID: id, ActionID: s.ActionID, Status: s.Status, CausalParentIDs: slices.Clone(s.CausalParentIDs),
	}}
	if moves && !g.learned(s.ActionID) {
		l.Updates = g.move(s.CausalParentIDs, target)
	}
	g.outcomes.put(id, l)
	l.updates = slices.Clone(l.Updates)
	return l, nil
}

// target is the confidence that an outcome speaks for, if it speaks for any.
func target(s token.Status) (confidence float64, moves bool, err error) {
	switch s {
	case token.StatusSuccess:
		return 1, true, nil
	case token.StatusPartial:
		return 0.5, true, nil
	case token.StatusFailure:
		return 0, true, nil
	case token.StatusTimeout:
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("outcome signal: status %q is none of success, partial, failure, timeout (OS-010 §6.3)", s)
}

// learned reports whether an outcome of the action has moved confidence.
func (g *graph) learned(action string) bool {
	for _, s := range [...]token.Status{token.StatusSuccess, token.StatusPartial, token.StatusFailure} {
		if _, ok := g.outcomes.values[identify("attribution", action, string(s))]; ok {
			return true
		}
	}
	return false
}

func (g *graph) move(parents []string, target float64) []substrate.ConfidenceUpdate {
	var updates []substrate.ConfidenceUpdate
	for _, id := range parents {
		n := g.find(id)
		if n == nil || slices.ContainsFunc(updates, func(u substrate.ConfidenceUpdate) bool { return u.NodeID == n.ID }) {
			continue
		}
		before := n.Confidence
		n.Confidence += rate * (target - before)
		updates = append(updates, substrate.ConfidenceUpdate{NodeID: n.ID, Before: before, After: n.Confidence})
	}
	return updates
}

// Attributions returns the outcomes recorded in a workspace, the oldest first.
func (m *Memory) Attributions(workspace string) []Attribution {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.graph(workspace)
	all := make([]Attribution, 0, len(g.outcomes.age))
	for _, id := range g.outcomes.age {
		a := g.outcomes.values[id].Attribution
		a.CausalParentIDs, a.Updates = slices.Clone(a.CausalParentIDs), slices.Clone(a.Updates)
		all = append(all, a)
	}
	return all
}

// Nodes returns the nodes of a workspace, the oldest first.
func (m *Memory) Nodes(workspace string) []substrate.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	nodes := m.graph(workspace).inOrder(func(*node) bool { return true })
	all := make([]substrate.Node, len(nodes))
	for i, n := range nodes {
		all[i] = n.view()
	}
	return all
}
