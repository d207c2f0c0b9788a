package pulse

import (
	"context"
	"fmt"

	"github.com/opensentience/pulse-go/machine"
)

// Iteration is what is known of one turn of a loop at the moment it was
// returned. It does not change; a suspended iteration that goes on later is
// returned anew.
type Iteration struct {
	ID        string
	Workspace string
	TraceID   string
	Status    Status
	Err       error // why it is aborted, failed, canceled or interrupted

	loop    *Loop
	stuck   <-chan struct{}   // of an iteration that still runs in a substrate: closed when it does no more
	inputs  []machine.Input   // by phase
	outputs []machine.Payload // by phase
}

// String gives the loop, the id and the status.
func (it *Iteration) String() string {
	if it == nil || it.loop == nil {
		return "no iteration"
	}
	return it.loop.manifest.LoopID + "/" + it.ID + " " + string(it.Status)
}

// Enter runs one iteration from this phase on, until it ends or suspends, and
// returns it. An iteration that suspends or completes gives no error; any other
// end gives the iteration and the error that the iteration holds. A trigger that
// starts no iteration gives a nil iteration.
//
// Enter blocks; many goroutines may call it, and wait for each other as
// [Limits] says. When ctx ends, the running phase's context ends with it and the
// iteration is interrupted: it can be resumed, and the attempt does not count. A
// trigger with the id of an iteration that runs waits for its end; with the id of
// one that ended before, within a day, Enter returns that one.
func (p PhaseID[In, Out]) Enter(ctx context.Context, l *Loop, t Trigger, in In) (*Iteration, error) {
	mt, err := l.trigger(string(p), t, in)
	if err != nil {
		return nil, err
	}
	return l.enter(ctx, mt)
}

// Input gives what the phase took in the iteration, in its newest run;
// [ErrNoOutput] if it did not run, or ran in another process before the iteration
// was resumed here.
func (p PhaseID[In, Out]) Input(it *Iteration) (In, error) {
	var zero In
	i, ok := it.phase(string(p))
	if !ok || i >= len(it.inputs) || it.inputs[i].Source == "" {
		return zero, fmt.Errorf("%w: it took no input: phase %s", ErrNoOutput, p)
	}
	v, err := it.loop.phases[i].take(it.inputs[i])
	if err != nil {
		return zero, err
	}
	return as[In](v)
}

// phase gives the index of a phase; false for a nil iteration.
func (it *Iteration) phase(id string) (int, bool) {
	if it == nil || it.loop == nil {
		return 0, false
	}
	i, ok := it.loop.index[id]
	return i, ok
}

// Output gives what the phase returned in the iteration; [ErrNoOutput] if it did
// not run, was skipped or failed. A nil iteration has no outputs.
func (p PhaseID[In, Out]) Output(it *Iteration) (Out, error) {
	var zero Out
	i, ok := it.phase(string(p))
	if !ok || i >= len(it.outputs) || it.outputs[i].IsZero() {
		return zero, fmt.Errorf("%w: phase %s", ErrNoOutput, p)
	}
	v, err := it.loop.phases[i].out(it.outputs[i])
	if err != nil {
		return zero, err
	}
	return as[Out](v)
}

// Previous gives the output of this phase, the loop's closing one, in the last
// iteration of the call's workspace that completed before this one started
// (OS-010 §4, C-047).
func (p PhaseID[In, Out]) Previous(c *Call) (Out, bool) {
	var zero Out
	l := c.run.loop
	if l.closing < 0 || l.phases[l.closing].id != string(p) || c.run.closed.IsZero() {
		return zero, false
	}
	v, err := l.phases[l.closing].out(c.run.closed)
	if err != nil {
		return zero, false
	}
	out, err := as[Out](v)
	return out, err == nil
}

// Trigger gives the storable form of a trigger for this phase, for queues and
// for hosts that perform an iteration's commands themselves.
func (p PhaseID[In, Out]) Trigger(t Trigger, in In) (machine.Trigger, error) {
	return machine.Trigger{
		Outcome: outcomeIn(in),
		ID:      t.ID, Workspace: t.Workspace, Actor: t.Actor, TraceID: t.TraceID, Origin: t.Origin, Only: t.Only,
		Phase: string(p), Payload: machine.Of(in),
	}, nil
}
