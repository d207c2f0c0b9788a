package pulse

import (
	"container/heap"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/token"
)

const (
	rememberFor = 24 * time.Hour // how long an ended wait is remembered, to tell a second or late signal from an early one
	rememberMax = 10_000         // how many ended waits are remembered
	earlyMax    = 10_000         // signals of a workspace that may come before their await
)

// waitKey names what an iteration waits for.
type waitKey struct {
	workspace string
	token     token.Name
	action    string
}

type waitState uint8

const (
	waitUnknown waitState = iota
	waitEarly             // a signal came, nobody waits yet
	waitOpen              // an iteration waits
	waitTaken             // the signal was taken
	waitOver              // the deadline passed, or the iteration ended
)

type wait struct {
	state     waitState
	iteration string
	deadline  time.Time
	signal    *token.OutcomeSignal
	ended     *Iteration // what is known of the iteration since
}

// waits remembers which suspended iteration waits for which action's outcome,
// the outcomes that came early, and for a day those that are done with.
type waits struct {
	mu      sync.Mutex
	by      map[waitKey]*wait
	due     map[string]*due // by workspace
	early   int             // signals that came early
	earlyOf map[string]int  // the same by workspace
	came    []doneWait      // the early ones, and at most as many that were taken; oldest first
	done    []doneWait      // oldest first
}

// due holds the deadlines of a workspace's open waits, and of at most as many that
// are over.
type due struct {
	heap deadlines
	open int
}

// deadlines is a heap, the earliest first.
type deadlines []dueWait

type dueWait struct {
	key waitKey
	at  time.Time
}

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(dueWait)) } //nolint:forcetypeassert // only await pushes
func (d *deadlines) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

type doneWait struct {
	key waitKey
	at  time.Time
}

// await registers an iteration, or hands it the signal that came early.
func (w *waits) await(k waitKey, iteration string, deadline time.Time) (*token.OutcomeSignal, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.by[k]; e != nil && e.state == waitEarly {
		w.uncount(k)
		e.iteration = iteration
		w.over(k, e, waitTaken, time.Now())
		return e.signal, true
	}
	w.open(k, &wait{state: waitOpen, iteration: iteration, deadline: deadline})
	return nil, false
}

// open makes a wait open. w.mu is held.
func (w *waits) open(k waitKey, e *wait) {
	w.by[k] = e
	if e.deadline.IsZero() {
		return
	}
	d := w.due[k.workspace]
	if d == nil {
		d = &due{}
		w.due[k.workspace] = d
	}
	d.open++
	heap.Push(&d.heap, dueWait{k, e.deadline})
}

// close forgets the deadline of a wait that is no longer open. w.mu is held.
func (w *waits) close(k waitKey, e *wait) {
	d := w.due[k.workspace]
	if d == nil || e.deadline.IsZero() {
		return
	}
	d.open--
	switch {
	case d.open == 0:
		delete(w.due, k.workspace)
	case len(d.heap) > 2*d.open:
		d.heap = slices.DeleteFunc(d.heap, func(x dueWait) bool { return !w.pending(x) })
		heap.Init(&d.heap)
	}
}

// pending reports whether a deadline is that of an open wait.
func (w *waits) pending(x dueWait) bool {
	e := w.by[x.key]
	return e != nil && e.state == waitOpen && e.deadline.Equal(x.at)
}

// over marks a wait as done with; it is remembered for a while. w.mu is held.
func (w *waits) over(k waitKey, e *wait, s waitState, now time.Time) {
	was := e.state
	e.state = s
	if was == waitOpen {
		w.close(k, e)
	}
	w.done = append(w.done, doneWait{k, now})
}

func (w *waits) count(k waitKey) {
	w.early++
	w.earlyOf[k.workspace]++
}

func (w *waits) uncount(k waitKey) {
	w.early--
	w.earlyOf[k.workspace]--
	if w.earlyOf[k.workspace] == 0 {
		delete(w.earlyOf, k.workspace)
	}
}

