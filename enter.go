package pulse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"reflect"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// trigger checks a typed entry and gives its storable form.
func (l *Loop) trigger(id string, t Trigger, in any) (machine.Trigger, error) {
	i, ok := l.index[id]
	if !ok {
		return machine.Trigger{}, fmt.Errorf("pulse: loop %s has no phase %q", l.manifest.LoopID, id)
	}
	p := &l.phases[i]
	if in != nil && !reflect.TypeOf(in).AssignableTo(p.in) {
		return machine.Trigger{}, fmt.Errorf("pulse: loop %s: phase %s: enter: %w", l.manifest.LoopID, id, &TypeError{Want: p.in, Got: reflect.TypeOf(in)})
	}
	mt := machine.Trigger{
		ID: t.ID, Actor: t.Actor, TraceID: t.TraceID, Origin: t.Origin, Only: t.Only,
		Phase: id, Payload: machine.Of(in), Fits: p.fits,
	}
	if p.learns {
		var err error
		if mt.Outcome, err = given(in); err != nil {
			return machine.Trigger{}, fmt.Errorf("pulse: loop %s: phase %s: enter: %w", l.manifest.LoopID, id, err)
		}
	}
	var err error
	if mt.Workspace, err = l.workspace(t.Workspace); err != nil {
		return mt, err
	}
	if mt.Actor == "" {
		mt.Actor = l.cfg.Actor
	}
	if mt.Actor == "" {
		return mt, fmt.Errorf("pulse: loop %s: the trigger names no actor: set Trigger.Actor or Config.Actor (C-100)", l.manifest.LoopID)
	}
	if mt.Origin.Kind == "" {
		mt.Origin.Kind = substrate.OriginManual
	}
	if err := mt.Origin.Validate(); err != nil {
		return mt, fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, err)
	}
	return mt, nil
}

// given is the outcome with which an iteration enters at a learn phase, checked as
// a delivered one would be.
func given(in any) (*token.OutcomeSignal, error) {
	s := outcomeIn(in)
	if s == nil {
		return nil, nil
	}
	if s.Timestamp.IsZero() {
		s.Timestamp = time.Now().UTC()
	}
	return s, s.Validate()
}

// outcomeIn finds the outcome in the input of a learn phase that the iteration
// enters at.
func outcomeIn(in any) *token.OutcomeSignal {
	switch v := in.(type) {
	case token.OutcomeSignal:
		return &v
	case feedback:
		s := v.signal()
		if s.ActionID == "" {
			return nil
		}
		return &s
	default:
		return nil
	}
}

// workspace applies the loop's workspace_scope (C-031).
func (l *Loop) workspace(w string) (string, error) {
	switch l.manifest.WorkspaceScope {
	case manifest.ScopeGlobal:
		return "", nil
	case manifest.ScopeOptional:
		return w, nil
	default:
		if w == "" {
			return "", fmt.Errorf("pulse: loop %s: the trigger names no workspace, and workspace_scope is required", l.manifest.LoopID)
		}
		return w, nil
	}
}

// enter runs an iteration; a second trigger of the same id joins the first.
func (l *Loop) enter(ctx context.Context, t machine.Trigger) (*Iteration, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, context.Cause(ctx))
	}
	if t.ID == "" {
		return l.start(ctx, newID(), t)
	}
	f, first := l.flights.join(t.Workspace, t.ID, time.Now())
	if !first {
		select {
		case <-f.done:
			return f.it, f.err
		default:
		}
		if l.holds(ctx, t.Workspace) {
			return nil, fmt.Errorf("pulse: loop %s: iteration %s: %w", l.manifest.LoopID, t.ID, errSelf)
		}
		select {
		case <-f.done:
			return f.it, f.err
		case <-ctx.Done():
			return nil, fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, context.Cause(ctx))
		}
	}
	landed := false
	defer func() {
		if !landed { // host code left this goroutine
			l.flights.land(t.Workspace, t.ID, f, nil, fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, &PanicError{}))
		}
	}()
	it, err := l.restart(ctx, t)
	landed = true
	if it != nil && it.stuck != nil { // the id is taken until its runner is done
		go func() {
			<-it.stuck
			l.flights.land(t.Workspace, t.ID, f, it, err)
		}()
		return it, err
	}
	l.flights.land(t.Workspace, t.ID, f, it, err)
	return it, err
}

