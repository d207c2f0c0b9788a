package machine

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/token"
)

// endpoint is one alternative of a phase's inputs.from (OS-010 §4, C-021).
type endpoint struct {
	from  endpointKind
	phase int        // fromPhase
	token token.Name // fromSignal
	text  string
}

type endpointKind uint8

const (
	fromExternal endpointKind = iota
	fromPhase
	fromSubstrate
	fromSignal
)

// supply is what was found for a phase: an input, or else a signal to wait for,
// or else nothing.
type supply struct {
	source Source
	from   int
	token  token.Name
}

func (s supply) found() bool { return s.source != "" || s.token != "" }

// find looks for the input of a phase. The alternatives count in the order
// written; a signal is waited for only if nothing else is there.
func (m *Machine) find(i int, chosen bool) supply {
	p := &m.plan.phases[i]
	enters := m.state.Previous < 0
	external := !m.state.Trigger.Payload.IsZero() && (i == m.entry || slices.Contains(m.fits, i))
	switch {
	case chosen:
		return supply{source: FromDecision, from: m.state.Previous}
	case enters && external:
		return supply{source: FromTrigger}
	case p.learns && m.pending() && (p.outcome || p.external && !external):
		return supply{token: token.OutcomeSignalName}
	case p.from == nil && !enters:
		return m.produced(m.state.Previous)
	}
	var wait supply
	for n := range p.from {
		e := &p.from[n]
		if in := m.take(e, p.learns, external); in.source != "" {
			return in
		}
		if e.from == fromSignal && wait.token == "" {
			wait.token = e.token
		}
	}
	if wait.token == "" && enters {
		return supply{source: FromNothing}
	}
	return wait
}

// take gives what one alternative has to offer now.
func (m *Machine) take(e *endpoint, learns, external bool) supply {
	switch e.from {
	case fromExternal:
		if external {
			return supply{source: FromTrigger}
		}
		return m.outcome(learns) // an outcome comes from outside, too
	case fromPhase:
		return m.produced(e.phase)
	case fromSubstrate:
		if external {
			return supply{source: FromTrigger}
		}
		return supply{source: FromNothing}
	default:
		return m.outcome(learns && e.token == token.OutcomeSignalName)
	}
}

// produced gives the output of a phase, if it is visible. What a route phase
// hands on is the value that it chose.
func (m *Machine) produced(i int) supply {
	state := &m.state.Phases[i]
	switch {
	case state.Ended != EndedCompleted:
		return supply{}
	case !m.plan.phases[i].routes:
		return supply{source: FromPhase, from: i}
	case !state.Chosen.IsZero():
		return supply{source: FromDecision, from: i}
	}
	return supply{}
}

// starved is the failure of a phase for which nothing was found.
func (m *Machine) starved(i int) *Failure {
	p := &m.plan.phases[i]
	if len(p.from) > 0 {
		wants := make([]string, len(p.from))
		for n := range p.from {
			wants[n] = p.from[n].text
		}
		return failuref(CodeNoInput, "phase %s takes its input from %s, and nothing of it is available", p.id, strings.Join(wants, "|"))
	}
	before := &m.plan.phases[m.state.Previous] // a route phase: of any other there is an output
	return failuref(CodeNoInput, "phase %s takes what phase %s chose for it, and that chose no value", p.id, before.id)
}

// fill writes the input of a run into a command.
func (m *Machine) fill(in *Input, run *PhaseRun) {
	in.Source = run.Source
	switch run.Source {
	case FromTrigger:
		in.Payload = m.state.Trigger.Payload
		if m.plan.phases[run.Phase].learns && run.Phase == m.entry {
			in.Outcome = m.state.Trigger.Outcome
		}
	case FromPhase:
		in.Phase, in.Payload = m.plan.phases[run.From].id, m.state.Phases[run.From].Output
	case FromDecision:
		in.Phase, in.Payload = m.plan.phases[run.From].id, m.state.Phases[run.From].Chosen
	case FromSignal:
		in.Payload = run.Signal
	case FromOutcome:
		m.fillOutcome(in, run)
	}
}
