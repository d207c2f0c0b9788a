package pulse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"go.opentelemetry.io/otel/trace"
)

// run drives one iteration in this process. One goroutine, the runner, performs
// the machine's commands and calls the phase functions; the goroutine that
// entered the loop watches it. The runner is replaced only when a function does
// not return after its time is over, or leaves by runtime.Goexit: whoever wins
// the attempt's state owns the run from then on.
type run struct {
	loop    *Loop
	id      string
	name    string // <loop>/<workspace>/<iteration>, for ids that hold everywhere
	trigger machine.Trigger
	base    substrate.Origination // what all requests of the iteration share
	set     *substrate.Set
	ctx     context.Context // the caller's, with the iteration's span
	span    trace.Span      // nil without a tracer
	closed  machine.Payload // closing output of the iteration before

	mu     sync.Mutex // guards m and inputs: phase functions read them
	m      *machine.Machine
	inputs []machine.Input // by phase, of its newest run

	current  atomic.Pointer[Call] // the attempt under way
	deadline *time.Timer          // fires when the attempt is overdue; nil if no phase has a timeout

	// Owned by the runner.
	last      *Call           // the attempt whose record comes next
	over      []*Call         // attempts that left calls under way
	seq       uint64          // of the journal
	snapped   bool            // the journal knows the iteration
	recorded  uint64          // the newest record in the journal
	failed    *machine.Record // the phase that ended the iteration
	seed      uint64          // of the jitter of writes
	doubtful  *journal.Intent // an act whose function was called and that has no record
	owed      journal.Notes   // of a record that another process began to commit
	retrieved []string
	topos     []*token.TopologyContext
	delibs    []*token.DeliberationResult
	entrySig  signature.Digest
	signed    bool // entrySig is that of the entry phase's input
	lastSig   signature.Digest

	finished atomic.Bool
	done     chan struct{}
	result   *Iteration // set before done is closed
}

// verdict says what becomes of the runner after a command.
type verdict uint8

const (
	proceed verdict = iota
	stop            // the run is finished
	lost            // another runner owns the run
)

// drive runs the iteration until it ends, suspends or is interrupted. A result
// given answers the command given before anything else.
func (r *run) drive(cmd machine.Command, res *machine.Result) (*Iteration, error) {
	go r.steps(cmd, res, nil)
	var overdue, grace <-chan time.Time
	if r.deadline != nil {
		overdue = r.deadline.C
		defer r.deadline.Stop()
	}
	ended := r.ctx.Done()
	for {
		select {
		case <-r.done:
			return r.result, r.result.Err
		case <-overdue:
			if c := r.current.Load(); c != nil && c.overdue(time.Now()) {
				r.abandon(c, c.timeoutFailure())
			}
		case <-ended:
			ended = nil
			grace = time.After(r.loop.limits.Straggle)
		case <-grace:
			c := r.current.Load()
			if c != nil && r.abandon(c, nil) {
				grace = time.After(2 * r.loop.limits.Straggle) // for writing down that it was interrupted
				continue
			}
			return r.stuck()
		}
	}
}

// stuck gives up on a runner that does not return from a substrate although its
// context is over.
func (r *run) stuck() (*Iteration, error) {
	select {
	case <-r.done:
		return r.result, r.result.Err
	case <-time.After(r.loop.limits.Straggle):
	}
	r.loop.strays.add(r, Straggler{Iteration: r.id, Workspace: r.trigger.Workspace, Since: time.Now()})
	select {
	case <-r.done: // it came at the same moment
		r.loop.strays.remove(r)
		return r.result, r.result.Err
	default:
	}
	it := &Iteration{stuck: r.done, ID: r.id, Workspace: r.trigger.Workspace, TraceID: r.trigger.TraceID, Status: Interrupted, loop: r.loop}
	it.Err = r.interruption(errors.New("a substrate has not returned"))
	return it, it.Err
}

