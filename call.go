package pulse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"go.opentelemetry.io/otel/trace"
)

// Call is one attempt of a phase, seen from inside it. It is valid until the
// attempt is over and may be used by several goroutines of the phase.
type Call struct {
	run   *run
	phase *phase
	cmd   machine.Command
	begun time.Time

	// What the run knew when the attempt began. The run may go on without an
	// abandoned attempt, which therefore reads nothing else of it.
	earlier   []*Call // attempts that left calls under way
	retrieved []string
	topos     []*token.TopologyContext
	delibs    []*token.DeliberationResult
	seq       uint64

	ctx    callContext
	cancel context.CancelFunc // nil without a timeout
	span   trace.Span         // nil without a tracer
	spanID string

	state atomic.Int32 // attemptActive, attemptReturned or attemptAbandoned

	mu        sync.Mutex // guards what follows, which handles and the watching goroutine use
	sig       signature.Digest
	intended  bool // the journal knows the intent
	acting    bool // the function of an act was called
	over      bool
	ordinal   int
	emitted   int
	inflight  [slots]int
	idle      chan struct{} // closed when over with nothing under way; nil before it is waited for
	calls     []invariant.Call
	emissions []emission
	nodes     []string                 // retrieved by this attempt
	seen      []*token.TopologyContext // that came back through its handles
	txs       []transaction
	broken    error // why the attempt can no longer succeed
	callsBuf  [2]invariant.Call
	view      invariant.Phase
}

const (
	attemptActive int32 = iota
	attemptReturned
	attemptAbandoned
)

type callKey struct{}

// callContext is the context of a phase function: the attempt's context and the
// call itself.
type callContext struct {
	context.Context
	call *Call
}

func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c.call
	}
	return c.Context.Value(key)
}

// CallFrom gives the call that a phase's context belongs to, [ErrNoCall] outside
// a phase.
func CallFrom(ctx context.Context) (*Call, error) {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c, nil
	}
	return nil, ErrNoCall
}

// Loop gives the loop's id.
func (c *Call) Loop() string { return c.run.loop.manifest.LoopID }

// Phase gives the phase's id.
func (c *Call) Phase() string { return c.phase.id }

// Workspace gives the tenant; empty in a loop of global scope.
func (c *Call) Workspace() string { return c.run.trigger.Workspace }

// Actor gives the identity on whose behalf the iteration runs.
func (c *Call) Actor() string { return c.run.trigger.Actor }

// TraceID gives the trace of the iteration (OS-010 §5.5).
func (c *Call) TraceID() string { return c.run.trigger.TraceID }

// Origin says what started the iteration.
func (c *Call) Origin() substrate.Origin { return c.run.trigger.Origin }

// Run gives which run of the phase in this iteration it is, from 1.
func (c *Call) Run() int { return c.cmd.Run }

// Attempt gives which attempt of the run it is, from 1.
func (c *Call) Attempt() int { return c.cmd.Attempt }

// Signature gives the signature of the phase's input (OS-010 §5.6).
func (c *Call) Signature() signature.Digest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sig
}

// ActionID gives the id of the action that this run of the phase performs. It is
// known before the action and equal on every attempt of the run, so it serves as
// an idempotency key outside; [Loop.Deliver] takes it back in an OutcomeSignal.
func (c *Call) ActionID() string { return c.run.actionID(c.phase.id, c.cmd.Run) }

// Iteration gives the iteration so far: earlier phases' outputs are read from it
// with [PhaseID.Output].
func (c *Call) Iteration() *Iteration { return c.run.view(Running, nil) }

// Emit emits a token when the phase has ended well; a failed attempt emits
// nothing (OS-010 §5.1). The token is checked now: an error names what is wrong
// with it. Connections whose emit_condition is false do not carry it (C-073).
func (c *Call) Emit(ctx context.Context, t token.Token) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	e, err := c.run.loop.emission(c.phase, t)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver() {
		return c.overError("emit " + string(e.name))
	}
	c.emitted++
	e.ordinal = c.emitted
	c.emissions = append(c.emissions, e)
	return nil
}

// isOver reports whether handles are closed; c.mu is held.
func (c *Call) isOver() bool { return c.over || c.ctx.Err() != nil }

func (c *Call) overError(what string) error {
	return fmt.Errorf("%w: %s: loop %s: phase %s: attempt %d", ErrAttemptOver, what, c.Loop(), c.phase.id, c.cmd.Attempt)
}

// close ends the attempt for its handles. It gives the slots on which a call is
// still under way.
func (c *Call) close() {
	c.mu.Lock()
	c.over = true
	if c.idle == nil && c.busy() {
		c.idle = make(chan struct{})
	}
	c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *Call) busy() bool {
	for _, n := range c.inflight {
		if n > 0 {
			return true
		}
	}
	return false
}

// busySlots lists the slots with a call under way.
func (c *Call) busySlots() []substrate.Slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s []substrate.Slot
	for i, n := range c.inflight {
		if n > 0 {
			s = append(s, slotNames[i])
		}
	}
	return s
}

// quiet waits until no call of an attempt that is over is under way on a slot.
func (c *Call) quiet(ctx context.Context, slot int) error {
	c.mu.Lock()
	idle, busy := c.idle, c.inflight[slot] > 0
	c.mu.Unlock()
	if !busy || idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("a call of an earlier attempt on %s has not returned: %w", slotNames[slot], context.Cause(ctx))
	}
}

// origination fills what every substrate request carries.
func (c *Call) origination(ordinal int, sig signature.Digest) substrate.Origination {
	o := c.run.base
	o.SpanID = c.spanID
	o.Phase = c.phase.id
	o.Run = c.cmd.Run
	o.Attempt = c.cmd.Attempt
	o.Ordinal = ordinal
	o.Signature = sig
	return o
}

// actionID is a function of the loop, the workspace, the iteration, the phase and
// the run alone.
func (r *run) actionID(phase string, n int) string {
	return "act:" + r.name + "/" + phase + "/" + strconv.Itoa(n)
}

// emission is a token on its way out of a phase.
type emission struct {
	name        token.Name
	token       token.Token
	connections []string // ids of the connections that carry it
	filtered    int      // connections whose condition was false
	ordinal     int
}

// emission checks a token and finds the connections that carry it.
func (l *Loop) emission(p *phase, t token.Token) (emission, error) {
	if isNil(t) {
		return emission{}, errors.New("pulse: emit: the token is nil")
	}
	name := t.TokenName()
	if _, err := token.ParseName(string(name)); err != nil {
		return emission{}, fmt.Errorf("pulse: loop %s: phase %s: emit: %w", l.manifest.LoopID, p.id, err)
	}
	if err := t.Validate(); err != nil {
		return emission{}, fmt.Errorf("pulse: loop %s: phase %s: emit: %w", l.manifest.LoopID, p.id, err)
	}
	e := emission{name: name, token: t}
	for i := range p.connections {
		cn := &p.connections[i]
		if cn.token != name {
			continue
		}
		ok, err := cn.holds(l, t)
		if err != nil {
			return emission{}, fmt.Errorf("pulse: loop %s: connection %s: emit_condition: %w", l.manifest.LoopID, cn.id, err)
		}
		if ok {
			e.connections = append(e.connections, cn.id)
		} else {
			e.filtered++
		}
	}
	return e, nil
}
