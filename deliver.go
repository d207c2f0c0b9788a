package pulse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Deliver hands the loop the outcome of an action that was pending (C-046). The
// iteration that waits for it is resumed and run until it ends or suspends
// again, and returned as by [PhaseID.Enter].
//
// The signal needs the action's id and its status; parents that it leaves out are
// those of the act. An outcome that comes before its iteration waits is kept for a
// day: Deliver gives a nil iteration and no error, and so it does for an action
// that nobody knows, which cannot be told apart. One that comes a second time gives the iteration and
// [ErrDuplicate], one that comes after the wait was over the iteration and
// [ErrLate]; both are audited and change nothing. Only the workspace of the
// trigger counts.
//
// Deliver, as Enter does, first ends the waits of its workspace that are over
// ([Outcome.Within]): their learn phases run with status timeout.
func (l *Loop) Deliver(ctx context.Context, t Trigger, s token.OutcomeSignal) (*Iteration, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pulse: loop %s: deliver: %w", l.manifest.LoopID, context.Cause(ctx))
	}
	workspace, err := l.workspace(t.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Timestamp.IsZero() {
		s.Timestamp = time.Now().UTC()
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("pulse: loop %s: deliver: %w", l.manifest.LoopID, err)
	}
	l.expire(ctx, workspace)
	key := waitKey{workspace: workspace, token: token.OutcomeSignalName, action: s.ActionID}
	was, err := l.waits.deliver(key, &s, time.Now())
	if err != nil {
		return nil, fmt.Errorf("pulse: loop %s: deliver: %w", l.manifest.LoopID, err)
	}
	switch was.state {
	case waitUnknown:
		err := l.auditSignal(ctx, workspace, "signal.received", &s, nil)
		if err != nil {
			l.waits.withdraw(key, &s) // not received, then: it may come again
		}
		return nil, err
	case waitOpen:
		it, err := l.wake(ctx, key, was, machine.Result{Outcome: &s})
		if it == nil {
			l.waits.reopen(key, was)
		}
		return it, err
	case waitOver:
		return was.ended, errors.Join(fmt.Errorf("%w: action %s", ErrLate, s.ActionID), l.auditSignal(ctx, workspace, "signal.late", &s, was.ended))
	default:
		return was.ended, errors.Join(fmt.Errorf("%w: action %s", ErrDuplicate, s.ActionID), l.auditSignal(ctx, workspace, "signal.duplicate", &s, was.ended))
	}
}

// expire resumes the iterations of a workspace whose wait is over.
func (l *Loop) expire(ctx context.Context, workspace string) {
	for key, was := range l.waits.overdue(workspace, time.Now()) {
		it, err := l.wake(ctx, key, was, machine.Result{Expired: true})
		if it == nil {
			l.waits.reopen(key, was)
		}
		if err != nil {
			l.log(ctx, "an expired wait", err)
		}
	}
}

// wake resumes a suspended iteration with the answer to its await.
func (l *Loop) wake(ctx context.Context, key waitKey, was wait, res machine.Result) (*Iteration, error) {
	var e journal.Entry
	err := guard(func() (err error) { e, err = l.journal.Load(ctx, key.workspace, was.iteration); return err })
	if err != nil {
		return nil, fmt.Errorf("pulse: loop %s: iteration %s: %w", l.manifest.LoopID, was.iteration, err)
	}
	if e.Status.Final() {
		return l.endedElsewhere(key, e)
	}
	it, err := l.resume(ctx, e, &res)
	if it != nil {
		l.waits.settled(key, it)
		l.flights.update(it, err)
	}
	return it, err
}

// endedElsewhere lets go of an iteration that waited here and was resumed, and
// ended, in another process.
func (l *Loop) endedElsewhere(key waitKey, e journal.Entry) (*Iteration, error) {
	it, err := l.known(e)
	if it == nil {
		return nil, err
	}
	l.waits.settled(key, it)
	if l.immediate {
		l.gate.leave(e.Workspace)
	}
	return it, fmt.Errorf("%w: action %s", ErrLate, key.action)
}

// Resume goes on with an iteration that was interrupted, here or in another
// process, and returns it as [PhaseID.Enter] does. A suspended one is left to
// [Loop.Deliver]. The entry must come from the loop's own journal and manifest:
// anything else is [ErrPlanChanged].
func (l *Loop) Resume(ctx context.Context, e journal.Entry) (*Iteration, error) {
	return l.resume(ctx, e, nil)
}

func (l *Loop) resume(ctx context.Context, e journal.Entry, res *machine.Result) (*Iteration, error) {
	m, err := l.restore(e)
	if err != nil {
		return nil, err
	}
	leave := func() {}
	if !l.keepsPlace(m, e, res) {
		if err := l.admit(ctx, e.Workspace); err != nil {
			return nil, err
		}
		leave = func() { l.gate.leave(e.Workspace) }
	}
	r, err := l.newRun(ctx, e.Iteration, e.Snapshot.Trigger, m)
	if err != nil {
		leave()
		return nil, err
	}
	r.seq, r.snapped = e.Sequence, true
	r.retrieved, r.topos, r.delibs = e.Notes.Retrieved, e.Notes.Topologies, e.Notes.Deliberations
	r.owed = e.Notes
	if e.Record != nil {
		r.recorded = e.Record.Seq
	}
	if res == nil {
		return r.drive(r.doubt(e))
	}
	cmd := m.Next()[0]
	if cmd.Op != machine.OpAwait {
		leave()
		return nil, fmt.Errorf("pulse: loop %s: iteration %s does not wait", e.Loop, e.Iteration)
	}
	if res.Outcome != nil {
		if err := r.consumed(&cmd, res.Outcome); err != nil {
			leave()
			return nil, err
		}
	}
	res.Time = time.Now()
	res.Outcome = r.attributed(res.Outcome)
	return r.drive(cmd, res)
}

