package pulse

import (
	"context"
	"strconv"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
)

// event begins an audit event of the iteration (C-088).
func (r *run) event(class substrate.EventClass, typ string, p *phase, attempt int, sig signature.Digest) substrate.AuditEvent {
	if sig == "" {
		sig = r.entrySig
	}
	return substrate.AuditEvent{
		Class: class, EventType: typ, Name: p.decl.AuditEvent,
		WorkspaceID: r.trigger.Workspace, LoopID: r.base.Loop, LoopVersion: r.base.LoopVersion, IterationID: r.id,
		PhaseID: p.id, Attempt: attempt, TraceID: r.trigger.TraceID, SpanID: r.base.SpanID,
		Timestamp: time.Now(), Signature: sig, Origin: r.trigger.Origin,
	}
}

// eventID is a function of the iteration, the phase, the run, the attempt, the
// ordinal and the kind of event, so that a second append of an event is known
// for what it is.
func (r *run) eventID(typ, phase string, n, attempt, ordinal int) string {
	var buf [256]byte
	b := append(buf[:0], r.name...)
	b = append(b, '/')
	b = append(b, phase...)
	for _, v := range [...]int{n, attempt, ordinal} {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(v), 10)
	}
	b = append(b, '/')
	b = append(b, typ...)
	return string(b)
}

// append appends an event until it is stored (OS-010 §7.3, C-090): nothing goes
// on without it.
func (r *run) append(ev *substrate.AuditEvent, c *Call) error {
	ctx, cancel := r.writing()
	err := r.appendOnce(ctx, ev, c)
	cancel()
	if err == nil {
		return nil
	}
	return r.persist(func(ctx context.Context) error { return r.appendOnce(ctx, ev, c) })
}

// appendOnce appends an event, and checks what the substrate answers where the
// loop wants that (OS-010 §7.7).
func (r *run) appendOnce(ctx context.Context, ev *substrate.AuditEvent, c *Call) (err error) {
	defer recovered(&err)
	o := r.base
	if c != nil {
		o = c.origination(0, ev.Signature)
	}
	o.Engine = true
	rc, err := r.set.Audit.AppendEvent(ctx, substrate.AppendEventRequest{Origination: o, Event: *ev})
	if err != nil {
		return err
	}
	if r.loop.echoes {
		if err := substrate.CheckEcho(substrate.OpAppendEvent, o, rc); err != nil {
			return &invariant.Violation{Invariant: string(manifest.TraceIDPropagation), Err: err}
		}
	}
	return nil
}

// auditMutation records a mutation before its handle call returns.
func (c *Call) auditMutation(o *opened, rc *substrate.Receipt, late bool) error {
	r := c.run
	ev := r.event(substrate.ClassMutation, string(o.op), c.phase, c.cmd.Attempt, o.orig.Signature)
	ev.EventID = r.eventID(ev.EventType, c.phase.id, c.cmd.Run, c.cmd.Attempt, o.orig.Ordinal)
	ev.SpanID = c.spanID
	if rc != nil && rc.ID != "" {
		ev.Attributes = substrate.Attributes{{Name: "id", Value: rc.ID}}
	}
	ctx := o.ctx
	if late {
		// The call landed after its attempt was over: it is recorded as late, under
		// a context of its own.
		ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "late", Value: "true"})
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), r.loop.limits.Straggle)
		defer cancel()
	}
	err := r.appendOnce(ctx, &ev, c)
	if err != nil && !late && ctx.Err() != nil {
		// The caller's context ended with the mutation done: it is recorded all the
		// same, and the attempt is over anyway.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), r.loop.limits.Straggle)
		defer cancel()
		err = r.appendOnce(ctx, &ev, c)
	}
	return err
}

// own gives a foreign event the identity of the call that appends it.
func (c *Call) own(ev *substrate.AuditEvent) {
	ev.WorkspaceID, ev.LoopID, ev.LoopVersion = c.run.trigger.Workspace, c.run.base.Loop, c.run.base.LoopVersion
	ev.IterationID, ev.PhaseID, ev.TraceID = c.run.id, c.phase.id, c.run.trigger.TraceID
	ev.Attempt, ev.SpanID = c.cmd.Attempt, c.spanID
	ev.Origin = c.run.trigger.Origin
	if ev.Signature == "" {
		ev.Signature = c.Signature()
	}
	if ev.Timestamp.IsZero() {
		ev.Timestamp = time.Now()
	}
}
