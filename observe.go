package pulse

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/machine"
)

// Observer sees what the engine does and never changes it. Observe is called in
// the order of events of an iteration, on the goroutine that drives it, and must
// not block; a panic in it is dropped with a log line.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// EventKind says what an [Event] reports.
type EventKind string

// The kinds of event.
const (
	EventAttempt EventKind = "attempt" // an attempt of a phase ended
	EventRetry   EventKind = "retry"   // another attempt follows after Delay
	EventRecord  EventKind = "record"  // a phase ended: its record was committed
	EventEnd     EventKind = "end"     // the iteration ended, suspended or was interrupted
)

// Event is something that the engine did.
type Event struct {
	Kind      EventKind
	Loop      string
	Iteration string
	Workspace string
	TraceID   string
	Phase     string
	Attempt   int
	Delay     time.Duration   // EventRetry: exactly the delay that follows
	Record    *machine.Record // EventRecord; not to be changed
	Status    Status          // EventEnd
	Err       error           // EventAttempt and EventEnd: what went wrong
}

func (r *run) observe(e Event) {
	if len(r.loop.cfg.Observers) == 0 {
		return
	}
	e.Loop, e.Iteration, e.Workspace, e.TraceID = r.base.Loop, r.id, r.trigger.Workspace, r.trigger.TraceID
	for _, o := range r.loop.cfg.Observers {
		if err := guard(func() error { o.Observe(r.ctx, e); return nil }); err != nil {
			r.loop.log(r.ctx, "an observer", err)
		}
	}
}

// log writes to the host's logger, if it gave one. Nothing of a payload is
// logged.
func (l *Loop) log(ctx context.Context, what string, err error) {
	if l.cfg.Logger != nil {
		//nolint:errcheck // a logger that panics is nothing to log
		guard(func() error {
			l.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "pulse: "+what, slog.String("loop", l.manifest.LoopID), slog.Any("error", err))
			return nil
		})
	}
}

// Straggler is a phase function, or a substrate, that has not returned although
// its time is over.
type Straggler struct {
	Iteration string
	Workspace string
	Phase     string // empty for a substrate call of the engine outside a phase
	Attempt   int
	Since     time.Time
}

// Stragglers lists what has not returned yet; each leaves the list when it does.
func (l *Loop) Stragglers() []Straggler { return l.strays.list() }

type strays struct {
	mu sync.Mutex
	by map[any]Straggler
}

func (s *strays) add(k any, st Straggler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[any]Straggler{}
	}
	s.by[k] = st
}

func (s *strays) remove(k any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, k)
}

func (s *strays) list() []Straggler {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l []Straggler
	for _, st := range s.by {
		l = append(l, st)
	}
	return l
}
