package substratetest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

func retrieveRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-9.1-1", Name: "retrieve_finds_what_was_stored", Section: "OS-010 §9.1",
		Text:  "retrieve_context returns stored nodes as they were stored",
		Check: checkRoundTrip,
	}, {
		ID: "P-9.1-1", Name: "retrieve_respects_k", Section: "OS-010 §9.1",
		Text:  "retrieve_context returns at most k nodes",
		Check: checkK,
	}, {
		ID: "P-9.1-1", Name: "retrieve_repeats", Section: "OS-010 §9.1",
		Text:  "retrieve_context is idempotent: equal requests have equal answers",
		Check: checkRetrieveRepeats,
	}}
}

func storeRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-9.1-2", Name: "store_node_returns_existing", Section: "OS-010 §9.1, C-040",
		Text:  "store_node returns the existing node for a call whose DedupeKey was seen, whatever the attempt",
		Check: checkStoreOnce,
	}, {
		ID: "P-9.1-2", Name: "store_node_tells_calls_apart", Section: "OS-010 §9.1, C-040",
		Text:  "store_node stores a new node for a call with another signature, ordinal, run, phase, iteration or loop, and for every call outside an iteration",
		Check: checkStoreApart,
	}, {
		ID: "P-7.2-1", Name: "store_node_never_overwrites", Section: "OS-010 §7.2",
		Text:  "store_node with the id of an existing node leaves that node as it is and is substrate.ErrNodeExists",
		Check: checkNoOverwrite,
	}, {
		ID: "P-9.1-3", Name: "store_edge_is_idempotent", Section: "OS-010 §9.1",
		Text:  "store_edge gives the same id for the same source, destination and type, another for others, and stores one edge",
		Check: checkEdgeOnce,
	}, {
		ID: "P-9.1-3", Name: "store_edge_needs_its_ends", Section: "OS-010 §9.1",
		Text:  "store_edge to or from what is not a node of the workspace is substrate.ErrNodeNotFound",
		Check: checkEdgeEnds,
	}, {
		ID: "P-5.5-2", Name: "receipts_echo_the_trace", Section: "OS-010 §5.5, §7.7",
		Text:  "every receipt and every topology carries the trace id of its request, also when the call is a repetition",
		Check: checkEcho,
	}, {
		ID: "P-9-1", Name: "requests_are_not_kept", Section: "OS-010 §9, package substrate",
		Text:  "memory neither keeps nor shares the slices of requests and answers",
		Check: checkNotKept,
	}, {
		ID: "P-9-1", Name: "concurrent_use", Section: "OS-010 §9, package substrate",
		Text:  "memory serves several goroutines at once: no node is lost, and one DedupeKey is one node",
		Check: checkConcurrent,
	}}
}

func checkRoundTrip(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	r, err := g.store("keeper")
	if err != nil {
		return err
	}
	nodes, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	n, ok := nodes[r.ID]
	switch {
	case !ok:
		return fmt.Errorf("node %q was stored and is not found by a word of its content", r.ID)
	case n.Type != "belief" || n.Confidence != 0.5:
		return fmt.Errorf("stored type belief and confidence 0.5, found %q and %v", n.Type, n.Confidence)
	case !strings.Contains(string(n.Content), word+" keeper"):
		return fmt.Errorf("stored content %s, found %s", text("keeper"), n.Content)
	}
	return nil
}

func checkK(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	if _, err := g.storeAll("a", "b", "c", "d"); err != nil {
		return err
	}
	for _, c := range []struct{ k, want int }{{1, 1}, {3, 3}, {4, 4}, {100, 4}, {0, 0}, {-1, 0}} {
		r, err := g.retrieve(g.next(), c.k)
		if err != nil {
			return err
		}
		if len(r.Nodes) != c.want {
			return fmt.Errorf("four nodes match and k is %d: found %d, want %d", c.k, len(r.Nodes), c.want)
		}
	}
	return nil
}

