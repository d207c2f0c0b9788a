package invariant

import (
	"fmt"
	"slices"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
)

// quorumBeforeCommit is OS-010 §7.5 (C-077, C-084): an act waits for a
// deliberation, of an inner loop or of a phase before it, that approves with at
// least the confidence of the quorum. Of several results the latest decides.
func quorumBeforeCommit() *rule {
	return &rule{manifest.QuorumBeforeCommit, released, nil}
}

func released(p *Phase) string {
	if p.Role != manifest.RoleAct {
		return ""
	}
	d := latest(p.Deliberations)
	if d == nil {
		return "no DeliberationResult has reached the iteration: let an inner loop or a phase before this one give one"
	}
	if d.Verdict == token.VerdictApprove && d.Confidence >= p.Quorum && d.Confidence <= 1 {
		return ""
	}
	return fmt.Sprintf("the latest deliberation gives %q with confidence %v, the quorum is %v: only approve, with a confidence from the quorum to 1, releases an act",
		d.Verdict, d.Confidence, p.Quorum)
}

// latest gives the last result that has a verdict: a value without one was left
// empty by whoever passed it on, and is no result.
func latest(ds []*token.DeliberationResult) *token.DeliberationResult {
	for _, d := range slices.Backward(ds) {
		if d.Verdict != "" {
			return d
		}
	}
	return nil
}
