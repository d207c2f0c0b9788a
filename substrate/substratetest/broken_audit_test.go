package substratetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
)

// appending is a log whose appends are changed on the way in, and whose receipts
// on the way out.
func appending(change func(*substrate.AppendEventRequest), after func(*substrate.Receipt)) func() substrate.Audit {
	return func() substrate.Audit {
		inner := new(pulsetest.Audit)
		return substrate.AuditFuncs{
			AppendEventFunc: func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
				change(&r)
				out, err := inner.AppendEvent(ctx, r)
				after(&out)
				return out, err
			},
			QueryByTraceFunc: inner.QueryByTrace,
		}
	}
}

// querying is a log whose queries are changed in the same way.
func querying(change func(*substrate.QueryByTraceRequest), after func([]substrate.AuditEvent) []substrate.AuditEvent) func() substrate.Audit {
	return func() substrate.Audit {
		inner := new(pulsetest.Audit)
		return substrate.AuditFuncs{
			AppendEventFunc: inner.AppendEvent,
			QueryByTraceFunc: func(ctx context.Context, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
				change(&r)
				out, err := inner.QueryByTrace(ctx, r)
				return after(out), err
			},
		}
	}
}

func TestAuditRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.3-1", "P-9.3-2", "P-7.3-5", "P-5.5-2", "P-12-11")
	keep, sent := func(*substrate.Receipt) {}, func(*substrate.AppendEventRequest) {}
	asked := func(*substrate.QueryByTraceRequest) {}
	same := func(e []substrate.AuditEvent) []substrate.AuditEvent { return e }
	moment := time.Nanosecond
	requireCaught(t, substratetest.AuditRules(), []breaking[substrate.Audit]{
		{"append_keeps_the_event", appending(func(r *substrate.AppendEventRequest) { r.Event.Origin = substrate.Origin{} }, keep)},
		{"append_keeps_the_event", appending(func(r *substrate.AppendEventRequest) { r.Event.CausalParentIDs = nil }, keep)},
		{"append_keeps_the_event", appending(func(r *substrate.AppendEventRequest) { r.Event.Timestamp = r.Event.Timestamp.Truncate(time.Second) }, keep)},
		{"append_gives_unique_ids", appending(sent, func(r *substrate.Receipt) {
			if strings.HasPrefix(r.ID, "event-") {
				r.ID = "event-1"
			}
		})},
		{"append_is_idempotent_by_id", func() substrate.Audit { return new(replacing) }},
		{"events_never_change", func() substrate.Audit { return new(keeping) }},
		{"query_respects_bounds", querying(func(r *substrate.QueryByTraceRequest) { r.Since = time.Time{} }, same)},
		{"query_respects_bounds", querying(func(r *substrate.QueryByTraceRequest) { r.Since = r.Since.Add(moment) }, same)},
		{"query_respects_bounds", querying(func(r *substrate.QueryByTraceRequest) {
			if !r.Until.IsZero() {
				r.Until = r.Until.Add(moment)
			}
		}, same)},
		{"query_orders_by_time", querying(asked, func(e []substrate.AuditEvent) []substrate.AuditEvent {
			slices.Reverse(e)
			return e
		})},
		{"query_orders_by_time", querying(asked, func(e []substrate.AuditEvent) []substrate.AuditEvent {
			slices.SortFunc(e, func(a, b substrate.AuditEvent) int { return strings.Compare(a.EventID, b.EventID) })
			return e
		})},
		{"query_is_of_one_trace", querying(func(r *substrate.QueryByTraceRequest) { r.TraceID = r.Origination.TraceID }, same)},
		{"receipts_echo_the_trace", appending(sent, func(r *substrate.Receipt) { r.TraceID = "" })},
		{"workspaces_are_apart", func() substrate.Audit {
			inner := new(pulsetest.Audit)
			return substrate.AuditFuncs{
				AppendEventFunc: func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
					r.Workspace, r.Event.WorkspaceID = "all", "all"
					return inner.AppendEvent(ctx, r)
				},
				QueryByTraceFunc: func(ctx context.Context, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
					r.Workspace = "all"
					return inner.QueryByTrace(ctx, r)
				},
			}
		}},
		{"workspaces_are_apart", appending(func(r *substrate.AppendEventRequest) { r.Event.WorkspaceID = r.Workspace }, keep)},
		{"concurrent_use", querying(asked, func(e []substrate.AuditEvent) []substrate.AuditEvent { return e[:min(len(e), 100)] })},
	})
}

// replacing is a log in which the last event of an id wins.
type replacing struct{ log }

func (r *replacing) AppendEvent(_ context.Context, req substrate.AppendEventRequest) (substrate.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = slices.DeleteFunc(r.events, func(e substrate.AuditEvent) bool { return e.EventID == req.Event.EventID })
	r.events = append(r.events, req.Event)
	return substrate.Receipt{ID: req.Event.EventID, TraceID: req.TraceID}, nil
}

// keeping is a log that keeps the caller's slices and hands out its own.
type keeping struct{ log }

func (k *keeping) AppendEvent(_ context.Context, req substrate.AppendEventRequest) (substrate.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, req.Event)
	return substrate.Receipt{ID: req.Event.EventID, TraceID: req.TraceID}, nil
}

type log struct {
	mu     sync.Mutex
	events []substrate.AuditEvent
}

func (l *log) QueryByTrace(context.Context, substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events), nil
}
