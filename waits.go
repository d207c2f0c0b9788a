package pulse

import (
	"fmt"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/token"
)

const (
	rememberFor = 24 * time.Hour // how long an ended wait is remembered, to tell a second or late signal from an early one
	earlyMax    = 10_000         // signals that may come before their await
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
	mu    sync.Mutex
	by    map[waitKey]*wait
	early int
	done  []doneWait // oldest first
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
		w.early--
		e.state, e.iteration = waitTaken, iteration
		w.done = append(w.done, doneWait{k, time.Now()})
		return e.signal, true
	}
	w.by[k] = &wait{state: waitOpen, iteration: iteration, deadline: deadline}
	return nil, false
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
		if w.early >= earlyMax {
			return wait{}, fmt.Errorf("%w: %d outcomes came before their action was awaited", ErrOverflow, earlyMax)
		}
		w.early++
		w.by[k] = &wait{state: waitEarly, signal: s}
		return wait{state: waitUnknown}, nil
	case e.state == waitOpen && (e.deadline.IsZero() || now.Before(e.deadline)):
		was := *e
		e.state = waitTaken
		w.done = append(w.done, doneWait{k, now})
		return was, nil
	case e.state == waitOpen: // overdue, and not resumed yet
		return wait{state: waitOver, iteration: e.iteration, ended: e.ended}, nil
	default:
		return *e, nil
	}
}

// reopen gives a wait back whose iteration could not be resumed.
func (w *waits) reopen(k waitKey, was wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[k] = &was
}

// overdue takes the waits of a workspace whose deadline has passed.
func (w *waits) overdue(workspace string, now time.Time) map[waitKey]wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	var over map[waitKey]wait
	for k, e := range w.by {
		if k.workspace == workspace && e.state == waitOpen && !e.deadline.IsZero() && !now.Before(e.deadline) {
			if over == nil {
				over = map[waitKey]wait{}
			}
			over[k] = *e
			e.state = waitOver
			w.done = append(w.done, doneWait{k, now})
		}
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

// forget drops what has been done with for a day. w.mu is held.
func (w *waits) forget(now time.Time) {
	n := 0
	for n < len(w.done) && now.Sub(w.done[n].at) > rememberFor {
		if e := w.by[w.done[n].key]; e != nil && e.state != waitOpen {
			delete(w.by, w.done[n].key)
		}
		n++
	}
	w.done = w.done[n:]
}
