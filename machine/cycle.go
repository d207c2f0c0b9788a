package machine

// markRepeats finds the phases that lie on a cycle of the successor relation:
// those in a strongly connected component with more than one phase, and those
// that follow themselves. It is Tarjan's algorithm with its own stack, since
// a manifest may be long.
func (p *Plan) markRepeats() {
	t := tarjan{plan: p, order: make([]int, len(p.phases)), low: make([]int, len(p.phases)), open: make([]bool, len(p.phases))}
	for i := range p.phases {
		if t.order[i] == 0 {
			t.visit(i)
		}
	}
}

type tarjan struct {
	plan  *Plan
	order []int // when a phase was found, from 1
	low   []int // the earliest phase that it reaches among the open ones
	open  []bool
	path  []frame
	stack []int // open phases in the order found
	found int
}

type frame struct{ phase, edge int }

func (t *tarjan) visit(root int) {
	t.discover(root)
	for len(t.path) > 0 {
		f := &t.path[len(t.path)-1]
		edges := t.plan.edges(f.phase)
		if f.edge < len(edges) {
			to := edges[f.edge]
			f.edge++
			t.follow(f.phase, to)
			continue
		}
		done := f.phase
		t.path = t.path[:len(t.path)-1]
		if len(t.path) > 0 {
			parent := t.path[len(t.path)-1].phase
			t.low[parent] = min(t.low[parent], t.low[done])
		}
		if t.low[done] == t.order[done] {
			t.component(done)
		}
	}
}

func (t *tarjan) discover(i int) {
	t.found++
	t.order[i], t.low[i], t.open[i] = t.found, t.found, true
	t.stack = append(t.stack, i)
	t.path = append(t.path, frame{phase: i})
}

func (t *tarjan) follow(from, to int) {
	switch {
	case t.plan.closes(from, to):
	case from == to:
		t.plan.phases[from].repeats = true
	case t.order[to] == 0:
		t.discover(to)
	case t.open[to]:
		t.low[from] = min(t.low[from], t.order[to])
	}
}

// component takes the component of its first phase off the stack.
func (t *tarjan) component(first int) {
	at := len(t.stack) - 1
	for t.stack[at] != first {
		at--
	}
	members := t.stack[at:]
	t.stack = t.stack[:at]
	for _, i := range members {
		t.open[i] = false
		if len(members) > 1 {
			t.plan.phases[i].repeats = true
		}
	}
}

// edges gives the phases that may follow a phase.
func (p *Plan) edges(i int) []int {
	at := &p.phases[i]
	switch {
	case at.routes:
		return at.targets
	case at.next < 0:
		return nil
	}
	return []int{at.next}
}
