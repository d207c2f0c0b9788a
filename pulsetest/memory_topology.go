package pulsetest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/opensentience/pulse-go/token"
)

// topology describes the nodes and the edges between them (OS-010 §6.1).
func topology(trace string, nodes []*node) token.TopologyContext {
	t := token.TopologyContext{
		Header:  token.Header{Token: token.TopologyContextName, Version: token.Version, TraceID: trace},
		Nodes:   make([]token.TopologyNode, len(nodes)),
		Edges:   []token.TopologyEdge{},
		SCCs:    []token.SCC{},
		Routing: token.RoutingFast,
	}
	place := make(map[string]int, len(nodes))
	for i, n := range nodes {
		place[n.ID] = i
		t.Nodes[i] = token.TopologyNode{ID: n.ID, Type: n.Type, Confidence: n.Confidence}
	}
	next := make([][]int, len(nodes))
	for i, n := range nodes {
		for e := range n.out {
			if j, ok := place[e.dst]; ok {
				t.Edges = append(t.Edges, token.TopologyEdge{Src: e.src, Dst: e.dst, Type: e.kind})
				next[i] = append(next[i], j)
			}
		}
		slices.Sort(next[i])
		next[i] = slices.Compact(next[i]) // several types between two nodes are one way
	}
	slices.SortFunc(t.Edges, func(a, b token.TopologyEdge) int {
		return cmp.Or(cmp.Compare(place[a.Src], place[b.Src]), cmp.Compare(place[a.Dst], place[b.Dst]), cmp.Compare(a.Type, b.Type))
	})
	for _, members := range components(next) {
		if k := kappa(next, members); k > 0 {
			t.SCCs = append(t.SCCs, scc(len(t.SCCs), nodes, members, k))
			t.MaxKappa = max(t.MaxKappa, float64(k))
			t.Routing = token.RoutingDeliberate
		}
	}
	return t
}

func scc(number int, nodes []*node, members []int, kappa int) token.SCC {
	s := token.SCC{
		ID: "scc_" + strconv.Itoa(number+1), Kappa: float64(kappa), Routing: token.RoutingDeliberate,
		Budget: token.Budget{MaxIterations: kappa + 1},
	}
	for _, i := range members {
		s.Members = append(s.Members, nodes[i].ID)
	}
	return s
}

// kappa is the cyclomatic number of a strongly connected component: edges minus
// nodes plus 1. It is 0 exactly for a node without a cycle.
func kappa(next [][]int, members []int) int {
	edges := 0
	for _, i := range members {
		for _, j := range next[i] {
			if _, inside := slices.BinarySearch(members, j); inside {
				edges++
			}
		}
	}
	return edges - len(members) + 1
}

// components returns the strongly connected components, each sorted, ordered by
// their first member. It is Tarjan's algorithm with a stack of its own, so that
// a long chain does not exhaust that of the goroutine.
func components(next [][]int) [][]int {
	var (
		found   [][]int
		index   = make([]int, len(next)) // order of discovery from 1; 0 is not seen
		low     = make([]int, len(next)) // least index reachable
		edge    = make([]int, len(next)) // the next edge to follow
		onStack = make([]bool, len(next))
		stack   []int // nodes whose component is not yet known
		path    []int // nodes being visited
		seen    int
	)
	for root := range next {
		if index[root] != 0 {
			continue
		}
		path = append(path, root)
		for len(path) > 0 {
			v := path[len(path)-1]
			if index[v] == 0 {
				seen++
				index[v], low[v] = seen, seen
				stack, onStack[v] = append(stack, v), true
			}
			if edge[v] < len(next[v]) {
				w := next[v][edge[v]]
				edge[v]++
				if index[w] == 0 {
					path = append(path, w)
				} else if onStack[w] {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[v])
			}
			if low[v] == index[v] {
				var members []int
				for onStack[v] {
					w := stack[len(stack)-1]
					stack, onStack[w] = stack[:len(stack)-1], false
					members = append(members, w)
				}
				slices.Sort(members)
				found = append(found, members)
			}
		}
	}
	slices.SortFunc(found, func(a, b []int) int { return a[0] - b[0] })
	return found
}
