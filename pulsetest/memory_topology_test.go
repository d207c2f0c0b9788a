package pulsetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

// build makes a graph of n nodes, named by letters, with edges by position.
func build(n int, edges [][2]int) []*node {
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = &node{seq: i}
		nodes[i].ID = string(rune('a' + i))
	}
	for _, e := range edges {
		from, to := nodes[e[0]], nodes[e[1]]
		connect(from, to, edge{from.ID, to.ID, "causal"}, link{})
	}
	return nodes
}

func TestKappa(t *testing.T) {
	spec.Covers(t, "P-9.1-6")
	for _, c := range []struct {
		name  string
		n     int
		edges [][2]int
		want  float64
		sccs  [][]string
	}{
		{"nothing", 0, nil, 0, nil},
		{"a node", 1, nil, 0, nil},
		{"a chain", 3, [][2]int{{0, 1}, {1, 2}}, 0, nil},
		{"two ways without a cycle", 4, [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 0, nil},
		{"a node that leads to itself", 1, [][2]int{{0, 0}}, 1, [][]string{{"a"}}},
		{"a cycle of two", 2, [][2]int{{0, 1}, {1, 0}}, 1, [][]string{{"a", "b"}}},
		{"a cycle of three with a chord", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}, {1, 0}}, 2, [][]string{{"a", "b", "c"}}},
		{"two cycles, joined", 5, [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 2}, {3, 4}}, 1, [][]string{{"a", "b"}, {"c", "d"}}},
		{"all to all", 3, [][2]int{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}, 4, [][]string{{"a", "b", "c"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := topology("trace", build(c.n, c.edges))
			require.NoError(t, got.Validate())
			require.Equal(t, c.want, got.MaxKappa)
			var members [][]string
			for _, s := range got.SCCs {
				members = append(members, s.Members)
				require.Equal(t, token.RoutingDeliberate, s.Routing)
			}
			require.Equal(t, c.sccs, members)
		})
	}
}

func TestParallelTypesAreOneWay(t *testing.T) {
	nodes := build(2, [][2]int{{0, 1}, {1, 0}})
	connect(nodes[0], nodes[1], edge{"a", "b", "temporal"}, link{})
	got := topology("trace", nodes)
	require.Len(t, got.Edges, 3)
	require.Equal(t, 1.0, got.MaxKappa)
}

// Two nodes share a component exactly if each reaches the other.
func TestComponentsAgreeWithReachability(t *testing.T) {
	spec.Covers(t, "P-9.1-6")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "nodes")
		next := make([][]int, n)
		for i := range next {
			for j := range n {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					next[i] = append(next[i], j)
				}
			}
		}
		reach := func(from, to int) bool {
			seen, todo := make([]bool, n), []int{from}
			for len(todo) > 0 {
				v := todo[0]
				todo = todo[1:]
				if v == to {
					return true
				}
				for _, w := range next[v] {
					if !seen[w] {
						seen[w] = true
						todo = append(todo, w)
					}
				}
			}
			return false
		}
		of := make([]int, n)
		for c, members := range components(next) {
			if !slices.IsSorted(members) {
				t.Fatalf("component %v is not sorted", members)
			}
			for _, v := range members {
				of[v] = c + 1
			}
		}
		for i := range n {
			for j := range n {
				if (of[i] == of[j]) != (reach(i, j) && reach(j, i)) || of[i] == 0 {
					t.Fatalf("nodes %d and %d of %v: components %v", i, j, next, of)
				}
			}
		}
	})
}

// A long chain neither exhausts the stack nor takes quadratic time.
func TestComponentsOfALongChain(t *testing.T) {
	const n = 200_000
	next := make([][]int, n)
	for i := range n - 1 {
		next[i] = []int{i + 1}
	}
	require.Len(t, components(next), n)
	next[n-1] = []int{0}
	require.Len(t, components(next), 1)
}
