package invariant

import (
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// feedbackImmutability is OS-010 §7.2 (C-091): a learn phase adjusts confidence
// and appends. The handles of such a phase refuse everything else, flag or no
// flag; with the flag the attempt is a breach, even if the phase ignored the
// refusal. Attribution is append-only: an outcome is learned under the causal
// parents that it came with.
func feedbackImmutability() *rule {
	return &rule{manifest.FeedbackImmutability, nil, onlyAppends}
}

func onlyAppends(p *Phase) string {
	if p.Role != manifest.RoleLearn {
		return ""
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		switch {
		case c.Refused:
			return fmt.Sprintf("%s was attempted, which rewrites history: move the call to an act or consolidate phase", c.Operation)
		case rewrites(c):
			return fmt.Sprintf("%s was called, which rewrites history: move the call to an act or consolidate phase", c.Operation)
		case c.Parents != nil && p.Outcome != nil && !sameIDs(c.Parents, p.Outcome.CausalParentIDs):
			return fmt.Sprintf("%s attributed action %q to %q, but its outcome names %q: pass the signal on as it came",
				c.Operation, p.Outcome.ActionID, c.Parents, p.Outcome.CausalParentIDs)
		}
	}
	return ""
}

// rewrites reports whether a call changes what is there. Whether a host's own
// operation does, its declaration says and its handle enforces.
func rewrites(c *Call) bool {
	return c.Mutates && c.Operation.Known() && substrate.Allowed(manifest.RoleLearn, c.Operation) != nil
}
