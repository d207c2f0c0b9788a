package substratetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/substrate"
)

// Audit runs [AuditRules] on the logs that open returns. Each must be new and
// empty, and serve [Workspace] and [OtherWorkspace]; one that is bound to
// Workspace only must refuse the other with substrate.ErrCrossWorkspace.
func Audit(t *testing.T, open func(*testing.T) substrate.Audit) {
	t.Helper()
	run(t, AuditRules(), open)
}

// AuditRules returns what every audit log must do (OS-010 §9.3).
func AuditRules() []Rule[substrate.Audit] {
	return []Rule[substrate.Audit]{{
		ID: "P-9.3-1", Name: "append_keeps_the_event", Section: "OS-010 §7.3, §9.3, C-088",
		Text:  "append_event keeps every member of the event, with its time to the millisecond",
		Check: checkAppend,
	}, {
		ID: "P-9.3-1", Name: "append_gives_unique_ids", Section: "OS-010 §9.3",
		Text:  "append_event returns the event's id, and a new one for an event without",
		Check: checkEventIDs,
	}, {
		ID: "P-9.3-1", Name: "append_is_idempotent_by_id", Section: "OS-010 §7.3, §9.3",
		Text:  "append_event with an id that is recorded appends nothing and changes nothing, whatever the event says",
		Check: checkAppendTwice,
	}, {
		ID: "P-7.3-5", Name: "events_never_change", Section: "OS-010 §7.3",
		Text:  "what was read once reads the same after later appends, and whatever the caller does to a request or an answer",
		Check: checkImmutable,
	}, {
		ID: "P-9.3-2", Name: "query_respects_bounds", Section: "OS-010 §9.3",
		Text:  "query_by_trace returns the events with since ≤ timestamp < until; a zero bound does not bound",
		Check: checkBounds,
	}, {
		ID: "P-9.3-2", Name: "query_orders_by_time", Section: "OS-010 §9.3",
		Text:  "query_by_trace orders by timestamp, equal timestamps in the order of appending",
		Check: checkOrder,
	}, {
		ID: "P-9.3-2", Name: "query_is_of_one_trace", Section: "OS-010 §9.3",
		Text:  "query_by_trace returns the events of the trace asked for, which need not be that of the call",
		Check: checkOneTrace,
	}, {
		ID: "P-5.5-2", Name: "receipts_echo_the_trace", Section: "OS-010 §5.5, §7.7",
		Text:  "every receipt carries the trace id of its request, also when the append is a repetition",
		Check: checkAuditEcho,
	}, {
		ID: "P-12-11", Name: "workspaces_are_apart", Section: "OS-010 §12, C-095",
		Text:  "a query sees the events of its own workspace only, an event id is unique within its workspace, and an event of another workspace than the call's is substrate.ErrCrossWorkspace",
		Check: checkAuditIsolation,
	}, {
		ID: "P-9-1", Name: "concurrent_use", Section: "OS-010 §9, package substrate",
		Text:  "the log serves several goroutines at once: no event is lost, and one id is one event",
		Check: checkAuditConcurrent,
	}}
}

// journal drives a log for the rules.
type journal struct {
	substrate.Audit
	ctx context.Context
	*caller
}

func newJournal(ctx context.Context, a substrate.Audit) *journal {
	return &journal{a, ctx, newCaller(Workspace)}
}

// noon is when the events of the rules begin.
func noon() time.Time { return time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC) }

// event is a complete event, so many seconds after noon.
func (j *journal) event(id string, seconds int) substrate.AuditEvent {
	return substrate.AuditEvent{
		EventID: id, Class: substrate.ClassTransition, EventType: "phase.completed", Name: "ticket.answered",
		WorkspaceID: j.Workspace, LoopID: j.Loop, LoopVersion: j.LoopVersion, IterationID: j.Iteration,
		PhaseID: j.Phase, Attempt: j.Attempt, TraceID: j.TraceID, SpanID: j.SpanID,
		Timestamp: noon().Add(time.Duration(seconds)*time.Second + 5*time.Millisecond), Signature: digest,
		CausalParentIDs: []string{"node_5", "node_12"}, Outcome: "success",
		Attributes: substrate.Attributes{{Name: "to", Value: "reply"}, {Name: "action_id", Value: "act_42"}},
		Origin:     substrate.Origin{Kind: substrate.OriginWake, SourceEventID: "s", WakeDecisionID: "d", PulseEventID: "p"},
	}
}

