package pulse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// errTimeout is the cause with which the context of an attempt ends that took
// longer than timeout_ms.
var errTimeout = errors.New("pulse: the phase took longer than timeout_ms")

// newCall makes an attempt known to the goroutine that watches.
func (r *run) newCall(cmd *machine.Command) *Call {
	p := &r.loop.phases[r.loop.index[cmd.Phase]]
	c := &Call{
		run: r, phase: p, cmd: *cmd, begun: time.Now(),
		earlier: r.over, retrieved: r.retrieved, topos: r.topos, delibs: r.delibs, seq: r.seq,
	}
	c.calls = c.callsBuf[:0]
	c.ctx.call = c
	ctx := r.ctx
	if p.timeout > 0 {
		ctx, c.cancel = context.WithTimeoutCause(ctx, p.timeout, errTimeout)
		r.deadline.Reset(p.timeout + r.loop.limits.Straggle)
	}
	c.ctx.Context = r.startSpan(ctx, c)
	r.mu.Lock()
	if r.inputs == nil {
		r.inputs = make([]machine.Input, len(r.loop.phases))
	}
	r.inputs[r.loop.index[p.id]] = cmd.Input
	r.mu.Unlock()
	r.current.Store(c)
	return c
}

// overdue reports whether the function had its time and the grace after it.
func (c *Call) overdue(now time.Time) bool {
	return c.phase.timeout > 0 && now.Sub(c.begun) >= c.phase.timeout+c.run.loop.limits.Straggle
}

func (c *Call) timeoutFailure() *machine.Failure {
	return machine.NewFailure(machine.CodeTimeout, false, errTimeout)
}

// runPhase makes one attempt of a phase, from the signature of its input to the
// record that is to be committed. The order is: signature, auth, policy,
// memo, invariants, intent, function, invariants, triggers.
func (r *run) runPhase(cmd *machine.Command, mine **Call) (machine.Result, verdict, error) {
	c := r.newCall(cmd)
	*mine = c
	res := machine.Result{}
	err := guard(func() error { return c.attempt(&res) })
	if !c.state.CompareAndSwap(attemptActive, attemptReturned) {
		r.loop.strays.remove(c)
		c.settleLate()
		return res, lost, nil
	}
	c.close()
	res.Time, res.Signature = time.Now(), c.sig
	if err != nil {
		res.Failure = c.failed(err)
	}
	return res, proceed, nil
}

// failed classifies an error; one that panics when it is looked at is a panic.
func (c *Call) failed(err error) (f *machine.Failure) {
	defer func() {
		if v := recover(); v != nil {
			f = machine.NewFailure(machine.CodePanic, false, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	return c.failure(err)
}

// settleLate rolls back what an abandoned attempt did after its run had gone on.
func (c *Call) settleLate() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx.Context), c.run.loop.limits.Straggle)
	defer cancel()
	if err := c.rollback(ctx); err != nil {
		c.run.loop.log(ctx, "rollback of an abandoned attempt", err)
	}
}

