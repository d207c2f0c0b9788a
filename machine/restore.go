package machine

import (
	"errors"
	"fmt"
	"slices"
)

// Restore continues where a snapshot was taken, with the identical commands.
// ErrPlanChanged if the iteration began under another plan; ErrFormat if the
// snapshot has another format or was not written by a machine. The machine and
// the snapshot are independent of each other.
func Restore(plan *Plan, s Snapshot) (*Machine, error) {
	if s.Format != Format {
		return nil, fmt.Errorf("machine: snapshot of format %d, this is format %d: %w", s.Format, Format, ErrFormat)
	}
	if s.Plan != plan.digest {
		return nil, fmt.Errorf("machine: loop %s: iteration %s began under plan %s, this is %s: %w",
			plan.loop, s.Iteration, s.Plan, plan.digest, ErrPlanChanged)
	}
	s.Phases = slices.Clone(s.Phases)
	s.Active = slices.Clone(s.Active)
	s.Memo = slices.Clip(s.Memo)
	if s.Status == Suspended {
		s.Status = Running // follows from the commands
	}
	m := &Machine{plan: plan, state: s}
	if err := m.resume(); err != nil {
		return nil, fmt.Errorf("machine: loop %s: iteration %s: %w: %w", plan.loop, s.Iteration, ErrFormat, err)
	}
	return m, nil
}

// resume checks a state that comes from outside and puts its commands out.
func (m *Machine) resume() error {
	if err := errors.Join(m.prepare(), m.checkState()); err != nil {
		return err
	}
	for n := range m.state.Memo {
		m.note(n)
	}
	s := &m.state
	switch {
	case s.Status.Final():
	case s.Ending != "":
		m.end(s.Issued)
	case !s.Begun:
		m.command(s.Issued, OpBegin)
	default:
		m.offer(&s.Active[0])
	}
	return nil
}

// checkState finds what no machine would have written and a machine could not
// go on from.
func (m *Machine) checkState() error {
	s := &m.state
	running := s.Status == Running && s.Ending == "" && s.Begun
	switch {
	case len(s.Phases) != len(m.plan.phases):
		return fmt.Errorf("it has %d phases, the loop has %d", len(s.Phases), len(m.plan.phases))
	case s.Issued == 0:
		return errors.New("no command was issued")
	case s.Status != Running && (!s.Status.Final() || s.Status != s.Ending):
		return fmt.Errorf("status %q with the end %q", s.Status, s.Ending)
	case s.Ending != "" && !s.Ending.Final():
		return fmt.Errorf("%q is no end", s.Ending)
	case running != (len(s.Active) == 1) || len(s.Active) > 1:
		return fmt.Errorf("%d phases are running", len(s.Active))
	case s.Previous < -1 || s.Previous >= len(s.Phases):
		return fmt.Errorf("no phase has the position %d", s.Previous)
	case s.Act.Act != nil && !m.has(s.Act.Phase):
		return fmt.Errorf("no phase has the position %d", s.Act.Phase)
	}
	for n := range s.Phases {
		if s.Phases[n].Runs < 0 {
			return fmt.Errorf("phase %s ran %d times", m.plan.phases[n].id, s.Phases[n].Runs)
		}
	}
	for n := range s.Memo {
		if !m.has(s.Memo[n].Phase) {
			return fmt.Errorf("no phase has the position %d", s.Memo[n].Phase)
		}
	}
	if running {
		return m.checkRun(&s.Active[0])
	}
	return nil
}

func (m *Machine) has(phase int) bool { return phase >= 0 && phase < len(m.plan.phases) }

// checkRun does the same for a run of a phase.
func (m *Machine) checkRun(run *PhaseRun) error {
	switch {
	case !m.has(run.Phase):
		return fmt.Errorf("no phase has the position %d", run.Phase)
	case !m.has(run.From):
		return fmt.Errorf("no phase has the position %d", run.From)
	case run.ID == 0 || run.ID > m.state.Issued:
		return fmt.Errorf("command %d was not issued", run.ID)
	case run.Attempt < 0 || run.Undo < 0:
		return fmt.Errorf("attempt %d, compensation %d", run.Attempt, run.Undo)
	}
	missing := false
	switch run.Op {
	case OpRunPhase:
		missing = !run.Source.known() || run.Attempt == 0
	case OpSleep:
		missing = run.Failure == nil || max(run.Attempt, run.Undo) < 2
	case OpCompensate:
		missing = run.Failure == nil || run.Undo == 0
	case OpEscalate:
		missing = run.Failure == nil
	case OpAwait:
		missing = run.Token == ""
	case OpCommit:
		missing = m.checkRecord(run)
	default:
		return fmt.Errorf("a phase has no command %q", run.Op)
	}
	if missing {
		return fmt.Errorf("the %s of phase %s is not complete", run.Op, m.plan.phases[run.Phase].id)
	}
	return nil
}

func (s Source) known() bool {
	switch s {
	case FromNothing, FromTrigger, FromPhase, FromDecision, FromOutcome, FromSignal:
		return true
	}
	return false
}

// checkRecord reports what the record of a run lacks.
func (m *Machine) checkRecord(run *PhaseRun) (missing bool) {
	rec := run.Record
	switch {
	case rec == nil || rec.Phase != m.plan.phases[run.Phase].id || run.Then != "" && !run.Then.Final():
		return true
	case rec.Ended == EndedCompleted:
		return rec.Failure != nil || run.Then != ""
	case rec.Ended == EndedSkipped:
		return rec.Failure == nil || run.Then != ""
	}
	return rec.Ended != EndedFailed || rec.Failure == nil || run.Then == ""
}
