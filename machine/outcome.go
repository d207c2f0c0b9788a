package machine

import (
	"time"

	"github.com/opensentience/pulse-go/token"
)

// acted takes over an act that completed. A finished action has its outcome at
// once; that of a pending one is awaited by the phase that learns from it
// (C-046).
func (m *Machine) acted(i int, act *Act, returned time.Time) {
	m.state.Act = ActState{Phase: i, Act: act, Recorded: m.state.At}
	if !act.Pending {
		m.state.Act.Outcome = m.signal(act, act.Status, returned)
	}
}

// signal builds the OutcomeSignal of an action (OS-010 §6.3). The parents are
// those of the act (C-092).
func (m *Machine) signal(act *Act, status token.Status, at time.Time) *token.OutcomeSignal {
	if status == "" {
		status = token.StatusSuccess
	}
	return &token.OutcomeSignal{
		Header:          token.Header{Token: token.OutcomeSignalName, Version: token.Version, TraceID: m.state.Trigger.TraceID},
		ActionID:        act.ActionID,
		Status:          status,
		CausalParentIDs: act.CausalParentIDs,
		Evidence:        act.Evidence,
		Timestamp:       at,
	}
}

// pending reports whether the last act's outcome is still to come.
func (m *Machine) pending() bool {
	return m.state.Act.Act != nil && m.state.Act.Outcome == nil
}

// outcome gives the outcome that a learn phase learns from: the last act's, else
// the one that started the iteration.
func (m *Machine) outcome(learns bool) supply {
	if !learns || m.learned() == nil {
		return supply{}
	}
	return supply{source: FromOutcome}
}

func (m *Machine) learned() *token.OutcomeSignal {
	if m.state.Act.Act != nil {
		return m.state.Act.Outcome
	}
	return m.state.Trigger.Outcome
}

func (m *Machine) fillOutcome(in *Input, run *PhaseRun) {
	if run.Outcome != nil { // awaited by a phase that is no learn phase
		in.Outcome = run.Outcome
		return
	}
	in.Outcome = m.learned()
	if act := &m.state.Act; act.Act != nil {
		in.Phase, in.Payload = m.plan.phases[act.Phase].id, m.state.Phases[act.Phase].Output
	}
}

// await suspends a run until a signal comes. Every wait has an end.
func (m *Machine) await(run *PhaseRun, name token.Name) {
	run.Token = name
	limit := m.plan.settings.AwaitMax
	since := m.state.At
	if m.awaitsAct(run) {
		since = m.state.Act.Recorded
		if within := m.state.Act.Act.Within; within > 0 {
			limit = min(limit, within)
		}
	}
	run.Until = since.Add(limit)
	m.put(run, OpAwait)
}

// awaitsAct reports whether a run waits for the outcome of the last act, and not
// for just any signal.
func (m *Machine) awaitsAct(run *PhaseRun) bool {
	return run.Token == token.OutcomeSignalName && m.plan.phases[run.Phase].learns && m.pending()
}

func (m *Machine) awaited(run *PhaseRun) Await {
	a := Await{Phase: m.plan.phases[run.Phase].id, Token: run.Token, Deadline: run.Until}
	if m.awaitsAct(run) {
		a.ActionID = m.state.Act.Act.ActionID
	}
	return a
}

// arrived goes on after a wait. A pending action whose outcome did not come
// counts as timed out, and is learned from; any other signal that did not come
// fails the phase.
func (m *Machine) arrived(run *PhaseRun, r *Result) {
	act := m.awaitsAct(run)
	switch {
	case r.Expired && !act:
		m.fail(run, failuref(CodeExpired, "phase %s waited for %s until %s, and it did not come",
			m.plan.phases[run.Phase].id, run.Token, run.Until.Format(time.RFC3339)))
		return
	case r.Expired:
		m.state.Act.Outcome = m.signal(m.state.Act.Act, token.StatusTimeout, r.Time)
		run.Source = FromOutcome
	case act:
		m.state.Act.Outcome = r.Outcome
		run.Source = FromOutcome
	case r.Outcome != nil:
		run.Source, run.Outcome = FromOutcome, r.Outcome
	default:
		run.Source, run.Signal = FromSignal, r.Signal
	}
	m.attempt(run)
}
