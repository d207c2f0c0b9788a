package pulse

import (
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/signature"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// newTrace gives the trace id of an iteration whose trigger names none: that of
// the context's span, else a new one (C-079).
func (l *Loop) newTrace(ctx context.Context) string {
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		return sc.TraceID().String()
	}
	return newID()
}

// spanTrace maps a trace id to the 128 bits of a tracing system: hexadecimal and
// UUID by value, anything else by hash (C-079).
func spanTrace(id string) (t trace.TraceID) {
	plain := id
	if len(id) == 36 {
		plain = strings.ReplaceAll(id, "-", "")
	}
	if n, err := hex.Decode(t[:], []byte(plain[:min(len(plain), 32)])); err == nil && n == len(t) && len(plain) == 32 {
		return t
	}
	_, digest, _ := strings.Cut(string(signature.BLAKE3([]byte(id))), ":")
	if n, err := hex.Decode(t[:], []byte(digest[:2*len(t)])); err != nil || n != len(t) {
		return trace.TraceID{}
	}
	return t
}

// startIteration starts the iteration's span, in the trace of the trigger.
func (r *run) startIteration() {
	l := r.loop
	if l.cfg.Tracer == nil {
		return
	}
	ctx := r.ctx
	id := spanTrace(r.trigger.TraceID)
	if trace.SpanContextFromContext(ctx).TraceID() != id {
		var parent trace.SpanID
		copy(parent[:], id[8:])
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: id, SpanID: parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	r.ctx, r.span = l.cfg.Tracer.Start(ctx, "pulse.iteration", trace.WithAttributes(
		attribute.String("pulse.loop", l.manifest.LoopID), attribute.String("pulse.iteration", r.id),
		attribute.String("pulse.workspace", r.trigger.Workspace), attribute.String("pulse.trace_id", r.trigger.TraceID),
	))
	r.base.SpanID = spanID(r.span)
}

func spanID(s trace.Span) string {
	if sc := s.SpanContext(); sc.HasSpanID() {
		return sc.SpanID().String()
	}
	return ""
}

func (r *run) endSpan(it *Iteration) {
	if r.span == nil {
		return
	}
	r.span.SetAttributes(attribute.String("pulse.status", string(it.Status)))
	if it.Err != nil {
		r.span.SetStatus(codes.Error, string(it.Status))
	}
	r.span.End()
}

// startSpan starts the span of an attempt. Errors are not recorded on spans: a
// denial's reason or a payload in an error text is not for everybody.
func (r *run) startSpan(ctx context.Context, c *Call) context.Context {
	c.spanID = r.base.SpanID
	if r.loop.cfg.Tracer == nil {
		return ctx
	}
	ctx, c.span = r.loop.cfg.Tracer.Start(ctx, "pulse.phase", trace.WithAttributes(
		attribute.String("pulse.phase", c.phase.id), attribute.Int("pulse.run", c.cmd.Run), attribute.Int("pulse.attempt", c.cmd.Attempt),
	))
	c.spanID = spanID(c.span)
	return ctx
}

func (r *run) endAttempt(c *Call, res *machine.Result) {
	e := Event{Kind: EventAttempt, Phase: c.phase.id, Attempt: c.cmd.Attempt}
	if res.Failure != nil {
		e.Err = res.Failure
	}
	r.observe(e)
	if c.span == nil {
		return
	}
	if res.Failure != nil {
		c.span.SetStatus(codes.Error, string(res.Failure.Code))
	}
	c.span.End()
}

// meter computes the metrics that the manifest declares (C-037).
type meter struct {
	recorder  Recorder
	namespace string
	declared  map[string]bool

	mu                       sync.Mutex
	acts, grounded, iterated int
}

func (m *meter) init(l *Loop) {
	t := l.manifest.Telemetry
	m.recorder, m.namespace, m.declared = l.cfg.Recorder, t.Namespace, map[string]bool{}
	for _, name := range slices.Concat(t.PhaseMetrics, t.LoopMetrics) {
		m.declared[name] = true
	}
}

func (m *meter) wants(name string) bool { return m.recorder != nil && m.declared[name] }

func (m *meter) record(r *run, name string, v float64, attrs ...slog.Attr) {
	if !m.wants(name) {
		return
	}
	full := name
	if m.namespace != "" {
		full = m.namespace + "." + name
	}
	attrs = append(attrs, slog.String("loop", r.base.Loop), slog.String("workspace", r.trigger.Workspace))
	err := guard(func() error { m.recorder.Record(r.ctx, full, v, attrs...); return nil })
	if err != nil {
		r.loop.log(r.ctx, "a recorder", err)
	}
}

// phase records the metrics of a phase that ended.
func (m *meter) phase(r *run, c *Call, rec *machine.Record) {
	m.closure(c, rec)
	if m.recorder == nil {
		return
	}
	phase := slog.String("phase", rec.Phase)
	m.record(r, "status", 1, phase, slog.String("status", string(rec.Ended)))
	if c == nil || c.phase.id != rec.Phase {
		return
	}
	m.record(r, "duration_ms", float64(time.Since(c.begun))/float64(time.Millisecond), phase)
	if m.wants("input_size") {
		if in, err := c.phase.take(c.cmd.Input); err == nil {
			m.size(r, "input_size", in, phase)
		}
	}
	if m.wants("output_size") && rec.Ended == machine.EndedCompleted {
		if out, err := c.phase.out(rec.Output); err == nil {
			m.size(r, "output_size", out, phase)
		}
	}
	if m.wants("kappa_distribution") && rec.Ended == machine.EndedCompleted {
		for _, t := range c.topos[min(len(r.topos), len(c.topos)):] {
			m.record(r, "kappa_distribution", t.MaxKappa, phase)
		}
	}
}

func (m *meter) size(r *run, name string, v any, phase slog.Attr) {
	if b, err := signature.Canonical(v); err == nil {
		m.record(r, name, float64(len(b)), phase)
	}
}

// closure counts acts completed, and those whose learn phase named some of their
// causal parents (C-104).
func (m *meter) closure(c *Call, rec *machine.Record) {
	if !m.wants("closure_rate") || rec.Ended != machine.EndedCompleted || c == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if rec.Act != nil {
		m.acts++
	}
	if o := c.cmd.Input.Outcome; o != nil && c.phase.learns && len(o.CausalParentIDs) > 0 {
		m.grounded++
	}
}

// iteration records the metrics of an iteration that ended.
func (m *meter) iteration(r *run, it *Iteration) {
	if m.recorder == nil || !it.Status.Final() {
		return
	}
	m.mu.Lock()
	m.iterated++
	n, acts, grounded := m.iterated, m.acts, m.grounded
	m.mu.Unlock()
	m.record(r, "iteration_count", float64(n), slog.String("status", string(it.Status)))
	if acts > 0 {
		m.record(r, "closure_rate", float64(grounded)/float64(acts))
	}
}
