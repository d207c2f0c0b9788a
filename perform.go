package pulse

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/substrate"
)

// perform carries out one command. An error means that the host cannot go on,
// not that the command failed: that is in the result.
func (r *run) perform(cmd *machine.Command, mine **Call) (machine.Result, verdict, error) {
	switch cmd.Op {
	case machine.OpRunPhase:
		return r.runPhase(cmd, mine)
	case machine.OpCommit:
		return r.performCommit(cmd)
	case machine.OpBegin:
		res, err := r.begin()
		return res, proceed, err
	case machine.OpSleep:
		res, err := r.sleep(cmd)
		return res, proceed, err
	case machine.OpAwait:
		return r.await(cmd)
	case machine.OpEscalate:
		res, err := r.escalate(cmd)
		return res, proceed, err
	case machine.OpCompensate:
		res, err := r.compensate(cmd)
		return res, proceed, err
	case machine.OpEnd:
		res, err := r.end(cmd)
		return res, proceed, err
	default:
		return machine.Result{}, proceed, errors.New("no host for command " + string(cmd.Op))
	}
}

// begin asks for permission to start, and records the start (C-097).
func (r *run) begin() (machine.Result, error) {
	l := r.loop
	err := r.permitted(r.ctx, r.base, l.manifest.LoopID)
	p := &l.phases[l.index[r.trigger.Phase]]
	ev := r.event(substrate.ClassLifecycle, "iteration.started", p, 0, "")
	ev.Signature = r.entrySig
	if err != nil {
		ev.EventType = "iteration.denied"
		ev.Outcome = "denied"
		ev.Attributes = substrate.Attributes{{Name: "reason", Value: err.Error()}}
	}
	ev.EventID = r.eventID(ev.EventType, "", 0, 0, 0)
	res := machine.Result{Time: ev.Timestamp}
	if aerr := r.append(&ev, nil); aerr != nil {
		var breach *invariant.Violation
		if !errors.As(aerr, &breach) {
			return machine.Result{}, aerr
		}
		res.Failure = machine.NewFailure(machine.CodeViolation, true, aerr)
		return res, nil
	}
	if err != nil {
		res.Failure = machine.NewFailure(machine.CodeDenied, true, err)
	}
	return res, nil
}

// permitted asks the auth substrate. Unreachable means deny (C-097).
func (r *run) permitted(ctx context.Context, o substrate.Origination, operation string) (err error) {
	defer recovered(&err)
	v, aerr := r.set.Auth.PermissionCheck(ctx, substrate.PermissionCheckRequest{Origination: o, AgentID: o.Actor, Operation: operation})
	if aerr != nil {
		return unreachable(o.Actor, operation, operation, aerr)
	}
	return v.Err(o.Actor, operation, operation)
}

// allowed asks the policy substrate (C-029).
func (r *run) allowed(ctx context.Context, o substrate.Origination, action, resource string) (err error) {
	defer recovered(&err)
	v, perr := r.set.Policy.CheckPolicy(ctx, substrate.CheckPolicyRequest{Origination: o, Action: action, Resource: resource})
	if perr != nil {
		return unreachable(o.Actor, action, resource, perr)
	}
	return v.Err(o.Actor, action, resource)
}

func unreachable(actor, action, resource string, err error) error {
	return errors.Join(&substrate.DeniedError{Actor: actor, Action: action, Resource: resource, Reason: "not answered"}, err)
}

// sleep waits before the next attempt, and says so in the audit.
func (r *run) sleep(cmd *machine.Command) (machine.Result, error) {
	p := &r.loop.phases[r.loop.index[cmd.Phase]]
	ev := r.event(substrate.ClassLifecycle, "phase.retry", p, cmd.Attempt, r.lastSig)
	ev.EventID = r.eventID(ev.EventType, p.id, cmd.Run, cmd.Attempt, 0)
	ev.Attributes = substrate.Attributes{{Name: "delay", Value: cmd.Delay.String()}}
	if err := r.append(&ev, nil); err != nil {
		return machine.Result{}, err
	}
	r.observe(Event{Kind: EventRetry, Phase: p.id, Attempt: cmd.Attempt, Delay: cmd.Delay})
	t := time.NewTimer(cmd.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return machine.Result{Time: time.Now()}, nil
	case <-r.ctx.Done():
		return machine.Result{}, context.Cause(r.ctx)
	}
}

