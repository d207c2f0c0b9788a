package invariant

import (
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// appendOnlyAudit is OS-010 §7.3 (C-087, C-090): a phase does not end before
// each of its mutations is recorded. A mutation that is still under way has no
// event yet; a loop without the flag records it, as late, when it lands.
func appendOnlyAudit() *rule {
	return &rule{manifest.AppendOnlyAudit, nil, everyMutationRecorded}
}

func everyMutationRecorded(p *Phase) string {
	for i := range p.Calls {
		c := &p.Calls[i]
		switch {
		case !c.Mutates || c.Audited || c.Operation == substrate.OpAppendEvent: // an event is its own record
		case c.UnderWay:
			return fmt.Sprintf("%s has not returned, so no event records it when the phase ends: wait for it before returning", c.Operation)
		case c.Echoes:
			return fmt.Sprintf("%s succeeded and no event records it: mutate through the handles of the phase only", c.Operation)
		}
	}
	return ""
}