// restart runs the iteration that a trigger names: the one that the journal
// knows by that id, from where it stands, or else a new one.
func (l *Loop) restart(ctx context.Context, t machine.Trigger) (*Iteration, error) {
	var e journal.Entry
	err := guard(func() (err error) { e, err = l.journal.Load(ctx, t.Workspace, t.ID); return err })
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return l.start(ctx, t.ID, t)
	case err != nil:
		return nil, fmt.Errorf("pulse: loop %s: iteration %s: journal: %w", l.manifest.LoopID, t.ID, err)
	case e.Status == Suspended || e.Status.Final():
		return l.known(e)
	default:
		return l.Resume(ctx, e)
	}
}

// known gives an iteration as the journal has it.
func (l *Loop) known(e journal.Entry) (*Iteration, error) {
	m, err := l.restore(e)
	if err != nil {
		return nil, err
	}
	r := &run{loop: l, id: e.Iteration, trigger: e.Snapshot.Trigger, m: m, failed: e.Record}
	it := r.view(e.Status, nil)
	if e.Status.Final() {
		it.Err = r.finalError(e.Status)
	}
	return it, it.Err
}

// admit waits for a place of a workspace. A phase that enters a loop which waits
// for that very phase would wait for itself: that is an error.
func (l *Loop) admit(ctx context.Context, workspace string) error {
	err := l.gate.enter(ctx, workspace, l.holds(ctx, workspace))
	if err != nil {
		return fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, err)
	}
	return nil
}

// holds reports whether the context is that of a phase, or of a phase entered
// from one, of an iteration of this loop and workspace.
func (l *Loop) holds(ctx context.Context, workspace string) bool {
	for {
		c, err := CallFrom(ctx)
		if err != nil {
			return false
		}
		if c.run.loop == l && c.run.trigger.Workspace == workspace {
			return true
		}
		ctx = c.run.ctx
	}
}

func (l *Loop) start(ctx context.Context, id string, t machine.Trigger) (*Iteration, error) {
	l.expire(ctx, t.Workspace)
	if err := l.admit(ctx, t.Workspace); err != nil {
		return nil, err
	}
	driven := false
	defer func() {
		if !driven {
			l.gate.leave(t.Workspace)
		}
	}()
	if t.TraceID == "" {
		t.TraceID = l.newTrace(ctx)
	}
	m, err := machine.New(l.plan, id, t)
	if err != nil {
		return nil, fmt.Errorf("pulse: loop %s: %w", l.manifest.LoopID, err)
	}
	r, err := l.newRun(ctx, id, t, m)
	if err != nil {
		return nil, err
	}
	driven = true // the run gives the place back
	return r.drive(machine.Command{}, nil)
}

// newRun prepares an iteration, new or restored, to be driven.
func (l *Loop) newRun(ctx context.Context, id string, t machine.Trigger, m *machine.Machine) (*run, error) {
	set, err := l.resolve(ctx, t.Workspace)
	if err != nil {
		return nil, err
	}
	r := &run{loop: l, id: id, name: l.manifest.LoopID + "/" + url.PathEscape(t.Workspace) + "/" + url.PathEscape(id), trigger: t, m: m, set: set, ctx: ctx, done: make(chan struct{})}
	h := fnv.New64a()
	h.Write([]byte(r.name)) // never fails
	r.seed = h.Sum64()
	r.base = substrate.Origination{
		Workspace: t.Workspace, Actor: t.Actor, TraceID: t.TraceID, Loop: l.manifest.LoopID, LoopVersion: l.manifest.Version,
		Iteration: id, Origin: t.Origin,
	}
	if err := guard(func() error { r.startIteration(); return nil }); err != nil {
		return nil, fmt.Errorf("pulse: loop %s: tracer: %w", l.manifest.LoopID, err)
	}
	if l.timed {
		r.deadline = time.NewTimer(time.Hour)
		r.deadline.Stop()
	}
	r.closed = l.previous.of(t.Workspace)
	p := &l.phases[l.index[t.Phase]]
	in, err := p.take(machine.Input{Source: machine.FromTrigger, Payload: t.Payload})
	if err == nil {
		r.entrySig, err = r.sign(p, in)
		r.signed = err == nil
	}
	if err != nil {
		// An input that cannot be signed fails its phase; what is recorded until then
		// stands under the signature of no input.
		if r.entrySig, err = signature.Of(t.Workspace, nil); err != nil {
			return nil, fmt.Errorf("pulse: loop %s: workspace: %w", l.manifest.LoopID, err)
		}
	}
	return r, nil
}

