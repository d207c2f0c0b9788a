package pulsetest

import (
	"context"
	"slices"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

// defaultMaxCalls is how many calls a CallLog keeps if MaxCalls is zero.
const defaultMaxCalls = 1024

// Call is one recorded call of a substrate.
type Call struct {
	Operation   substrate.Operation
	Origination substrate.Origination
	Subject     string // what the call is about: a query, node, action, agent, trace …
	Detail      string // its second argument: a type, status, resource, operation …
	Err         error  // what the substrate answered
}

// CallLog records the calls of one substrate and makes them fail on demand. Each
// substrate of this package embeds one.
//
// Counts are exact. Of the calls themselves the newest MaxCalls are kept, so
// that a long run does not grow.
type CallLog struct {
	// MaxCalls is how many calls are kept: 1,024 if zero, none if negative. Set
	// it before the first call.
	MaxCalls int

	mu     sync.Mutex
	ring   []Call
	next   int // where the next call goes once the ring is full
	counts map[substrate.Operation]int
	faults map[substrate.Operation]fault
}

type fault struct {
	err   error
	times int
}

// Fail makes the next calls of op, so many times, return err before they have
// any effect; a negative number means until Fail is called again. A nil err or
// zero times ends it.
func (l *CallLog) Fail(op substrate.Operation, err error, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || times == 0 {
		delete(l.faults, op)
		return
	}
	if l.faults == nil {
		l.faults = make(map[substrate.Operation]fault)
	}
	l.faults[op] = fault{err: err, times: times}
}

// Calls returns the kept calls in the order in which they ended, or those of the
// given operations only.
func (l *CallLog) Calls(ops ...substrate.Operation) []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Call
	for i := range l.ring {
		c := l.ring[(l.next+i)%len(l.ring)]
		if len(ops) == 0 || slices.Contains(ops, c.Operation) {
			out = append(out, c)
		}
	}
	return out
}

// Count returns how many calls of op have ended, failed ones among them.
func (l *CallLog) Count(op substrate.Operation) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[op]
}

// enter is the start of every operation: it fails if ctx has ended or a fault is
// set.
func (l *CallLog) enter(ctx context.Context, op substrate.Operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) == 0 {
		return nil
	}
	f, ok := l.faults[op]
	if !ok {
		return nil
	}
	if f.times > 0 {
		f.times--
	}
	if f.times == 0 {
		delete(l.faults, op)
	} else {
		l.faults[op] = f
	}
	return f.err
}

// leave is the end of every operation: it counts and records.
func (l *CallLog) leave(op substrate.Operation, o *substrate.Origination, subject, detail string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(op)
	limit := l.MaxCalls
	if limit == 0 {
		limit = defaultMaxCalls
	}
	call := Call{Operation: op, Origination: *o, Subject: subject, Detail: detail, Err: err}
	switch {
	case limit < 0:
	case len(l.ring) < limit:
		l.ring = append(l.ring, call)
	default:
		l.ring[l.next] = call
		l.next = (l.next + 1) % len(l.ring)
	}
}

// count is leave for an operation whose calls are not kept.
func (l *CallLog) count(op substrate.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(op)
}

func (l *CallLog) add(op substrate.Operation) {
	if l.counts == nil {
		l.counts = make(map[substrate.Operation]int)
	}
	l.counts[op]++
}