func (j *journal) appendEvent(e substrate.AuditEvent) (substrate.Receipt, error) {
	r, err := j.AppendEvent(j.ctx, substrate.AppendEventRequest{Origination: j.next(), Event: e})
	switch {
	case err != nil:
		return r, fmt.Errorf("append_event: %w", err)
	case r.ID == "" || e.EventID != "" && r.ID != e.EventID:
		return r, fmt.Errorf("append_event of %q: receipt for %q", e.EventID, r.ID)
	}
	return r, nil
}

func (j *journal) query(since, until time.Time) ([]substrate.AuditEvent, error) {
	events, err := j.QueryByTrace(j.ctx, substrate.QueryByTraceRequest{Origination: j.next(), TraceID: j.TraceID, Since: since, Until: until})
	if err != nil {
		return nil, fmt.Errorf("query_by_trace: %w", err)
	}
	return events, nil
}

func (j *journal) all() ([]substrate.AuditEvent, error) { return j.query(time.Time{}, time.Time{}) }

// wantEvents says whether those are the events, in that order.
func wantEvents(what string, events []substrate.AuditEvent, ids ...string) error {
	got := make([]string, len(events))
	for i, e := range events {
		got[i] = e.EventID
	}
	if !slices.Equal(got, ids) {
		return fmt.Errorf("%s: events %q, want %q", what, got, ids)
	}
	return nil
}

// equal compares events with their times as instants, and attributes as an
// object.
func equal(a, b substrate.AuditEvent) bool {
	if !a.Timestamp.Equal(b.Timestamp) {
		return false
	}
	a.Timestamp, b.Timestamp = time.Time{}, time.Time{}
	byName := func(x, y substrate.Attribute) int { return strings.Compare(x.Name, y.Name) }
	a.Attributes, b.Attributes = slices.Clone(a.Attributes), slices.Clone(b.Attributes)
	slices.SortFunc(a.Attributes, byName)
	slices.SortFunc(b.Attributes, byName)
	return reflect.DeepEqual(a, b)
}

func checkAppend(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	want := j.event("event-1", 0)
	if _, err := j.appendEvent(want); err != nil {
		return err
	}
	events, err := j.all()
	if err != nil {
		return err
	}
	if err := wantEvents("after one append", events, want.EventID); err != nil {
		return err
	}
	if !equal(events[0], want) {
		return fmt.Errorf("appended %+v, read %+v", want, events[0])
	}
	return nil
}

func checkEventIDs(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	var ids []string
	for i, id := range []string{"", "event-1", "", "event-2", ""} {
		r, err := j.appendEvent(j.event(id, i))
		if err != nil {
			return err
		}
		if slices.Contains(ids, r.ID) {
			return fmt.Errorf("two events have the id %q", r.ID)
		}
		ids = append(ids, r.ID)
	}
	events, err := j.all()
	if err != nil {
		return err
	}
	return wantEvents("ids of receipts and of events", events, ids...)
}

func checkAppendTwice(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	want := j.event("event-1", 0)
	forged := want
	forged.Outcome, forged.Attributes, forged.Timestamp = "failure", nil, want.Timestamp.Add(time.Hour)
	for _, e := range []substrate.AuditEvent{want, want, forged} {
		if _, err := j.appendEvent(e); err != nil {
			return err
		}
		events, err := j.all()
		if err != nil {
			return err
		}
		if len(events) != 1 || !equal(events[0], want) {
			return fmt.Errorf("event-1 was appended once, then again: the log has %+v", events)
		}
	}
	return nil
}

func checkImmutable(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	sent := j.event("event-1", 0)
	want := j.event("event-1", 0)
	if _, err := j.appendEvent(sent); err != nil {
		return err
	}
	sent.CausalParentIDs[0], sent.Attributes[0].Value = "changed", "changed"
	for i := range 5 {
		events, err := j.all()
		if err != nil {
			return err
		}
		if len(events) != i+1 || !equal(events[0], want) {
			return fmt.Errorf("after %d later appends the first of %d events is %+v, was %+v", i, len(events), events[0], want)
		}
		events[0].CausalParentIDs[0], events[0].Attributes[0].Value = "changed", "changed"
		if _, err := j.appendEvent(j.event(fmt.Sprintf("later-%d", i), i+1)); err != nil {
			return err
		}
	}
	return nil
}

func checkBounds(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	ids := []string{"event-0", "event-1", "event-2", "event-3"}
	at := make([]time.Time, len(ids))
	for i, id := range ids {
		e := j.event(id, i)
		at[i] = e.Timestamp
		if _, err := j.appendEvent(e); err != nil {
			return err
		}
	}
	var open time.Time
	for _, c := range []struct {
		what         string
		since, until time.Time
		want         []string
	}{
		{"without bounds", open, open, ids},
		{"since the second", at[1], open, ids[1:]},
		{"until the third", open, at[2], ids[:2]},
		{"since the second until the third", at[1], at[2], ids[1:2]},
		{"since and until the second", at[1], at[1], nil},
		{"since after the last", at[3].Add(time.Second), open, nil},
		{"since the second, in another zone", at[1].In(time.FixedZone("", 3600)), open, ids[1:]},
	} {
		events, err := j.query(c.since, c.until)
		if err != nil {
			return err
		}
		if err := wantEvents(c.what, events, c.want...); err != nil {
			return err
		}
	}
	return nil
}