// deliver takes the wait for a signal, or keeps a signal for which nobody waits.
// It gives what the wait was before.
func (w *waits) deliver(k waitKey, s *token.OutcomeSignal, now time.Time) (wait, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(now)
	e := w.by[k]
	switch {
	case e == nil:
		if w.earlyOf[k.workspace] >= earlyMax {
			return wait{}, fmt.Errorf("%w: %d outcomes came before their action was awaited", ErrOverflow, earlyMax)
		}
		w.count(k)
		w.by[k] = &wait{state: waitEarly, signal: s}
		w.came = append(w.came, doneWait{k, now})
		return wait{state: waitUnknown}, nil
	case e.state == waitOpen && (e.deadline.IsZero() || now.Before(e.deadline)):
		was := *e
		w.over(k, e, waitTaken, now)
		return was, nil
	case e.state == waitOpen: // overdue, and not resumed yet
		return wait{state: waitOver, iteration: e.iteration, ended: e.ended}, nil
	default:
		return *e, nil
	}
}

// isOpen reports whether an iteration of this process waits.
func (w *waits) isOpen(k waitKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.by[k]
	return e != nil && e.state == waitOpen
}

// reopen gives a wait back whose iteration could not be resumed, or a signal
// that came early and could not be taken.
func (w *waits) reopen(k waitKey, was wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was.state == waitEarly {
		w.count(k)
		w.by[k] = &was
		w.came = append(w.came, doneWait{k, time.Now()})
		return
	}
	w.open(k, &was)
}

// withdraw takes an early signal back.
func (w *waits) withdraw(k waitKey, s *token.OutcomeSignal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.by[k]; e != nil && e.state == waitEarly && e.signal == s {
		w.uncount(k)
		delete(w.by, k)
	}
}

// overdue takes the waits of a workspace whose deadline has passed.
func (w *waits) overdue(workspace string, now time.Time) map[waitKey]wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	var over map[waitKey]wait
	for d := w.due[workspace]; d != nil && len(d.heap) > 0; {
		first := d.heap[0]
		open := w.pending(first)
		if open && now.Before(first.at) {
			break
		}
		heap.Pop(&d.heap)
		if !open {
			continue
		}
		if over == nil {
			over = map[waitKey]wait{}
		}
		over[first.key] = *w.by[first.key]
		w.over(first.key, w.by[first.key], waitOver, now)
	}
	return over
}

// settled notes how an iteration that waited goes on.
func (w *waits) settled(k waitKey, it *Iteration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.by[k]; e != nil && e.state != waitOpen {
		e.ended = &Iteration{ID: it.ID, Workspace: it.Workspace, TraceID: it.TraceID, Status: it.Status, Err: it.Err, loop: it.loop}
	}
}

// forget drops what has been done with for a day, or is one of too many, and the
// early signals for which nobody waited in a day. w.mu is held.
func (w *waits) forget(now time.Time) {
	n := 0
	for n < len(w.done) && (len(w.done)-n > rememberMax || now.Sub(w.done[n].at) > rememberFor) {
		if e := w.by[w.done[n].key]; e != nil && e.state != waitOpen && e.state != waitEarly {
			delete(w.by, w.done[n].key)
		}
		n++
	}
	w.done = w.done[n:]
	for len(w.came) > 0 && now.Sub(w.came[0].at) > rememberFor {
		if w.isEarly(w.came[0]) {
			w.uncount(w.came[0].key)
			delete(w.by, w.came[0].key)
		}
		w.came = w.came[1:]
	}
	if len(w.came) > 2*w.early {
		w.came = slices.DeleteFunc(w.came, func(x doneWait) bool { return !w.isEarly(x) })
	}
}

// isEarly reports whether a signal that came early still waits to be taken.
func (w *waits) isEarly(x doneWait) bool {
	e := w.by[x.key]
	return e != nil && e.state == waitEarly
}