// attempt runs the chain. Everything that it changes belongs to the call, so an
// abandoned attempt harms nobody.
func (c *Call) attempt(res *machine.Result) error {
	r, p := c.run, c.phase
	in, err := p.take(c.cmd.Input)
	if err != nil {
		return err
	}
	sig := r.entrySig
	if p.id != r.trigger.Phase || c.cmd.Input.Source != machine.FromTrigger || !r.signed {
		if sig, err = r.sign(p, in); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.sig = sig
	c.mu.Unlock()
	if err := r.permitted(&c.ctx, c.engine(), p.operation); err != nil {
		return err
	}
	if p.policy != "" {
		if err := r.allowed(&c.ctx, c.engine(), p.policy, p.operation); err != nil {
			return err
		}
	}
	if p.memo {
		r.mu.Lock()
		out, ok := r.m.Memo(p.id, sig)
		r.mu.Unlock()
		if ok {
			res.Output, res.Remembered = out, true
			return nil
		}
	}
	view := c.look(in)
	if err := c.before(view); err != nil {
		return err
	}
	if p.acts {
		if err := c.intend(); err != nil {
			return err
		}
		c.mu.Lock()
		c.acting = true
		c.mu.Unlock()
	}
	out, act, err := c.call(in)
	if err := c.ended(err); err != nil {
		return c.breach(err)
	}
	if err := c.conclude(out, act, res); err != nil {
		return err
	}
	view.Output, view.Decision, view.Act = out, res.Decision, res.Act
	if err := c.after(view, res); err != nil {
		return err
	}
	return c.prepare(&c.ctx)
}

// sign gives the signature of a phase's input (OS-010 §5.6).
func (r *run) sign(p *phase, in any) (signature.Digest, error) {
	return p.signer.Of(r.trigger.Workspace, in)
}

// engine is the call context of what the engine does for the attempt on its own
// account (C-135).
func (c *Call) engine() substrate.Origination {
	o := c.origination(0, c.sig) // the goroutine that runs the attempt wrote it
	o.Engine = true
	return o
}

// call calls the phase function. A panic becomes an error with its stack.
func (c *Call) call(in any) (out any, act *machine.Act, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return c.phase.call(&c.ctx, in)
}

// ended closes the handles and says whether the function's end counts as one.
func (c *Call) ended(err error) error {
	late := c.ctx.Err() != nil
	c.mu.Lock()
	c.over = true
	broken := c.broken
	c.mu.Unlock()
	switch {
	case late && errors.Is(context.Cause(&c.ctx), errTimeout):
		if err == nil {
			return errTimeout
		}
		return errors.Join(errTimeout, err)
	case err != nil:
		return err
	case broken != nil:
		return broken
	}
	return nil
}

// breach makes a violation of a refusal that a learn phase ran into: it tried to
// rewrite history (OS-010 §7.2).
func (c *Call) breach(err error) error {
	var refused *substrate.RefusedError
	if !errors.As(err, &refused) || c.phase.role != manifest.RoleLearn || !c.run.loop.manifest.Invariants[manifest.FeedbackImmutability] {
		return err
	}
	return &invariant.Violation{Invariant: string(manifest.FeedbackImmutability), Err: err}
}

// conclude turns what the function returned into a result.
func (c *Call) conclude(out any, act *machine.Act, res *machine.Result) error {
	p := c.phase
	if d, ok := out.(Decision); ok && p.routes {
		res.Decision = &machine.Decision{To: d.To, Deliberate: d.Deliberate}
		if d.To == "" && p.only != "" {
			res.Decision.To = p.only
		}
		if d.Value != nil {
			if err := c.run.loop.fits(d); err != nil {
				return err
			}
			res.Decision.Value = machine.Of(d.Value)
		}
	}
	if p.acts {
		if res.Act = c.acted(act); p.decl.Kind == manifest.KindAct || act != nil {
			if err := outcomeOf(res.Act); err != nil {
				return err
			}
		}
	}
	res.Output = machine.Of(out)
	return c.carry(out, p)
}

// acted completes what an act phase said of its action: the id, and the parents
// of an act that returned a plain value (C-092).
func (c *Call) acted(act *machine.Act) *machine.Act {
	if act == nil {
		act = &machine.Act{CausalParentIDs: append(c.retrieved[:len(c.retrieved):len(c.retrieved)], c.nodes...)}
		act.NoParents = len(act.CausalParentIDs) == 0
	}
	act.ActionID = c.ActionID()
	if act.Status == "" && !act.Pending {
		act.Status = token.StatusSuccess
	}
	return act
}

// outcomeOf checks that an act says nothing that no OutcomeSignal can: it will
// have to be one when its learn phase is complete.
func outcomeOf(act *machine.Act) error {
	if act.Within < 0 {
		return Permanent(fmt.Errorf("the outcome is awaited within %s: give a positive duration, or none", act.Within))
	}
	s := token.OutcomeSignal{
		ActionID: act.ActionID, Status: act.Status, CausalParentIDs: act.CausalParentIDs, Evidence: act.Evidence, Timestamp: time.Unix(0, 0).UTC(),
	}
	if act.Pending {
		s.Status = token.StatusSuccess
	}
	if err := s.Validate(); err != nil {
		return Permanent(fmt.Errorf("the act's outcome: %w", err))
	}
	return nil
}

// carry makes emissions of the tokens in the output: the output itself, or the
// elements of a list.
func (c *Call) carry(out any, p *phase) error {
	if !p.emits {
		return nil
	}
	for t := range tokens(out) {
		e, err := c.run.loop.emission(p, t)
		if err != nil {
			return err
		}
		c.emitted++
		e.ordinal = c.emitted
		c.emissions = append(c.emissions, e)
	}
	return nil
}

// look gives the attempt as invariants see it before the function runs.
func (c *Call) look(in any) *invariant.Phase {
	r, p := c.run, c.phase
	v := &c.view
	*v = invariant.Phase{
		Loop: r.loop.manifest.LoopID, Iteration: r.id, Workspace: r.trigger.Workspace, TraceID: r.trigger.TraceID,
		Phase: p.decl, Role: p.role, Attempt: c.cmd.Attempt, Input: in,
		Topologies: c.topos, Deliberations: c.delibs, Quorum: r.loop.plan.Settings().Quorum,
	}
	if o := c.cmd.Input.Outcome; o != nil {
		v.Outcome = o
		r.mu.Lock()
		if _, act := r.m.LastAct(); act != nil && act.ActionID == o.ActionID {
			v.LastAct = act
		}
		r.mu.Unlock()
	}
	if p.inCarriers != nil && c.cmd.Input.Source != machine.FromPhase { // an earlier output was looked at when it came
		var said []*token.DeliberationResult
		v.Topologies, said = p.inCarriers.find(in, v.Topologies, v.Deliberations)
		if c.cmd.Input.Source != machine.FromTrigger { // nobody deliberated who only says so from outside (C-084)
			v.Deliberations = said
		}
	}
	for _, e := range c.earlier {
		v.Elsewhere = append(v.Elsewhere, e.busySlots()...)
	}
	return v
}

func (c *Call) before(v *invariant.Phase) error {
	for _, rule := range c.run.loop.rules {
		if err := violated(rule, guard(func() error { return rule.Before(&c.ctx, v) })); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) after(v *invariant.Phase, res *machine.Result) error {
	p := c.phase
	c.mu.Lock()
	v.Calls = c.calls
	if c.busy() {
		v.Calls = slices.Clone(c.calls) // a call under way still writes to its own
	}
	v.Topologies = append(v.Topologies[:len(v.Topologies):len(v.Topologies)], c.seen...)
	c.mu.Unlock()
	if p.outCarriers != nil {
		var said []*token.DeliberationResult
		v.Topologies, said = p.outCarriers.find(v.Output, v.Topologies, v.Deliberations)
		if elects := c.run.loop.elects; elects == "" || elects == p.id { // the phase where the quorum is decided (C-019, C-084)
			v.Deliberations = said
		}
	}
	if p.triggers != nil {
		var err error
		if res.Triggers, err = p.evaluate(c.run.loop, v); err != nil {
			return err
		}
		v.Triggers = res.Triggers
	}
	if d := res.Decision; d != nil {
		v.Target = c.run.loop.roleOf(d.To)
	}
	for _, rule := range c.run.loop.rules {
		if err := violated(rule, guard(func() error { return rule.After(&c.ctx, v) })); err != nil {
			return err
		}
	}
	c.topos, c.delibs = v.Topologies, v.Deliberations
	return nil
}

// violated makes a violation of whatever a rule returned.
func violated(rule invariant.Rule, err error) error {
	if err == nil {
		return nil
	}
	var v *invariant.Violation
	if errors.As(err, &v) {
		return err
	}
	return &invariant.Violation{Invariant: rule.Name(), Err: err}
}

// intend records that an act is about to happen; without the record the function
// does not run (C-090).
func (c *Call) intend() error {
	r, p := c.run, c.phase
	id := c.ActionID()
	if r.loop.durable {
		in := &journal.Intent{Phase: p.id, Run: c.cmd.Run, Attempt: c.cmd.Attempt, ActionID: id}
		if err := c.journalIntent(in); err != nil {
			return err
		}
	}
	ev := r.event(substrate.ClassLifecycle, "phase.intent", p, c.cmd.Attempt, c.sig)
	ev.EventID = r.eventID(ev.EventType, p.id, c.cmd.Run, c.cmd.Attempt, 0)
	ev.SpanID = c.spanID
	ev.Attributes = substrate.Attributes{{Name: "action_id", Value: id}}
	return r.append(&ev, c)
}

// failure classifies the error of an attempt.
func (c *Call) failure(err error) *machine.Failure {
	code := machine.CodeError
	permanent := isPermanent(err)
	var (
		violation   *invariant.Violation
		panicked    *PanicError
		unavailable *substrate.UnavailableError
		typed       *TypeError
		unsigned    *signature.Error
		refused     *substrate.RefusedError
	)
	switch {
	case errors.As(err, &violation):
		code, permanent = machine.CodeViolation, true
	case errors.Is(err, errTimeout):
		code = machine.CodeTimeout
	case errors.Is(err, substrate.ErrDenied):
		code, permanent = machine.CodeDenied, true
	case errors.As(err, &panicked):
		code = machine.CodePanic
	case errors.As(err, &unavailable):
		code = machine.CodeUnavailable
	case errors.As(err, &typed), errors.As(err, &unsigned):
		code, permanent = machine.CodeType, true
	case errors.As(err, &refused):
		permanent = true
	}
	return machine.NewFailure(code, permanent, err)
}

// settle ends an attempt for the run: a failed one is rolled back and recorded,
// a good one waits for its commit.
func (r *run) settle(c *Call, res *machine.Result, abandoned bool) error {
	c.close() // a function that left by runtime.Goexit has not
	r.endAttempt(c, res)
	r.lastSig = res.Signature
	if c.journaled() {
		r.seq, r.snapped = c.seq+1, true
	}
	if r.lastSig == "" {
		r.lastSig = r.entrySig
	}
	if len(c.busySlots()) > 0 {
		r.over = append(r.over, c)
	}
	r.last = c
	if res.Failure == nil && !abandoned {
		return nil
	}
	var err error
	if len(c.transactions()) > 0 {
		err = r.persist(c.rollback)
	}
	if res.Failure == nil {
		return err
	}
	ev := r.event(substrate.ClassLifecycle, "phase.attempt_failed", c.phase, c.cmd.Attempt, r.lastSig)
	if abandoned {
		ev.EventType = "phase.abandoned"
	}
	ev.EventID = r.eventID(ev.EventType, c.phase.id, c.cmd.Run, c.cmd.Attempt, 0)
	ev.SpanID = c.spanID
	ev.Outcome = string(res.Failure.Code)
	if res.Failure.Code == machine.CodeDenied {
		ev.Attributes = substrate.Attributes{{Name: "reason", Value: res.Failure.Text}}
	}
	return errors.Join(err, r.append(&ev, c))
}

// roleOf gives the role of the phase that a decision names.
func (l *Loop) roleOf(id string) manifest.Role {
	if i, ok := l.index[id]; ok {
		return l.phases[i].role
	}
	return ""
}
