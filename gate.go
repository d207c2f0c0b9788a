package pulse

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// gate admits iterations: at most limit of one workspace at a time, and at most
// queue that wait, first come first served (C-052).
type gate struct {
	limit, queue int

	mu      sync.Mutex
	busy    map[string]int
	waiting map[string][]chan struct{}
}

func newGate(limit, queue int) gate {
	return gate{limit: limit, queue: queue, busy: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// errSelf: whoever waits here waits for itself.
var errSelf = errors.New("a phase enters the loop and workspace that run it, which have no place left: raise Limits.PerWorkspace, or enter from outside")

// enter waits for a place; inside says that the caller holds one already.
func (g *gate) enter(ctx context.Context, workspace string, inside bool) error {
	g.mu.Lock()
	if g.busy[workspace] < g.limit {
		g.busy[workspace]++
		g.mu.Unlock()
		return nil
	}
	if inside {
		g.mu.Unlock()
		return errSelf
	}
	if len(g.waiting[workspace]) >= g.queue {
		g.mu.Unlock()
		return fmt.Errorf("%w: %d wait in workspace %q", ErrOverflow, g.queue, workspace)
	}
	turn := make(chan struct{})
	g.waiting[workspace] = append(g.waiting[workspace], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		if !g.withdraw(workspace, turn) {
			g.leave(workspace) // the place came at the same moment
		}
		return context.Cause(ctx)
	}
}

// withdraw takes a waiter out of the queue; false if it has its place already.
func (g *gate) withdraw(workspace string, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.waiting[workspace]
	for i, t := range q {
		if t == turn {
			g.keep(workspace, append(q[:i:i], q[i+1:]...))
			return true
		}
	}
	return false
}

func (g *gate) keep(workspace string, q []chan struct{}) {
	if len(q) == 0 {
		delete(g.waiting, workspace)
		return
	}
	g.waiting[workspace] = q
}

// leave gives a place back, to the next that waits if there is one.
func (g *gate) leave(workspace string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q := g.waiting[workspace]; len(q) > 0 {
		g.keep(workspace, q[1:])
		close(q[0])
		return
	}
	g.busy[workspace]--
	if g.busy[workspace] == 0 {
		delete(g.busy, workspace)
	}
}
