package machine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/opensentience/pulse-go/signature"
)

// Machine decides one iteration. Make one with [New] or [Restore]. It is not
// safe for concurrent use.
type Machine struct {
	plan  *Plan
	state Snapshot
	entry int   // the phase at which the iteration enters
	fits  []int // further phases whose input type the trigger's payload has
	seed  uint64
	memo  map[memoKey]int // position in state.Memo
	out   []Command       // outstanding
}

// New gives the machine of an iteration that has not begun. It fails for an
// iteration without an id and for a trigger that names phases which the plan
// does not have.
func New(plan *Plan, iteration string, t Trigger) (*Machine, error) {
	t.Fits = slices.Clone(t.Fits)
	m := &Machine{plan: plan, state: Snapshot{
		Format:    Format,
		Plan:      plan.digest,
		Iteration: iteration,
		Trigger:   t,
		Status:    Running,
		Previous:  -1,
		Phases:    make([]PhaseState, len(plan.phases)),
		Active:    make([]PhaseRun, 0, 1),
	}}
	if err := m.prepare(); err != nil {
		return nil, fmt.Errorf("machine: loop %s: %w", plan.loop, err)
	}
	m.command(m.issue(), OpBegin)
	return m, nil
}

// prepare fills what follows from plan, iteration id and trigger.
func (m *Machine) prepare() error {
	if m.state.Iteration == "" {
		return errors.New("an iteration needs an id")
	}
	t := &m.state.Trigger
	entry, ok := m.plan.index[t.Phase]
	if !ok {
		return fmt.Errorf("the trigger enters at phase %q, which the loop does not have", t.Phase)
	}
	m.entry = entry
	for _, id := range t.Fits {
		i, ok := m.plan.index[id]
		if !ok {
			return fmt.Errorf("the trigger's payload fits phase %q, which the loop does not have", id)
		}
		m.fits = append(m.fits, i)
	}
	m.seed = hash(m.state.Iteration)
	m.out = make([]Command, 0, 1)
	return nil
}

// Next names the commands that may run now, in the order of their ids. The
// answer stays the same until [Machine.Done] or [Machine.Cancel] accepts
// something, and the slice is valid until then. It is empty once the end of the
// iteration is written.
func (m *Machine) Next() []Command { return m.out }

// Done reports the result of an outstanding command. The machine keeps what the
// result points to: do not change it afterwards. ErrStale and ErrResult leave
// the machine as it is.
//
// Commit and End have no failing result: as long as they cannot be written they
// stay outstanding. The same holds for Sleep and Await.
func (m *Machine) Done(id CommandID, r Result) error {
	c := m.outstanding(id)
	if c == nil {
		return fmt.Errorf("machine: command %d: %w", id, ErrStale)
	}
	r.Time = plain(r.Time)
	if err := m.accept(c, &r); err != nil {
		return err
	}
	m.state.At = r.Time
	switch c.Op {
	case OpBegin:
		m.begun(&r)
	case OpEnd:
		m.state.Status = m.state.Ending
		m.withdraw()
	default:
		m.progress(m.run(id), &r)
	}
	return nil
}

// progress applies the result of a command that belongs to a phase.
func (m *Machine) progress(run *PhaseRun, r *Result) {
	switch run.Op {
	case OpRunPhase:
		m.returned(run, r)
	case OpSleep:
		m.slept(run)
	case OpAwait:
		m.arrived(run, r)
	case OpEscalate:
		m.escalated(run, r)
	case OpCompensate:
		m.compensated(run, r)
	case OpCommit:
		m.committed(run)
	}
}

// Cancel ends the iteration for good. Outstanding commands are withdrawn, no
// phase is undone, and what remains is to write the end. ErrEnded if the end was
// decided before; ErrResult without a usable time.
func (m *Machine) Cancel(reason string, at time.Time) error {
	if m.state.Ending != "" {
		return fmt.Errorf("machine: iteration %s is %s: %w", m.state.Iteration, m.state.Ending, ErrEnded)
	}
	at = plain(at)
	if !storable(at) {
		return fmt.Errorf("machine: cancel at %v: %w", at, ErrResult)
	}
	if reason == "" {
		reason = "canceled"
	}
	m.state.At = at
	m.finish(Canceled, &Failure{Code: CodeCanceled, Text: reason, Permanent: true})
	return nil
}

// Status gives the state of the iteration: Suspended while it only waits for
// signals, and a final one once End is done.
func (m *Machine) Status() Status {
	if len(m.out) == 0 {
		return m.state.Status
	}
	for i := range m.out {
		if m.out[i].Op != OpAwait {
			return Running
		}
	}
	return Suspended
}

// Failure says why the iteration ends without completing, from the moment that
// this is decided; nil otherwise.
func (m *Machine) Failure() *Failure { return m.state.Failure }

// Output gives the output of a phase's latest run, once its record is
// committed. There is none if that run was skipped, failed or has yet to end
// for the first time.
func (m *Machine) Output(phase string) (Payload, bool) {
	i, ok := m.plan.index[phase]
	if !ok || m.state.Phases[i].Ended != EndedCompleted {
		return Payload{}, false
	}
	return m.state.Phases[i].Output, true
}

// Runs says how often a phase has begun in this iteration.
func (m *Machine) Runs(phase string) int {
	i, ok := m.plan.index[phase]
	if !ok {
		return 0
	}
	return m.state.Phases[i].Runs
}

// LastAct gives the act that completed last, and its phase; nil if none did.
func (m *Machine) LastAct() (phase string, act *Act) {
	if m.state.Act.Act == nil {
		return "", nil
	}
	return m.plan.phases[m.state.Act.Phase].id, m.state.Act.Act
}

// Memo gives the output that an idempotent phase gave for the same signature
// earlier in this iteration (OS-010 §5.2, C-039). A host that finds one reports
// a result that is Remembered instead of running the function again. Outputs are
// remembered for phases that can run again, see [Plan.Repeats], from their
// commit on.
func (m *Machine) Memo(phase string, sig signature.Digest) (Payload, bool) {
	i, ok := m.plan.index[phase]
	if !ok {
		return Payload{}, false
	}
	known, ok := m.remembered(i, sig)
	if !ok {
		return Payload{}, false
	}
	return known.Output, true
}

func (m *Machine) outstanding(id CommandID) *Command {
	for i := range m.out {
		if m.out[i].ID == id {
			return &m.out[i]
		}
	}
	return nil
}

func (m *Machine) run(id CommandID) *PhaseRun {
	for i := range m.state.Active {
		if m.state.Active[i].ID == id {
			return &m.state.Active[i]
		}
	}
	return nil
}

// issue gives the id of the next command.
func (m *Machine) issue() CommandID {
	m.state.Issued++
	return m.state.Issued
}

// command puts a bare command out, in place of all that were outstanding, and
// gives it to be filled. One phase runs at a time.
func (m *Machine) command(id CommandID, op Op) *Command {
	m.out = append(m.out[:0], Command{ID: id, Op: op})
	return &m.out[0]
}

// withdraw takes back every outstanding command.
func (m *Machine) withdraw() {
	clear(m.out)
	m.out = m.out[:0]
}

// plain drops what does not survive being stored.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }

// storable reports whether t, and t with any duration added, has a JSON form.
func storable(t time.Time) bool {
	const year9000 = 221845392000 // in seconds since 1970
	return !t.IsZero() && t.Unix() > -62135596800 && t.Unix() < year9000
}
