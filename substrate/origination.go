package substrate

import (
	"strconv"
	"strings"

	"github.com/opensentience/pulse-go/signature"
)

// Origination is the call context that every substrate request carries (C-040):
// who calls, from where, and as which call. The engine fills it; a substrate
// reads it.
type Origination struct {
	Workspace   string           `json:"workspace_id,omitempty"` // empty in a loop of global scope only
	Actor       string           `json:"actor,omitempty"`        // the identity on whose behalf the iteration runs (C-100)
	TraceID     string           `json:"trace_id,omitempty"`     // to be echoed in receipts and logs (OS-010 §7.7)
	SpanID      string           `json:"span_id,omitempty"`
	Loop        string           `json:"loop_id,omitempty"`
	LoopVersion string           `json:"loop_version,omitempty"`
	Iteration   string           `json:"iteration_id,omitempty"` // empty for a call made outside an iteration
	Phase       string           `json:"phase_id,omitempty"`     // empty for a call that belongs to no phase
	Run         int              `json:"run,omitempty"`          // which run of the phase in this iteration, from 1
	Attempt     int              `json:"attempt,omitempty"`      // which attempt of the run, from 1
	Ordinal     int              `json:"ordinal,omitempty"`      // which call of the attempt, from 1
	Signature   signature.Digest `json:"signature,omitempty"`    // of the phase's input (OS-010 §5.6)
	Transaction string           `json:"transaction,omitempty"`  // id of the open transaction of this slot, empty without one
	Origin      Origin           `json:"origin,omitzero"`
	Engine      bool             `json:"engine,omitempty"`   // made by the engine on its own account (C-135)
	Unstable    bool             `json:"unstable,omitempty"` // an inner loop may still be writing what is read (C-085)
}

// DedupeKey returns the key by which a substrate recognizes a call it has
// already performed: workspace, loop, iteration, phase, run, ordinal and
// signature (C-040). The attempt is not part of it, so a retried phase finds
// the nodes its earlier attempt stored. No two different calls share a key:
// each part is escaped before they are joined.
//
// The key is empty for a call made outside an iteration, such as the seeding of
// a store; an empty key means "do not deduplicate".
func (o Origination) DedupeKey() string {
	if o.Iteration == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(o.Workspace) + len(o.Loop) + len(o.Iteration) + len(o.Phase) + len(o.Signature) + 24)
	for _, part := range [...]string{o.Workspace, o.Loop, o.Iteration, o.Phase} {
		writeEscaped(&b, part)
		b.WriteByte('/')
	}
	b.WriteString(strconv.Itoa(o.Run))
	b.WriteByte('/')
	b.WriteString(strconv.Itoa(o.Ordinal))
	b.WriteByte('/')
	b.WriteString(string(o.Signature))
	return b.String()
}

// writeEscaped writes s with the separator and the escape character escaped.
func writeEscaped(b *strings.Builder, s string) {
	for {
		i := strings.IndexAny(s, "/%")
		if i < 0 {
			b.WriteString(s)
			return
		}
		b.WriteString(s[:i])
		if s[i] == '/' {
			b.WriteString("%2F")
		} else {
			b.WriteString("%25")
		}
		s = s[i+1:]
	}
}

// place renders workspace, loop and phase for error texts.
func (o Origination) place() string {
	var parts []string
	for _, p := range [...]struct{ name, value string }{
		{"workspace ", o.Workspace}, {"loop ", o.Loop}, {"phase ", o.Phase},
	} {
		if p.value != "" {
			parts = append(parts, p.name+p.value)
		}
	}
	if len(parts) == 0 {
		return "outside a loop"
	}
	return strings.Join(parts, ", ")
}

// Receipt is what every mutating operation returns (C-101).
type Receipt struct {
	ID           string `json:"id"`                       // of what was stored, appended or changed
	AuditEventID string `json:"audit_event_id,omitempty"` // of the substrate's own audit event, if it keeps a log
	TraceID      string `json:"trace_id"`                 // the trace id of the request, echoed (OS-010 §7.7)
}
