package invariant

import (
	"context"

	"github.com/opensentience/pulse-go/manifest"
)

// Rules gives the rules of the invariants that the manifest sets to true, in the
// order of OS-010 §7. A nil manifest has none.
func Rules(m *manifest.Manifest) []Rule {
	if m == nil {
		return nil
	}
	var on []Rule
	for _, r := range canonical() {
		if m.Invariants[r.invariant] {
			on = append(on, r)
		}
	}
	return on
}

// canonical lists the seven rules in the order of OS-010 §7.
func canonical() []*rule {
	return []*rule{
		phaseAtomicity(), feedbackImmutability(), appendOnlyAudit(), kappaRouting(),
		quorumBeforeCommit(), outcomeGrounding(), traceIDPropagation(),
	}
}

// rule is one of the seven invariants.
type rule struct {
	invariant manifest.Invariant
	before    check
	after     check
}

// check says how a phase breaks an invariant and what to do about it; empty if
// it does not. A nil check finds nothing.
type check func(p *Phase) (problem string)

func (r *rule) Name() string { return string(r.invariant) }

func (r *rule) Before(_ context.Context, p *Phase) error { return r.apply(r.before, p) }

func (r *rule) After(_ context.Context, p *Phase) error { return r.apply(r.after, p) }

func (r *rule) apply(c check, p *Phase) error {
	if c == nil {
		return nil
	}
	if problem := c(p); problem != "" {
		return &Violation{Invariant: r.Name(), Problem: problem}
	}
	return nil
}
