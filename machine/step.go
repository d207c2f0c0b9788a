package machine

import "time"

// begun goes on after the check of the permission to start.
func (m *Machine) begun(r *Result) {
	m.state.Begun = true
	if r.Failure != nil {
		m.finish(Aborted, r.Failure)
		return
	}
	m.enter(m.entry, false)
}

// finish decides the end of the iteration.
func (m *Machine) finish(s Status, cause *Failure) {
	m.state.Ending, m.state.Failure = s, cause
	clear(m.state.Active)
	m.state.Active = m.state.Active[:0]
	m.end(m.issue())
}

func (m *Machine) end(id CommandID) {
	c := m.command(id, OpEnd)
	c.Status, c.Failure = m.state.Ending, m.state.Failure
}

// enter begins a run of a phase. With chosen, its input is the value that the
// phase before chose for it.
func (m *Machine) enter(i int, chosen bool) {
	state := &m.state.Phases[i]
	state.Runs++
	m.state.Active = append(m.state.Active[:0], PhaseRun{Phase: i})
	run := &m.state.Active[0]
	p := &m.plan.phases[i]
	switch {
	case state.Runs > m.plan.settings.MaxRuns:
		m.fail(run, failuref(CodeMaxRuns, "phase %s has run %d times in this iteration, the limit of max_runs", p.id, m.plan.settings.MaxRuns))
		return
	case p.learns && m.state.Act.Act == nil && m.state.Trigger.Outcome == nil:
		m.fail(run, failuref(CodeNoAct, "phase %s has nothing to learn from: no act completed in this iteration and no outcome started it", p.id))
		return
	}
	m.start(run, m.find(i, chosen))
}

// start lets a phase run with the input that was found for it.
func (m *Machine) start(run *PhaseRun, in supply) {
	switch {
	case in.source != "":
		run.Source, run.From = in.source, in.from
		m.attempt(run)
	case in.token != "":
		m.await(run, in.token)
	default:
		m.fail(run, m.starved(run.Phase))
	}
}

// attempt lets the phase function run.
func (m *Machine) attempt(run *PhaseRun) {
	run.Attempt++
	m.put(run, OpRunPhase)
}

// put makes op the outstanding command of a run.
func (m *Machine) put(run *PhaseRun, op Op) {
	run.ID, run.Op = m.issue(), op
	m.offer(run)
}

// offer puts out the command that is outstanding for a run.
func (m *Machine) offer(run *PhaseRun) {
	c := m.command(run.ID, run.Op)
	p := &m.plan.phases[run.Phase]
	c.Phase, c.Run, c.Attempt = p.id, m.state.Phases[run.Phase].Runs, run.Attempt
	switch run.Op {
	case OpRunPhase:
		m.fill(&c.Input, run)
	case OpSleep:
		c.Attempt, c.Delay = m.delay(run)
	case OpAwait:
		c.Await = m.awaited(run)
	case OpEscalate:
		c.Failure = run.Failure
	case OpCompensate:
		c.Attempt, c.Failure = run.Undo, run.Failure
		m.fill(&c.Input, run)
	case OpCommit:
		c.Record = run.Record
	}
}

// returned goes on after an attempt of a phase function.
func (m *Machine) returned(run *PhaseRun, r *Result) {
	run.Returned = r.Time
	if r.Signature != "" { // an attempt may fail before it is computed
		run.Signature = r.Signature
	}
	if r.Failure != nil {
		m.fail(run, r.Failure)
		return
	}
	if r.Remembered {
		m.recall(run.Phase, r)
	}
	if f := m.unfit(run.Phase, r); f != nil {
		m.fail(run, f)
		return
	}
	rec := m.record(run, EndedCompleted)
	rec.Output, rec.Decision, rec.Act, rec.Remembered = r.Output, r.Decision, r.Act, r.Remembered
	m.put(run, OpCommit)
}

// record makes the one record of the run.
func (m *Machine) record(run *PhaseRun, ended Ended) *Record {
	run.Record = &Record{
		Seq:       m.state.Seq + 1,
		Phase:     m.plan.phases[run.Phase].id,
		Run:       m.state.Phases[run.Phase].Runs,
		Attempts:  run.Attempt,
		Ended:     ended,
		Signature: run.Signature,
	}
	return run.Record
}

// committed makes visible what the record says, and goes on.
func (m *Machine) committed(run *PhaseRun) {
	rec, i := run.Record, run.Phase
	m.state.Seq = rec.Seq
	m.state.Previous = i
	state := &m.state.Phases[i]
	state.Ended = rec.Ended
	if rec.Ended == EndedCompleted {
		m.complete(i, rec, run.Returned)
	}
	switch {
	case run.Then != "":
		m.finish(run.Then, run.Failure)
	case m.state.Trigger.Only:
		m.finish(Completed, nil)
	default:
		m.advance(i, rec)
	}
}

// complete takes over what a completed phase gave.
func (m *Machine) complete(i int, rec *Record, returned time.Time) {
	state := &m.state.Phases[i]
	state.Output = rec.Output
	if rec.Decision != nil {
		state.Chosen = rec.Decision.Value
	}
	if rec.Act != nil {
		m.acted(i, rec.Act, returned)
	}
	m.remember(i, rec)
}

// advance goes from a phase that ended to the next (OS-010 §5.3, C-134).
func (m *Machine) advance(i int, rec *Record) {
	target := m.plan.phases[i].next
	if rec.Decision != nil {
		target, _ = m.target(i, rec.Decision)
	}
	next := m.pass(i, target)
	if next < 0 {
		m.finish(Completed, nil)
		return
	}
	if rec.Ended == EndedSkipped && !m.find(next, false).found() {
		m.finish(Aborted, failuref(CodeNoInput, "phase %s takes the output of phase %s, which was skipped: %w",
			m.plan.phases[next].id, m.plan.phases[i].id, rec.Failure))
		return
	}
	m.enter(next, next == target && rec.Decision != nil && !rec.Decision.Value.IsZero())
}

// pass gives the phase that follows when the loop goes from one phase to a
// target: the target itself, the next that is not passed over (C-045), or -1 at
// the end of the iteration.
func (m *Machine) pass(from, target int) int {
	entered := &m.plan.phases[m.entry]
	over := m.plan.idle && !m.state.Trigger.Settle && !entered.consolidates
	for range m.plan.phases {
		if target < 0 || m.plan.closes(from, target) {
			return -1
		}
		if !over || !m.plan.phases[target].consolidates {
			return target
		}
		from, target = target, m.plan.phases[target].next
	}
	return -1 // nothing but consolidate phases ahead
}
