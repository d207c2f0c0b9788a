package machine

import (
	"slices"
	"strings"
)

// unfit checks a successful attempt against what its phase may do: decisions are
// for route phases alone (OS-010 §5.3, C-044), and an inner loop that holds must
// run.
func (m *Machine) unfit(i int, r *Result) *Failure {
	p := &m.plan.phases[i]
	if n := slices.Index(r.Triggers, true); n >= 0 {
		return unbound(p.id, p.inner[n])
	}
	switch {
	case !p.routes && r.Decision != nil:
		return failuref(CodeRoute, "phase %s of kind %s decided to go to %q: only a route phase may redirect", p.id, p.kind, r.Decision.To)
	case !p.routes:
		return nil
	case r.Decision != nil:
		_, f := m.target(i, r.Decision)
		return f
	case len(p.targets) > 0:
		return failuref(CodeRoute, "route phase %s decided nothing: it must name one of %s", p.id, m.plan.names(p.targets))
	}
	return nil
}

// target gives the phase that a decision leads to, -1 for the end.
func (m *Machine) target(i int, d *Decision) (int, *Failure) {
	p := &m.plan.phases[i]
	for _, t := range p.targets {
		if m.plan.phases[t].id == d.To {
			return t, nil
		}
	}
	deliberate := d.Deliberate && d.To == "" || slices.Contains(p.inner, d.To)
	switch {
	case deliberate && len(p.inner) > 0:
		return -1, unbound(p.id, p.inner[0])
	case deliberate && len(p.targets) == 1:
		return p.targets[0], nil
	case deliberate:
		return -1, failuref(CodeInner, "route phase %s decided to deliberate, and no inner loop is bound to it: name the phase that deliberates, or nest a loop", p.id)
	case len(p.targets) == 0 && d.To == "":
		return -1, nil
	case len(p.targets) == 1 && d.To == "":
		return p.targets[0], nil
	case len(p.targets) == 0:
		return -1, failuref(CodeRoute, "route phase %s decided to go to %q, but nothing may follow it", p.id, d.To)
	}
	return -1, failuref(CodeRoute, "route phase %s decided to go to %q: it must name one of %s", p.id, d.To, m.plan.names(p.targets))
}

func unbound(phase, loop string) *Failure {
	return failuref(CodeInner, "phase %s needs the inner loop %s, and no inner loop is bound to it", phase, loop)
}

// names lists phases for a text.
func (p *Plan) names(phases []int) string {
	ids := make([]string, len(phases))
	for n, i := range phases {
		ids[n] = p.phases[i].id
	}
	return strings.Join(ids, ", ")
}
