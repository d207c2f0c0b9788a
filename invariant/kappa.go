package invariant

import (
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
)

// kappaRouting is OS-010 §7.4 (C-083): where any topology that reached the
// iteration has a κ above zero, a route phase deliberates. It does so by saying
// so, by deciding for a phase with the role deliberate, or because the trigger
// of an inner loop holds at it. A topology that contradicts itself is a breach,
// whatever the decision, since nobody can tell what it asks for.
func kappaRouting() *rule {
	return &rule{manifest.KappaRouting, nil, deliberatesWhereItMust}
}

func deliberatesWhereItMust(p *Phase) string {
	if p.Phase == nil || p.Phase.Kind != manifest.KindRoute {
		return ""
	}
	highest := 0.0
	for _, t := range p.Topologies {
		if !consistent(t) {
			return fmt.Sprintf("a TopologyContext has max_kappa %v and routing %q: its memory must say deliberate exactly when max_kappa is above 0",
				t.MaxKappa, t.Routing)
		}
		highest = max(highest, t.MaxKappa)
	}
	if highest == 0 || deliberates(p) {
		return ""
	}
	return fmt.Sprintf("max_kappa is %v and the decision is not to deliberate: return PhaseID.Deliberate, "+
		"decide for a phase with the role deliberate, or declare an inner loop whose trigger holds at this phase", highest)
}

// consistent reports whether the routing of a topology is that of its κ. A
// topology with neither says nothing.
func consistent(t *token.TopologyContext) bool {
	switch t.Routing {
	case token.RoutingDeliberate:
		return t.MaxKappa > 0
	case token.RoutingFast, "":
		return t.MaxKappa == 0
	default:
		return false
	}
}

func deliberates(p *Phase) bool {
	if p.Decision != nil && p.Decision.Deliberate || p.Target == manifest.RoleDeliberate {
		return true
	}
	for _, held := range p.Triggers {
		if held {
			return true
		}
	}
	return false
}
