package machine

import (
	"time"

	"github.com/opensentience/pulse-go/manifest"
)

// fail applies the phase's on_failure directive (OS-010 §5.4, C-042).
func (m *Machine) fail(run *PhaseRun, f *Failure) {
	run.Failure = f
	p := &m.plan.phases[run.Phase]
	if f.Code == CodeMaxRuns || f.Code == CodeViolation && p.routes && p.onFailure == manifest.FailSkip {
		m.close(run, Aborted) // passing over a forbidden decision would be the same decision (C-011, C-083)
		return
	}
	switch p.onFailure {
	case manifest.FailRetry:
		if run.Attempt == 0 || run.Attempt > p.retries || !f.retriable() {
			m.close(run, Aborted)
			return
		}
		run.Attempt++ // counted now, so that a sleep names the attempt it precedes
		m.put(run, OpSleep)
	case manifest.FailSkip:
		m.skip(run)
	case manifest.FailEscalate:
		m.put(run, OpEscalate)
	case manifest.FailRollback:
		if run.Attempt == 0 { // the function never ran: there is nothing to undo
			m.close(run, Aborted)
			return
		}
		run.Undo = 1
		m.put(run, OpCompensate)
	default:
		m.close(run, Aborted)
	}
}

// close commits the failure of a phase; the iteration ends with it.
func (m *Machine) close(run *PhaseRun, then Status) {
	run.Then = then
	m.record(run, EndedFailed).Failure = run.Failure
	m.put(run, OpCommit)
}

// skip commits that a phase is passed over; the iteration goes on.
func (m *Machine) skip(run *PhaseRun) {
	m.record(run, EndedSkipped).Failure = run.Failure
	m.put(run, OpCommit)
}

// slept goes on after the wait between two attempts.
func (m *Machine) slept(run *PhaseRun) {
	if run.Undo > 0 {
		m.put(run, OpCompensate)
		return
	}
	m.put(run, OpRunPhase)
}

// delay gives the attempt that a sleep precedes, and its length.
func (m *Machine) delay(run *PhaseRun) (next int, d time.Duration) {
	next = max(run.Attempt, run.Undo) // of a phase that is undone there was one attempt
	seed := m.seed ^ mix(m.plan.phases[run.Phase].seed+uint64(m.state.Phases[run.Phase].Runs))
	return next, m.plan.settings.Backoff.Delay(next-1, seed)
}

// escalated goes on after the parent loop or a person was asked. An escalation
// that itself failed is an answer, too: nobody said to go on.
func (m *Machine) escalated(run *PhaseRun, r *Result) {
	switch {
	case run.Undo > 0: // what could not be undone stays failed, whatever the answer
		m.close(run, Failed)
	case r.Resume:
		m.skip(run)
	default:
		m.close(run, Aborted)
	}
}

// compensated goes on after an attempt to undo the phase. Failed ones are
// repeated as those of the phase are, then escalated.
func (m *Machine) compensated(run *PhaseRun, r *Result) {
	switch {
	case r.Failure == nil:
		m.close(run, Aborted)
	case run.Undo <= m.plan.phases[run.Phase].retries && r.Failure.retriable():
		run.Undo++
		m.put(run, OpSleep)
	default:
		run.Failure = undone(run.Failure, r.Failure)
		m.put(run, OpEscalate)
	}
}