func checkRetrieveRepeats(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b", "c", "d", "e", "f")
	if err != nil {
		return err
	}
	if err := g.ring(ids...); err != nil {
		return err
	}
	o := g.next()
	first, err := g.retrieve(o, 4)
	if err != nil {
		return err
	}
	for range 5 {
		again, err := g.retrieve(o, 4)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("first answer %+v, then %+v", first, again)
		}
	}
	return nil
}

func checkStoreOnce(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	o := g.next()
	first, err := g.storeAs(o, "once")
	if err != nil {
		return err
	}
	o.Attempt, o.SpanID = 2, "span-2"
	again, err := g.storeAs(o, "once")
	if err != nil {
		return err
	}
	if again.ID != first.ID {
		return fmt.Errorf("attempt 1 stored %q, attempt 2 of the same call %q", first.ID, again.ID)
	}
	return g.wantNodes(g.next(), "one call made twice", first.ID)
}

func checkStoreApart(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	base := g.next()
	calls := []struct {
		name   string
		change func(*substrate.Origination)
	}{
		{"the first call", func(*substrate.Origination) {}},
		{"another signature", func(o *substrate.Origination) { o.Signature = "blake3:ff" + digest[len("blake3:ff"):] }},
		{"another ordinal", func(o *substrate.Origination) { o.Ordinal++ }},
		{"another run", func(o *substrate.Origination) { o.Run++ }},
		{"another phase", func(o *substrate.Origination) { o.Phase = "act_again" }},
		{"another iteration", func(o *substrate.Origination) { o.Iteration += "-2" }},
		{"another loop", func(o *substrate.Origination) { o.Loop = "substratetest.second" }},
		{"a call outside an iteration", func(o *substrate.Origination) { o.Iteration = "" }},
		{"a second call outside an iteration", func(o *substrate.Origination) { o.Iteration = "" }},
	}
	by := make(map[string]string, len(calls))
	ids := make([]string, len(calls))
	for i, c := range calls {
		o := base
		c.change(&o)
		r, err := g.storeAs(o, "apart")
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if earlier, ok := by[r.ID]; ok {
			return fmt.Errorf("%s and %s got one node, %q", earlier, c.name, r.ID)
		}
		by[r.ID], ids[i] = c.name, r.ID
	}
	return g.wantNodes(g.next(), "different calls", ids...)
}

func checkNoOverwrite(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	first, err := g.store("original")
	if err != nil {
		return err
	}
	before, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	_, err = g.StoreNode(ctx, substrate.StoreNodeRequest{
		Origination: g.next(), Node: substrate.Node{ID: first.ID, Type: "forgery", Content: text("forged"), Confidence: 1},
	})
	if fault := wantError("store_node with a taken id", err, substrate.ErrNodeExists); fault != nil {
		return fault
	}
	after, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("the node was %+v, now the memory holds %+v", before, after)
	}
	return nil
}

func checkEdgeOnce(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	ids, err := g.storeAll("a", "b")
	if err != nil {
		return err
	}
	first, err := g.edge(ids[0], ids[1], "causal")
	if err != nil {
		return err
	}
	again, err := g.another().edge(ids[0], ids[1], "causal")
	if err != nil {
		return err
	}
	if first.ID != again.ID {
		return fmt.Errorf("the same edge is %q, then %q", first.ID, again.ID)
	}
	back, err := g.edge(ids[1], ids[0], "causal")
	if err != nil {
		return err
	}
	typed, err := g.edge(ids[0], ids[1], "temporal")
	if err != nil {
		return err
	}
	if back.ID == first.ID || typed.ID == first.ID || back.ID == typed.ID {
		return fmt.Errorf("different edges share an id: %q, back %q, other type %q", first.ID, back.ID, typed.ID)
	}
	t, err := g.topology()
	if err != nil {
		return err
	}
	if len(t.Edges) != 3 {
		return fmt.Errorf("three edges were stored, the topology has %d: %+v", len(t.Edges), t.Edges)
	}
	return nil
}

func checkEdgeEnds(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	r, err := g.store("a")
	if err != nil {
		return err
	}
	for _, ends := range [][2]string{{r.ID, "nowhere"}, {"nowhere", r.ID}} {
		_, err := g.edge(ends[0], ends[1], "causal")
		if fault := wantError(fmt.Sprintf("store_edge from %q to %q", ends[0], ends[1]), err, substrate.ErrNodeNotFound); fault != nil {
			return fault
		}
	}
	return nil
}

