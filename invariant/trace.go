package invariant

import (
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
)

// traceIDPropagation is OS-010 §7.7 (C-011, C-089): handles put the trace id on
// every call; a substrate that answers with a receipt repeats it there.
func traceIDPropagation() *rule {
	return &rule{manifest.TraceIDPropagation, nil, everyReceiptEchoes}
}

func everyReceiptEchoes(p *Phase) string {
	for i := range p.Calls {
		if c := &p.Calls[i]; c.Echoes && c.EchoedTrace != p.TraceID {
			return fmt.Sprintf("%s answered with trace id %q to a call with %q: let the substrate return the call's in Receipt.TraceID",
				c.Operation, c.EchoedTrace, p.TraceID)
		}
	}
	return ""
}