// escalate asks whoever the host named; nobody named means abort (C-043).
func (r *run) escalate(cmd *machine.Command) (machine.Result, error) {
	l := r.loop
	p := &l.phases[l.index[cmd.Phase]]
	cause := error(cmd.Failure)
	if u := cmd.Failure.Unwrap(); u != nil {
		cause = u
	}
	resolution := Abort
	if l.cfg.Escalate != nil {
		e := Escalation{
			Loop: l.manifest.LoopID, Phase: p.id, Iteration: r.id, Workspace: r.trigger.Workspace, TraceID: r.trigger.TraceID,
			Signature: r.lastSig, Attempts: cmd.Attempt, Cause: cause,
		}
		err := r.persist(func(ctx context.Context) (err error) {
			resolution, err = l.cfg.Escalate(ctx, e)
			return err
		})
		if err != nil {
			return machine.Result{}, err
		}
	}
	ev := r.event(substrate.ClassLifecycle, "phase.escalated", p, cmd.Attempt, r.lastSig)
	ev.EventID = r.eventID(ev.EventType, p.id, cmd.Run, cmd.Attempt, 0)
	ev.Outcome = string(resolution)
	if err := r.append(&ev, nil); err != nil {
		return machine.Result{}, err
	}
	return machine.Result{Time: ev.Timestamp, Resume: resolution == Resume}, nil
}

// compensate undoes a phase: its transactions were rolled back when the attempt
// failed; its Undo, if it has one, is called now (C-041).
func (r *run) compensate(cmd *machine.Command) (machine.Result, error) {
	p := &r.loop.phases[r.loop.index[cmd.Phase]]
	res := machine.Result{}
	if p.undo != nil {
		in, err := p.take(cmd.Input)
		if err == nil {
			err = guard(func() error { return p.undo(r.ctx, r.actionID(p.id, cmd.Run), in) })
		}
		if err != nil {
			res.Failure = machine.NewFailure(machine.CodeError, isPermanent(err), err)
		}
	}
	ev := r.event(substrate.ClassLifecycle, "phase.compensated", p, cmd.Attempt, r.lastSig)
	ev.EventID = r.eventID(ev.EventType, p.id, cmd.Run, cmd.Attempt, 0)
	if res.Failure != nil {
		ev.EventType, ev.Outcome = "phase.compensation_failed", string(res.Failure.Code)
	}
	if err := r.append(&ev, nil); err != nil {
		return machine.Result{}, err
	}
	res.Time = ev.Timestamp
	return res, nil
}

// end writes the end of the iteration.
func (r *run) end(cmd *machine.Command) (machine.Result, error) {
	l := r.loop
	p := &l.phases[l.index[r.trigger.Phase]]
	if r.last != nil {
		p = r.last.phase
	}
	ev := r.event(substrate.ClassLifecycle, "iteration."+string(cmd.Status), p, 0, r.lastSig)
	if ev.Signature == "" {
		ev.Signature = r.entrySig
	}
	ev.EventID = r.eventID(ev.EventType, "", 0, 0, 0)
	if cmd.Failure != nil {
		ev.Outcome = string(cmd.Failure.Code)
	}
	if err := r.append(&ev, nil); err != nil {
		return machine.Result{}, err
	}
	if r.snapped {
		if err := r.save(cmd.Status, r.failed); err != nil {
			return machine.Result{}, err
		}
	}
	return machine.Result{Time: ev.Timestamp}, nil
}

// maxTries bounds how often a write to journal, audit or a transaction is tried
// before the iteration is interrupted.
const maxTries = 5

// persist tries a write until it succeeds, with the loop's retry arithmetic. It
// gives up after maxTries, on a permanent error, and when the iteration's
// context has been over for as long as a straggler may take.
func (r *run) persist(try func(context.Context) error) error {
	ctx, cancel := r.writing()
	defer cancel()
	for n := 1; ; n++ {
		err := guard(func() error { return try(ctx) })
		switch {
		case err == nil:
			return nil
		case n == maxTries || final(err) || ctx.Err() != nil:
			return err
		}
		t := time.NewTimer(r.loop.plan.Settings().Backoff.Delay(n, r.seed))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// final reports whether no further try of a write can help.
func final(err error) bool {
	var breach *invariant.Violation
	return isPermanent(err) || errors.Is(err, journal.ErrConflict) || errors.As(err, &breach)
}

// writing gives the context of a write: the iteration's, or, once that is over,
// one that lasts as long as a straggler may.
func (r *run) writing() (context.Context, context.CancelFunc) {
	if r.ctx.Err() == nil {
		return r.ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(r.ctx), r.loop.limits.Straggle)
}

// guard calls host code: a panic becomes an error.
func guard(f func() error) (err error) {
	defer recovered(&err)
	return f()
}

// recovered turns a panic of host code into an error. It must be deferred
// directly.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