// attributed completes an outcome that names no parents with those of its act: who
// brings it back need not know them.
func (r *run) attributed(s *token.OutcomeSignal) *token.OutcomeSignal {
	_, act := r.m.LastAct()
	if s == nil || s.CausalParentIDs != nil || act == nil || act.ActionID != s.ActionID {
		return s
	}
	own := *s
	own.CausalParentIDs = act.CausalParentIDs
	return &own
}

// restore gives the machine of an entry of this loop.
func (l *Loop) restore(e journal.Entry) (*machine.Machine, error) {
	if e.Loop != l.manifest.LoopID {
		return nil, fmt.Errorf("%w: the entry is of loop %q, not %s", ErrPlanChanged, e.Loop, l.manifest.LoopID)
	}
	if e.Workspace != e.Snapshot.Trigger.Workspace || e.Iteration != e.Snapshot.Iteration {
		return nil, fmt.Errorf("%w: the entry of iteration %q in workspace %q holds another one", ErrPlanChanged, e.Iteration, e.Workspace)
	}
	m, err := machine.Restore(l.plan, e.Snapshot)
	if errors.Is(err, machine.ErrPlanChanged) {
		return nil, fmt.Errorf("%w: loop %s: iteration %s: %w", ErrPlanChanged, e.Loop, e.Iteration, err)
	}
	if err != nil {
		return nil, fmt.Errorf("pulse: loop %s: iteration %s: %w", e.Loop, e.Iteration, err)
	}
	return m, nil
}

// keepsPlace reports whether a suspended iteration still has its place in the
// workspace: with guarantee immediate one that waits in this process does, and
// not one that another process left waiting.
func (l *Loop) keepsPlace(m *machine.Machine, e journal.Entry, res *machine.Result) bool {
	switch cmds := m.Next(); {
	case !l.immediate:
		return false
	case res != nil: // who delivers has taken the wait
		return true
	default:
		return e.Status == machine.Suspended && len(cmds) == 1 && l.waits.isOpen(waitKey{workspace: e.Workspace, token: cmds[0].Await.Token, action: cmds[0].Await.ActionID})
	}
}

// doubt answers for an act whose intent is the newest entry: nobody knows whether
// it happened. One that is not idempotent fails with ErrInDoubt, which only retry
// answers by running it again (C-090).
func (r *run) doubt(e journal.Entry) (machine.Command, *machine.Result) {
	if e.Intent == nil || r.loop.plan.Idempotent(e.Intent.Phase) {
		return machine.Command{}, nil
	}
	cmds := r.m.Next()
	if len(cmds) == 0 || cmds[0].Op != machine.OpRunPhase || cmds[0].Phase != e.Intent.Phase {
		return machine.Command{}, nil
	}
	err := fmt.Errorf("%w: action %s", ErrInDoubt, e.Intent.ActionID)
	return cmds[0], &machine.Result{Time: time.Now(), Failure: machine.NewFailure(machine.CodeInDoubt, false, err), Signature: r.entrySig}
}

// auditSignal records what became of a signal outside an iteration. A signal
// that names no trace belongs to that of its iteration, if one is known.
func (l *Loop) auditSignal(ctx context.Context, workspace, typ string, s *token.OutcomeSignal, it *Iteration) error {
	traceID := s.TraceID
	switch {
	case traceID == "" && it != nil:
		traceID = it.TraceID
	case traceID == "":
		traceID = l.newTrace(ctx)
	}
	set, err := l.resolve(ctx, workspace)
	if err != nil {
		return err
	}
	sig, err := signature.Of(workspace, s)
	if err != nil {
		return err
	}
	o := substrate.Origination{
		Workspace: workspace, Actor: l.cfg.Actor, TraceID: traceID, Loop: l.manifest.LoopID, LoopVersion: l.manifest.Version,
		Signature: sig, Engine: true,
	}
	ev := substrate.AuditEvent{
		Class: substrate.ClassSignal, EventType: typ, EventID: newID(),
		WorkspaceID: workspace, LoopID: o.Loop, LoopVersion: o.LoopVersion, PhaseID: l.learner,
		TraceID: traceID, Timestamp: time.Now(), Signature: sig, Outcome: string(s.Status),
		Attributes: substrate.Attributes{{Name: "token", Value: string(token.OutcomeSignalName)}, {Name: "action_id", Value: s.ActionID}},
	}
	return guard(func() error {
		_, err := set.Audit.AppendEvent(ctx, substrate.AppendEventRequest{Origination: o, Event: ev})
		return err
	})
}
