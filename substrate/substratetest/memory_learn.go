package substratetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func learnRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-9.1-4", Name: "learn_is_idempotent", Section: "OS-010 §9.1",
		Text:  "learn_from_outcome with a signal that was applied changes nothing, from whichever call it comes",
		Check: checkLearnTwice,
	}, {
		ID: "P-9.1-4", Name: "learn_moves_towards_the_outcome", Section: "OS-010 §9.1",
		Text:  "success does not lower the confidence of a causal parent, failure does not raise it, and the updates say what retrieval then shows",
		Check: checkLearnDirection,
	}, {
		ID: "P-7.2-2", Name: "learn_only_adjusts_confidence", Section: "OS-010 §7.2",
		Text:  "learn_from_outcome changes the confidence of the causal parents and nothing else; parents that are not nodes are passed over",
		Check: checkLearnOnlyParents,
	}, {
		ID: "P-7.2-3", Name: "attribution_is_append_only", Section: "OS-010 §7.2",
		Text:  "the same outcome has the same attribution, a different outcome of the same action gets another",
		Check: checkAttribution,
	}, {
		ID: "P-9.1-5", Name: "consolidate_is_idempotent", Section: "OS-010 §9.1",
		Text:  "consolidate converges, after which calling it again changes nothing",
		Check: checkConsolidate,
	}}
}

// outcome is a complete signal (OS-010 §6.3).
func (g *graph) outcome(action string, status token.Status, parents []string) token.OutcomeSignal {
	return token.OutcomeSignal{
		Header:   token.Header{Token: token.OutcomeSignalName, Version: token.Version, TraceID: g.TraceID},
		ActionID: action, Status: status, CausalParentIDs: parents,
		Timestamp: time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC),
	}
}

func checkLearnTwice(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b")
	if err != nil {
		return err
	}
	if _, err := g.learn("action-1", token.StatusSuccess, ids...); err != nil {
		return err
	}
	once, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	for _, caller := range []*graph{g, g.another()} {
		if _, err := caller.learn("action-1", token.StatusSuccess, ids...); err != nil {
			return err
		}
		twice, err := g.nodes(g.next())
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(once, twice) {
			return fmt.Errorf("applied once: %+v, applied again: %+v", once, twice)
		}
	}
	return nil
}

func checkLearnDirection(ctx context.Context, m substrate.Memory) error {
	for status, sign := range map[token.Status]float64{token.StatusSuccess: 1, token.StatusFailure: -1} {
		g := newGraph(ctx, m)
		r, err := g.store("parent " + string(status))
		if err != nil {
			return err
		}
		learned, err := g.learn("action-"+string(status), status, r.ID)
		if err != nil {
			return err
		}
		nodes, err := g.nodes(g.next())
		if err != nil {
			return err
		}
		now := nodes[r.ID].Confidence
		if inUnit := now >= 0 && now <= 1; sign*(now-0.5) < 0 || !inUnit {
			return fmt.Errorf("%s moved confidence from 0.5 to %v", status, now)
		}
		said := 0.5 // without an update nothing has moved
		for _, u := range learned.Updates {
			if u.NodeID != r.ID || u.Before != 0.5 {
				return fmt.Errorf("update %+v is not of node %q with confidence 0.5", u, r.ID)
			}
			said = u.After
		}
		if said != now {
			return fmt.Errorf("the updates say confidence %v, retrieval shows %v", said, now)
		}
	}
	return nil
}

func checkLearnOnlyParents(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("parent", "bystander")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	before, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if _, err := g.learn("action-1", token.StatusFailure, ids[0], "nowhere"); err != nil {
		return err
	}
	after, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	parent := after[ids[0]]
	parent.Confidence = before[ids[0]].Confidence
	after[ids[0]] = parent
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("beside the parent's confidence, %+v became %+v", before, after)
	}
	t, err := g.topology()
	if err != nil {
		return err
	}
	if len(t.Edges) != 2 {
		return fmt.Errorf("there were two edges, now %d", len(t.Edges))
	}
	return nil
}

func checkAttribution(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	r, err := g.store("parent")
	if err != nil {
		return err
	}
	var ids []string
	for _, status := range []token.Status{token.StatusTimeout, token.StatusTimeout, token.StatusSuccess, token.StatusTimeout} {
		learned, err := g.learn("action-1", status, r.ID)
		if err != nil {
			return err
		}
		ids = append(ids, learned.Receipt.ID)
	}
	switch {
	case slices.Contains(ids, ""):
		return errors.New("learn_from_outcome: receipt without id")
	case ids[0] != ids[1] || ids[0] != ids[3]:
		return fmt.Errorf("one outcome has the attributions %q, %q and %q", ids[0], ids[1], ids[3])
	case ids[0] == ids[2]:
		return fmt.Errorf("timeout and success of one action share the attribution %q: one replaced the other", ids[0])
	}
	return nil
}

func checkConsolidate(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("same", "same", "same", "different")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	for rounds := 0; ; rounds++ {
		r, err := g.consolidate()
		if err != nil {
			return err
		}
		if err := r.Event.Validate(); err != nil {
			return fmt.Errorf("consolidate: event: %w", err)
		}
		if r.Event.ConvergenceStatus == token.ConvergenceStable {
			break
		}
		if rounds == 20 {
			return fmt.Errorf("consolidate is %s after %d calls", r.Event.ConvergenceStatus, rounds)
		}
	}
	stable, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if len(stable) == 0 {
		return errors.New("consolidate left nothing of four nodes")
	}
	r, err := g.another().consolidate()
	if err != nil {
		return err
	}
	again, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(stable, again) || r.Event.ConvergenceStatus != token.ConvergenceStable {
		return fmt.Errorf("stable with %+v, after another call %s with %+v", stable, r.Event.ConvergenceStatus, again)
	}
	return nil
}
