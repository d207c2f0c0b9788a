package substrate

import (
	"time"

	"github.com/opensentience/pulse-go/signature"
)

// EventClass says what an audit event reports (C-087).
type EventClass string

// The classes of audit events. A phase that ended has exactly one event of class
// transition; its failed attempts are lifecycle events.
const (
	ClassTransition EventClass = "transition" // a phase ended
	ClassMutation   EventClass = "mutation"   // a substrate was changed
	ClassSignal     EventClass = "signal"     // a token was emitted, delivered, consumed or dropped
	ClassLifecycle  EventClass = "lifecycle"  // anything else: begin, intent, failed attempt, cancellation
)

// AuditEvent is one entry of the log (C-088). TraceID, PhaseID, Timestamp and
// Signature are mandatory (OS-010 §7.3); events that other systems wrote may
// lack the rest.
type AuditEvent struct {
	EventID         string           `json:"event_id,omitempty"`
	Class           EventClass       `json:"class,omitempty"`
	EventType       string           `json:"event_type,omitempty"` // such as phase.routed (OS-010 §5.3)
	Name            string           `json:"name,omitempty"`       // the phase's audit_event (C-087)
	WorkspaceID     string           `json:"workspace_id,omitempty"`
	LoopID          string           `json:"loop_id,omitempty"`
	LoopVersion     string           `json:"loop_version,omitempty"`
	IterationID     string           `json:"iteration_id,omitempty"`
	PhaseID         string           `json:"phase_id"`
	Attempt         int              `json:"attempt,omitempty"`
	TraceID         string           `json:"trace_id"`
	SpanID          string           `json:"span_id,omitempty"`
	Timestamp       time.Time        `json:"timestamp"`
	Signature       signature.Digest `json:"signature"`
	CausalParentIDs []string         `json:"causal_parent_ids,omitempty"`
	Outcome         string           `json:"outcome,omitempty"` // how it ended: the status of an act, the result of a phase
	Attributes      Attributes       `json:"attributes,omitempty"`
	Origin          Origin           `json:"origin,omitzero"`
}