// abandon takes the run away from a function that does not return. With a
// failure the run goes on with it; without one it is interrupted.
func (r *run) abandon(c *Call, f *machine.Failure) bool {
	if !c.state.CompareAndSwap(attemptActive, attemptAbandoned) {
		return false
	}
	c.close()
	r.loop.strays.add(c, Straggler{
		Iteration: r.id, Workspace: r.trigger.Workspace, Phase: c.phase.id, Attempt: c.cmd.Attempt, Since: time.Now(),
	})
	go r.steps(c.cmd, &machine.Result{Time: time.Now(), Failure: f, Signature: c.Signature()}, c)
	return true
}

// steps is the runner.
func (r *run) steps(cmd machine.Command, res *machine.Result, abandoned *Call) {
	var mine *Call // the attempt that this goroutine makes
	clean := false
	defer func() {
		if v := recover(); v != nil || !clean {
			r.exited(mine, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	v := proceed
	if res != nil {
		v = r.answer(&cmd, res, abandoned)
	}
	for v == proceed {
		v = r.step(&mine)
	}
	clean = true
}

// step performs the next command.
func (r *run) step(mine **Call) verdict {
	r.mu.Lock()
	cmds := r.m.Next()
	if len(cmds) == 0 {
		r.mu.Unlock()
		return r.finish(r.m.Status(), nil)
	}
	cmd := cmds[0]
	r.mu.Unlock()
	switch cmd.Op {
	case machine.OpRunPhase, machine.OpSleep, machine.OpBegin, machine.OpEscalate, machine.OpCompensate:
		if r.ctx.Err() != nil {
			return r.interrupt(nil)
		}
	}
	res, v, err := r.perform(&cmd, mine)
	switch {
	case v != proceed:
		return v
	case err != nil:
		return r.interrupt(err)
	}
	*mine = nil // its end is known: what follows is the run's
	return r.answer(&cmd, &res, nil)
}

// answer settles a performed command and reports it to the machine.
func (r *run) answer(cmd *machine.Command, res *machine.Result, abandoned *Call) verdict {
	if cmd.Op == machine.OpRunPhase {
		if r.deadline != nil {
			r.deadline.Stop()
		}
		if c := r.current.Swap(nil); c != nil { // none if the act was in doubt when the iteration was resumed
			if err := r.settle(c, res, abandoned != nil); err != nil {
				r.doubtful = c.intent()
				return r.interrupt(err)
			}
			if r.ctx.Err() != nil {
				r.doubtful = c.intent()
			}
		}
		if r.ctx.Err() != nil && (res.Failure == nil && abandoned != nil || res.Failure != nil && res.Failure.Code != machine.CodeTimeout) {
			return r.interrupt(nil) // the attempt does not count
		}
	}
	r.mu.Lock()
	err := r.m.Done(cmd.ID, *res)
	r.mu.Unlock()
	if err != nil {
		return r.interrupt(err)
	}
	if cmd.Op == machine.OpRunPhase && res.Failure == nil {
		if err := r.refused(res); err != nil {
			return r.interrupt(err)
		}
	}
	if cmd.Op == machine.OpCommit {
		r.release(cmd.Record)
	}
	return proceed
}

// refused undoes an attempt that the machine did not accept although its function
// was content: it decided for a phase that may not follow, or needs an inner loop.
func (r *run) refused(res *machine.Result) error {
	r.mu.Lock()
	cmds := r.m.Next()
	ok := len(cmds) > 0 && cmds[0].Op == machine.OpCommit && cmds[0].Record.Ended == machine.EndedCompleted
	r.mu.Unlock()
	if ok || r.last == nil {
		return nil
	}
	f := machine.NewFailure(machine.CodeRoute, true, errRefused)
	return r.settle(r.last, &machine.Result{Time: res.Time, Signature: res.Signature, Failure: f}, false)
}

// errRefused stands in the audit; the failure itself is the machine's.
var errRefused = errors.New("pulse: what the phase decided is not allowed there")

// exited takes over from a runner that host code left by runtime.Goexit, or by a
// panic where none is caught. mine is the attempt that the runner was making, nil
// for another command.
func (r *run) exited(mine *Call, pe *PanicError) {
	switch {
	case mine == nil:
		go r.giveUp(pe)
	case mine.state.CompareAndSwap(attemptActive, attemptReturned):
		mine.close()
		f := machine.NewFailure(machine.CodePanic, false, pe)
		go r.steps(mine.cmd, &machine.Result{Time: time.Now(), Failure: f, Signature: mine.Signature()}, nil)
	case mine.state.Load() == attemptAbandoned: // the run has gone on without it
		r.loop.strays.remove(mine)
		mine.settleLate()
	default: // it had returned: the host code of a later step left
		go r.giveUp(pe)
	}
}

// giveUp interrupts the iteration whatever host code does.
func (r *run) giveUp(cause error) {
	defer func() {
		if v := recover(); v != nil {
			cause = errors.Join(cause, &PanicError{Value: v, Stack: debug.Stack()})
		}
		r.finish(machine.Interrupted, r.interruption(cause)) // does nothing if it is done
	}()
	r.interrupt(cause)
}

// interrupt stops driving the iteration and leaves it resumable.
func (r *run) interrupt(cause error) verdict {
	err := r.interruption(cause)
	if jerr := r.saveInterrupted(); jerr != nil {
		err = errors.Join(err, jerr)
	}
	return r.finish(machine.Interrupted, err)
}

func (r *run) interruption(cause error) error {
	if over := context.Cause(r.ctx); over != nil {
		if cause == nil || errors.Is(cause, over) {
			cause = over
		} else {
			cause = fmt.Errorf("%w: %w", over, cause)
		}
	}
	return fmt.Errorf("pulse: loop %s: interrupted: %w", r.loop.manifest.LoopID, cause)
}

// finish publishes the iteration's state and frees its place.
func (r *run) finish(s Status, err error) verdict {
	if !r.finished.CompareAndSwap(false, true) {
		return stop
	}
	defer close(r.done)
	it := r.view(s, err)
	if s.Final() && err == nil {
		it.Err = r.finalError(s)
	}
	if s == Completed {
		r.loop.keepClosing(r)
	}
	r.result = it
	if s != Suspended || !r.loop.immediate {
		r.loop.gate.leave(r.trigger.Workspace)
	}
	r.loop.strays.remove(r)
	r.endSpan(it)
	r.loop.ended(r, it)
	return stop
}

// view copies what is visible of the iteration.
func (r *run) view(s Status, err error) *Iteration {
	it := &Iteration{
		ID: r.id, Workspace: r.trigger.Workspace, TraceID: r.trigger.TraceID, Status: s, Err: err, loop: r.loop,
		outputs: make([]machine.Payload, len(r.loop.phases)), inputs: make([]machine.Input, len(r.loop.phases)),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	copy(it.inputs, r.inputs)
	for i := range r.loop.phases {
		it.outputs[i], _ = r.m.Output(r.loop.phases[i].id)
	}
	return it
}

// finalError gives the error of an iteration that did not complete.
func (r *run) finalError(s Status) error {
	if s == Completed {
		return nil
	}
	r.mu.Lock()
	f := r.m.Failure()
	r.mu.Unlock()
	cause := ErrAborted
	if f != nil {
		cause = f
		if u := f.Unwrap(); u != nil {
			cause = u
		}
	}
	rec := r.failed
	if rec == nil {
		return &loopError{loop: r.loop.manifest.LoopID, status: ErrAborted, err: cause}
	}
	status := []error{ErrAborted}
	if r.loop.plan.OnFailure(rec.Phase) == manifest.FailEscalate {
		status = append(status, ErrEscalated)
	}
	if f != nil {
		switch f.Code {
		case machine.CodeExpired:
			status = append(status, ErrExpired)
		case machine.CodeInner:
			status = append(status, ErrInnerUnbound)
		}
	}
	return &PhaseError{
		Loop: r.loop.manifest.LoopID, Phase: rec.Phase, Iteration: r.id, TraceID: r.trigger.TraceID,
		Attempt: rec.Attempts, Signature: rec.Signature, Err: cause, status: status,
	}
}
