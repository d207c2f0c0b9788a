package substrate

import (
	"context"
	"time"
)

// Audit is the append-only log (OS-010 §9.3). It has no operation that changes
// or removes an event (OS-010 §7.3), and an implementation must not offer one:
// erasure of personal data goes through [Eraser].
type Audit interface {
	// AppendEvent records the event and returns its id, durable when the call
	// returns. It is idempotent by EventID: an id recorded before is not
	// recorded again and the stored event stays as it was. An event without an
	// EventID gets one. An event of another workspace than the call's is
	// ErrCrossWorkspace.
	AppendEvent(context.Context, AppendEventRequest) (Receipt, error)

	// QueryByTrace returns the events of a trace in the workspace of the call,
	// ordered by timestamp, equal timestamps in the order of appending. It
	// changes nothing and may be repeated.
	QueryByTrace(context.Context, QueryByTraceRequest) ([]AuditEvent, error)
}

// AppendEventRequest is the input of [OpAppendEvent].
type AppendEventRequest struct {
	Origination
	Event AuditEvent `json:"event"`
}

// QueryByTraceRequest is the input of [OpQueryByTrace]. TraceID is the trace
// asked for; that of the asking call is Origination.TraceID. An event matches if
// Since ≤ its timestamp < Until; a zero bound does not bound.
type QueryByTraceRequest struct {
	Origination
	TraceID string    `json:"queried_trace_id"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
}