func checkOrder(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	for _, e := range []struct {
		id      string
		seconds int
	}{{"c1", 3}, {"a", 1}, {"c2", 3}, {"b", 2}, {"c0", 3}} {
		if _, err := j.appendEvent(j.event(e.id, e.seconds)); err != nil {
			return err
		}
	}
	events, err := j.all()
	if err != nil {
		return err
	}
	return wantEvents("appended out of order", events, "a", "b", "c1", "c2", "c0")
}

func checkOneTrace(ctx context.Context, a substrate.Audit) error {
	j, second := newJournal(ctx, a), newJournal(ctx, a)
	for i := range 3 {
		if _, err := j.appendEvent(j.event(fmt.Sprintf("first-%d", i), i)); err != nil {
			return err
		}
		if _, err := second.appendEvent(second.event(fmt.Sprintf("second-%d", i), i)); err != nil {
			return err
		}
	}
	events, err := second.QueryByTrace(ctx, substrate.QueryByTraceRequest{Origination: second.next(), TraceID: j.TraceID})
	if err != nil {
		return fmt.Errorf("query_by_trace: %w", err)
	}
	if err := wantEvents("events of the other trace", events, "first-0", "first-1", "first-2"); err != nil {
		return err
	}
	events, err = j.QueryByTrace(ctx, substrate.QueryByTraceRequest{Origination: j.next(), TraceID: "no such trace"})
	if err != nil {
		return fmt.Errorf("query_by_trace: %w", err)
	}
	return wantEvents("events of an unknown trace", events)
}

func checkAuditEcho(ctx context.Context, a substrate.Audit) error {
	j, again := newJournal(ctx, a), newJournal(ctx, a)
	e := j.event("event-1", 0)
	for _, j := range []*journal{j, again} {
		r, err := j.appendEvent(e)
		if err != nil {
			return err
		}
		if r.TraceID != j.TraceID {
			return fmt.Errorf("receipt has trace id %q, want %q", r.TraceID, j.TraceID)
		}
	}
	return nil
}

func checkAuditIsolation(ctx context.Context, a substrate.Audit) error {
	j := newJournal(ctx, a)
	other := newJournal(ctx, a)
	other.Workspace, other.TraceID = OtherWorkspace, j.TraceID
	if _, err := j.appendEvent(j.event("event-1", 0)); err != nil {
		return err
	}
	events, err := other.all()
	if err := foreign(err); err != nil {
		return err
	}
	if err := wantEvents("of workspace "+Workspace+", read from "+OtherWorkspace, events); err != nil {
		return err
	}
	_, err = other.AppendEvent(ctx, substrate.AppendEventRequest{Origination: other.next(), Event: j.event("event-2", 1)})
	if fault := wantError("append_event for another workspace", err, substrate.ErrCrossWorkspace); fault != nil {
		return fault
	}
	_, err = other.appendEvent(other.event("event-1", 2))
	if errors.Is(err, substrate.ErrCrossWorkspace) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, j := range []*journal{j, other} {
		events, err := j.all()
		if err != nil {
			return err
		}
		if len(events) != 1 || events[0].WorkspaceID != j.Workspace {
			return fmt.Errorf("workspace %s appended one event and reads %+v", j.Workspace, events)
		}
	}
	return nil
}

func checkAuditConcurrent(ctx context.Context, a substrate.Audit) error {
	const goroutines, each = 8, 20
	j := newJournal(ctx, a)
	var wg sync.WaitGroup
	errs := make([]error, goroutines)
	for i := range goroutines {
		mine := &journal{a, ctx, &caller{j.Origination}}
		wg.Go(func() {
			_, errs[i] = mine.appendEvent(mine.event("shared", 0))
			for k := 0; k < each && errs[i] == nil; k++ {
				if _, errs[i] = mine.appendEvent(mine.event(fmt.Sprintf("event-%d-%d", i, k), k)); errs[i] == nil {
					_, errs[i] = mine.all()
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	events, err := j.all()
	if err != nil {
		return err
	}
	if want := goroutines*each + 1; len(events) != want {
		return fmt.Errorf("%d events after concurrent appends, want %d", len(events), want)
	}
	return nil
}