func checkEcho(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	for _, g := range []*graph{g, g.another()} {
		ids, err := g.storeAll("a", "b")
		if err != nil {
			return err
		}
		o := g.Origination
		o.TraceID += "-2" // the last call again, from another trace
		repeated, err := g.storeAs(o, "b")
		if err != nil {
			return err
		}
		linked, err := g.edge(ids[0], ids[1], "causal")
		if err != nil {
			return err
		}
		learned, err := g.learn("action-1", "success", ids[0])
		if err != nil {
			return err
		}
		merged, err := g.consolidate()
		if err != nil {
			return err
		}
		found, err := g.retrieve(g.next(), 2)
		if err != nil {
			return err
		}
		analyzed, err := g.topology()
		if err != nil {
			return err
		}
		for _, c := range []struct{ what, got, want string }{
			{"receipt of a repeated store_node", repeated.TraceID, o.TraceID},
			{"receipt of store_edge", linked.TraceID, g.TraceID},
			{"receipt of learn_from_outcome", learned.Receipt.TraceID, g.TraceID},
			{"receipt of consolidate", merged.Receipt.TraceID, g.TraceID},
			{"event of consolidate", merged.Event.TraceID, g.TraceID},
			{"topology of retrieve_context", found.Topology.TraceID, g.TraceID},
			{"topology_analyze", analyzed.TraceID, g.TraceID},
		} {
			if c.got != c.want {
				return fmt.Errorf("%s: trace id %q, want %q", c.what, c.got, c.want)
			}
		}
		first, err := g.store("c")
		if err != nil {
			return err
		}
		if first.TraceID != g.TraceID {
			return fmt.Errorf("receipt of store_node: trace id %q, want %q", first.TraceID, g.TraceID)
		}
	}
	return nil
}

func checkNotKept(ctx context.Context, m substrate.Memory) error {
	g := newGraph(ctx, m)
	content := text("original")
	r, err := g.StoreNode(ctx, substrate.StoreNodeRequest{Origination: g.next(), Node: substrate.Node{Type: "belief", Content: content, Confidence: 0.5}})
	if err != nil {
		return fmt.Errorf("store_node: %w", err)
	}
	clear(content)
	for _, who := range []string{"the content of a request", "the content of an answer"} {
		nodes, err := g.nodes(g.next())
		if err != nil {
			return err
		}
		if n := nodes[r.ID]; !strings.Contains(string(n.Content), word+" original") {
			return fmt.Errorf("the caller changed %s, and the node with it: %q", who, n.Content)
		}
		clear(nodes[r.ID].Content)
	}
	return nil
}

func checkConcurrent(ctx context.Context, m substrate.Memory) error {
	const goroutines, each = 8, 10
	g := newGraph(ctx, m)
	shared := g.next()
	var (
		wg     sync.WaitGroup
		errs   = make([]error, goroutines)
		common = make([]string, goroutines)
	)
	for i := range goroutines {
		mine := g.another()
		wg.Go(func() {
			r, err := g.storeAs(shared, "shared")
			common[i], errs[i] = r.ID, err
			for j := 0; j < each && errs[i] == nil; j++ {
				if _, errs[i] = mine.store(fmt.Sprintf("node %d %d", i, j)); errs[i] == nil {
					_, errs[i] = mine.nodes(mine.next())
				}
			}
		})
	}
	wg.Wait()
	for i := range goroutines {
		if errs[i] != nil {
			return errs[i]
		}
		if common[i] != common[0] {
			return fmt.Errorf("one call, made from several goroutines, stored %q and %q", common[0], common[i])
		}
	}
	nodes, err := g.nodes(g.next())
	if err != nil {
		return err
	}
	if want := goroutines*each + 1; len(nodes) != want {
		return fmt.Errorf("%d nodes after concurrent calls, want %d", len(nodes), want)
	}
	return nil
}
