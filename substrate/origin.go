package substrate

import "fmt"

// OriginKind says what started an iteration. Every iteration has one; there is
// no "unknown" (C-164).
type OriginKind string

// The kinds of origin (C-164).
const (
	OriginManual  OriginKind = "manual"  // a person or an external system invoked the loop
	OriginWake    OriginKind = "wake"    // a wake gate decided to create the work
	OriginCadence OriginKind = "cadence" // the loop's own cadence
	OriginSignal  OriginKind = "signal"  // a token delivered over a connection
	OriginReplay  OriginKind = "replay"  // an earlier iteration or trace played again
)

// Origin is the record of what started an iteration. It is carried by the
// iteration and copied into each of its audit events (C-159). The three ids are
// those of the wake gate's ledger and are empty for work that no gate created.
type Origin struct {
	Kind           OriginKind `json:"kind"`
	SourceEventID  string     `json:"source_event_id,omitempty"`
	WakeDecisionID string     `json:"wake_decision_id,omitempty"`
	PulseEventID   string     `json:"pulse_event_id,omitempty"`
}

// Validate says whether the origin is complete: a known kind, and for a wake
// the ids of the event, the decision and the wake event (C-159, C-164). That
// work was created by a gate is never inferred from what is absent.
func (o Origin) Validate() error {
	switch o.Kind {
	case OriginManual, OriginCadence, OriginSignal, OriginReplay:
		return nil
	case OriginWake:
		if o.SourceEventID == "" || o.WakeDecisionID == "" || o.PulseEventID == "" {
			return fmt.Errorf("substrate: origin %q needs source_event_id, wake_decision_id and pulse_event_id", o.Kind)
		}
		return nil
	}
	return fmt.Errorf("substrate: origin kind %q is none of manual, wake, cadence, signal, replay", o.Kind)
}
