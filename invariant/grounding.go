package invariant

import (
	"fmt"
	"slices"

	"github.com/opensentience/pulse-go/manifest"
)

// outcomeGrounding is OS-010 §7.6 (C-092): an act names the beliefs that
// justified it, or says that there were none, and a learn phase learns from an
// outcome with the same ones.
func outcomeGrounding() *rule {
	return &rule{manifest.OutcomeGrounding, parentsKept, parentsNamed}
}

// parentsKept holds the outcome that a phase learns from against its act. It is
// checked before the phase runs, so that no confidence moves for the wrong
// reason.
func parentsKept(p *Phase) string {
	if p.Outcome == nil || p.LastAct == nil || sameIDs(p.Outcome.CausalParentIDs, p.LastAct.CausalParentIDs) {
		return ""
	}
	return fmt.Sprintf("the outcome of action %q names the causal parents %q, the act named %q: deliver the outcome with the parents of its act",
		p.Outcome.ActionID, p.Outcome.CausalParentIDs, p.LastAct.CausalParentIDs)
}

func parentsNamed(p *Phase) string {
	if p.Role != manifest.RoleAct {
		return ""
	}
	a := p.Act
	switch {
	case a == nil:
		return "the phase acts and says nothing of its action: bind it with BindAct, and return an Outcome"
	case len(a.CausalParentIDs) == 0 && !a.NoParents:
		return "the act names no causal parents: set Outcome.CausalParentIDs, or Outcome.NoParents if there are none"
	case len(a.CausalParentIDs) > 0 && a.NoParents:
		return fmt.Sprintf("the act names the causal parents %q and says that there are none: leave one of them out", a.CausalParentIDs)
	case slices.Contains(a.CausalParentIDs, ""):
		return fmt.Sprintf("an id among the causal parents %q is empty: name nodes of memory", a.CausalParentIDs)
	}
	return ""
}

// sameIDs compares ids without regard to their order and repetition.
func sameIDs(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(distinct(a), distinct(b))
}

func distinct(ids []string) []string {
	s := slices.Clone(ids)
	slices.Sort(s)
	return slices.Compact(s)
}
