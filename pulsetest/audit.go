package pulsetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

// Audit is a [substrate.Audit] in memory. There is no way to change or remove an
// event. Its limits: it grows without bound unless it discards, and ends with
// the process.
//
// Appending an event without parents and attributes allocates nothing but the
// storage of the log.
type Audit struct {
	CallLog

	// Discard makes the log count its events and keep none, for benchmarks and
	// long runs. Queries are then unsupported, repeated event ids are not
	// noticed and the calls of AppendEvent are counted but not kept. Set it
	// before the first call.
	Discard bool

	mu      sync.RWMutex
	pages   [][]record
	size    int
	byEvent map[auditKey]struct{}
	newest  map[auditKey]int // by trace: 1 + position of its newest event
}

var (
	_ substrate.Audit     = (*Audit)(nil)
	_ substrate.Supporter = (*Audit)(nil)
)

// pageSize is how many records one page of the log holds. Pages are never
// copied, whatever the length of the log.
const pageSize = 256

// record is an event and the place of the one before it in its trace, so that
// appending needs no slice per trace.
type record struct {
	event    substrate.AuditEvent
	previous int // as in newest; 0 is none
}

type auditKey struct{ workspace, id string }

// Supports reports whether the log can answer op: queries only if it keeps
// events.
func (a *Audit) Supports(op substrate.Operation) bool {
	return op == substrate.OpAppendEvent || op == substrate.OpQueryByTrace && !a.Discard
}

// AppendEvent appends the event, once per event id. Workspace, trace and span
// that the event does not say are those of the call.
func (a *Audit) AppendEvent(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
	var receipt substrate.Receipt
	err := a.enter(ctx, substrate.OpAppendEvent)
	if err == nil {
		receipt, err = a.append(&r)
	}
	if a.Discard {
		a.count(substrate.OpAppendEvent)
	} else {
		a.leave(substrate.OpAppendEvent, &r.Origination, r.Event.EventID, r.Event.EventType, err)
	}
	return receipt, err
}

func (a *Audit) append(r *substrate.AppendEventRequest) (substrate.Receipt, error) {
	if r.Event.WorkspaceID == "" {
		r.Event.WorkspaceID = r.Workspace
	}
	if err := substrate.CheckWorkspace(r.Event.WorkspaceID, r.Origination); err != nil {
		return substrate.Receipt{}, fmt.Errorf("pulsetest: audit event %q: %w", r.Event.EventID, err)
	}
	if r.Event.TraceID == "" {
		r.Event.TraceID = r.TraceID
	}
	if r.Event.SpanID == "" {
		r.Event.SpanID = r.SpanID
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Event.EventID == "" {
		r.Event.EventID = a.newID(r.Workspace)
	}
	receipt := substrate.Receipt{ID: r.Event.EventID, AuditEventID: r.Event.EventID, TraceID: r.TraceID}
	if a.Discard {
		a.size++
		return receipt, nil
	}
	id := auditKey{r.Workspace, r.Event.EventID}
	if _, recorded := a.byEvent[id]; recorded {
		return receipt, nil
	}
	if a.byEvent == nil {
		a.byEvent, a.newest = make(map[auditKey]struct{}), make(map[auditKey]int)
	}
	a.byEvent[id] = struct{}{}
	a.store(&r.Event)
	return receipt, nil
}

// newID returns an event id that the workspace does not have.
func (a *Audit) newID(workspace string) string {
	for n := a.size + 1; ; n++ {
		id := "pulsetest-event-" + strconv.Itoa(n)
		if _, taken := a.byEvent[auditKey{workspace, id}]; !taken {
			return id
		}
	}
}

// store puts the event at the end of the log and of its trace.
func (a *Audit) store(event *substrate.AuditEvent) {
	if a.size%pageSize == 0 {
		a.pages = append(a.pages, make([]record, 0, pageSize))
	}
	trace := auditKey{event.WorkspaceID, event.TraceID}
	page := &a.pages[len(a.pages)-1]
	*page = append(*page, record{event: cloneEvent(event), previous: a.newest[trace]})
	a.size++
	a.newest[trace] = a.size
}

// QueryByTrace returns the events of the trace, by time.
func (a *Audit) QueryByTrace(ctx context.Context, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
	var events []substrate.AuditEvent
	err := a.enter(ctx, substrate.OpQueryByTrace)
	if err == nil && a.Discard {
		err = fmt.Errorf("pulsetest: audit discards its events: %w", errors.ErrUnsupported)
	}
	if err == nil {
		events = a.query(&r)
	}
	a.leave(substrate.OpQueryByTrace, &r.Origination, r.TraceID, "", err)
	return events, err
}

func (a *Audit) query(r *substrate.QueryByTraceRequest) []substrate.AuditEvent {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var events []substrate.AuditEvent
	for at := a.newest[auditKey{r.Workspace, r.TraceID}]; at != 0; {
		rec := a.at(at - 1)
		if within(&rec.event, r) {
			events = append(events, cloneEvent(&rec.event))
		}
		at = rec.previous
	}
	slices.Reverse(events)
	sortByTime(events)
	return events
}

func (a *Audit) at(i int) *record { return &a.pages[i/pageSize][i%pageSize] }

// Events returns all events, of all workspaces, in the order of appending.
func (a *Audit) Events() []substrate.AuditEvent {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.Discard {
		return nil
	}
	events := make([]substrate.AuditEvent, a.size)
	for i := range events {
		events[i] = cloneEvent(&a.at(i).event)
	}
	return events
}

// Len returns how many events were appended, discarded ones among them.
func (a *Audit) Len() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.size
}

func within(e *substrate.AuditEvent, r *substrate.QueryByTraceRequest) bool {
	return (r.Since.IsZero() || !e.Timestamp.Before(r.Since)) &&
		(r.Until.IsZero() || e.Timestamp.Before(r.Until))
}

func sortByTime(events []substrate.AuditEvent) {
	slices.SortStableFunc(events, func(x, y substrate.AuditEvent) int { return x.Timestamp.Compare(y.Timestamp) })
}

// cloneEvent copies the event with its slices: neither who appended it nor who
// read it can change what is recorded.
func cloneEvent(e *substrate.AuditEvent) substrate.AuditEvent {
	c := *e
	c.CausalParentIDs = slices.Clone(e.CausalParentIDs)
	c.Attributes = slices.Clone(e.Attributes)
	return c
}