// resolve gives the substrates of a workspace.
func (l *Loop) resolve(ctx context.Context, workspace string) (*substrate.Set, error) {
	if l.set != nil {
		return l.set, nil
	}
	if s, ok := l.sets.Load(workspace); ok {
		return s.(*substrate.Set), nil //nolint:forcetypeassert // only resolve stores into sets
	}
	var set substrate.Set
	err := guard(func() (err error) {
		set, err = l.cfg.Substrates.Resolve(ctx, workspace, l.manifest.Substrates.Expand(workspace))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pulse: loop %s: workspace %q: substrates: %w", l.manifest.LoopID, workspace, err)
	}
	if faults := l.checkSet(set); len(faults) > 0 {
		return nil, &BuildError{Loop: l.manifest.LoopID, Faults: faults}
	}
	s, _ := l.sets.LoadOrStore(workspace, &set)
	return s.(*substrate.Set), nil //nolint:forcetypeassert // only resolve stores into sets
}

// newID gives a new 128-bit id in hexadecimal.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	var h [32]byte
	hex.Encode(h[:], b[:])
	return string(h[:])
}

// keepClosing keeps the closing output for the next iteration (C-047).
func (l *Loop) keepClosing(r *run) {
	if l.closing < 0 {
		return
	}
	if out, ok := r.m.Output(l.phases[l.closing].id); ok {
		l.previous.keep(r.trigger.Workspace, out)
	}
}

// closings keeps the closing output of each workspace's last completed
// iteration.
type closings struct {
	mu sync.Mutex
	by map[string]machine.Payload
}

func (c *closings) of(workspace string) machine.Payload {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[workspace]
}

func (c *closings) keep(workspace string, out machine.Payload) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[workspace] = out
}

// ended lets go of an iteration and reports it.
func (l *Loop) ended(r *run, it *Iteration) {
	l.metrics.iteration(r, it)
	r.observe(Event{Kind: EventEnd, Status: it.Status, Err: it.Err})
}

// flights joins triggers that name the same iteration.
type flights struct {
	mu   sync.Mutex
	by   map[flightKey]*flight
	done []landed // oldest first
}

type flightKey struct{ workspace, id string }

type flight struct {
	done chan struct{}
	it   *Iteration
	err  error
}

type landed struct {
	key flightKey
	at  time.Time
}

const landedMax = 10_000 // ended iterations that are remembered by their id

func (f *flights) join(workspace, id string, now time.Time) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.done) > 0 && (len(f.done) > landedMax || now.Sub(f.done[0].at) > rememberFor) {
		delete(f.by, f.done[0].key)
		f.done = f.done[1:]
	}
	k := flightKey{workspace, id}
	if fl, ok := f.by[k]; ok {
		return fl, false
	}
	fl := &flight{done: make(chan struct{})}
	f.by[k] = fl
	return fl, true
}

// update replaces what is remembered of an iteration that went on since.
func (f *flights) update(it *Iteration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := flightKey{it.Workspace, it.ID}
	fl, ok := f.by[k]
	if !ok {
		return
	}
	select {
	case <-fl.done:
	default:
		return // it is being driven by its trigger
	}
	if it.Status == Interrupted {
		delete(f.by, k)
		return
	}
	f.by[k] = &flight{done: fl.done, it: it, err: err}
}

// land publishes how an iteration ended. One that did not start, or was
// interrupted, is not remembered: the same id may try again.
func (f *flights) land(workspace, id string, fl *flight, it *Iteration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl.it, fl.err = it, err
	k := flightKey{workspace, id}
	if it == nil || it.Status == Interrupted {
		delete(f.by, k)
	} else {
		f.done = append(f.done, landed{k, time.Now()})
	}
	close(fl.done)
}

// loopError is the error of an iteration that ended outside a phase.
type loopError struct {
	loop        string
	status, err error
}

func (e *loopError) Error() string {
	return fmt.Sprintf("pulse: loop %s: %s", e.loop, strip(errors.Join(e.err)))
}

func (e *loopError) Unwrap() []error { return []error{e.status, e.err} }
