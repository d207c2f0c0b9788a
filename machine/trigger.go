package machine

import (
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Trigger is what starts an iteration, in its storable form.
type Trigger struct {
	Workspace string               `json:"workspace,omitempty"`
	Actor     string               `json:"actor,omitempty"`
	TraceID   string               `json:"trace_id,omitempty"`
	ID        string               `json:"id,omitempty"` // the same id names the same iteration
	Origin    substrate.Origin     `json:"origin"`
	Only      bool                 `json:"only,omitempty"`    // run the entry phase alone
	Settle    bool                 `json:"settle,omitempty"`  // run the consolidate phases in order, idle cadence or not (C-086)
	Phase     string               `json:"phase"`             // the phase at which the iteration enters
	Payload   Payload              `json:"payload,omitzero"`  // input of the entry phase
	Fits      []string             `json:"fits,omitempty"`    // further phases whose input type the payload has
	Outcome   *token.OutcomeSignal `json:"outcome,omitempty"` // the outcome that an iteration entered at a learn phase learns from
}
