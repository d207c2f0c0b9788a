package token

import (
	"errors"
	"fmt"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/opensentience/pulse-go/signature"
)

// Envelope is what an event says besides the token (OS-010 §10.1, C-065). Loop,
// Phase, TraceID, ID and Time are required; the rest becomes extension
// attributes where it is set.
type Envelope struct {
	Loop, Phase string
	TraceID     string
	ID          string
	Time        time.Time

	Workspace   string           // pulseworkspace
	Iteration   string           // pulseiteration
	Signature   signature.Digest // pulsesignature
	Connection  string           // pulseconnection
	Ordinal     int              // pulseordinal, from 1
	TraceParent string           // traceparent (W3C)
	TraceState  string           // tracestate
}

// The names of the extension attributes (C-065).
const (
	ExtSignature   = "pulsesignature"
	ExtWorkspace   = "pulseworkspace"
	ExtIteration   = "pulseiteration"
	ExtConnection  = "pulseconnection"
	ExtOrdinal     = "pulseordinal"
	ExtTraceParent = "traceparent"
	ExtTraceState  = "tracestate"
)

// Encode checks a token and gives the event that carries it: type, source
// loop:<loop>/phase:<phase>, subject trace_id:<trace>, and the payload as
// canonical JSON. The header of a canonical token is filled from its type and
// the envelope.
func Encode[T Token](t T, env Envelope) (event.Event, error) {
	name := t.TokenName()
	if _, err := ParseName(string(name)); err != nil {
		return event.Event{}, err
	}
	if err := errors.Join(t.Validate(), env.check(name)); err != nil {
		return event.Event{}, err
	}
	data, err := signature.Canonical(filled(t, env.TraceID))
	if err != nil {
		return event.Event{}, fmt.Errorf("token: %s: %w", name, err)
	}
	e := event.New(event.CloudEventsVersionV1)
	e.SetType(name.EventType())
	e.SetSource(Source(env.Loop, env.Phase))
	e.SetSubject("trace_id:" + env.TraceID)
	e.SetID(env.ID)
	e.SetTime(env.Time.UTC())
	env.extend(&e)
	if err := e.SetData(event.ApplicationJSON, data); err != nil {
		return event.Event{}, fmt.Errorf("token: %s: %w", name, err)
	}
	if err := e.Validate(); err != nil {
		return event.Event{}, fmt.Errorf("token: %s: %w", name, err)
	}
	return e, nil
}

// Source gives the CloudEvents source of a phase (OS-010 §10.1).
func Source(loop, phase string) string { return "loop:" + loop + "/phase:" + phase }

func (env Envelope) check(name Name) error {
	c := &check{name: name}
	c.required(" envelope: loop", env.Loop)
	c.required(" envelope: phase", env.Phase)
	c.required(" envelope: trace id", env.TraceID)
	c.required(" envelope: id", env.ID)
	if env.Time.IsZero() {
		c.add(" envelope: time", "it is required")
	}
	return c.err()
}

func (env Envelope) extend(e *event.Event) {
	for _, x := range [...]struct{ name, value string }{
		{ExtSignature, string(env.Signature)}, {ExtWorkspace, env.Workspace}, {ExtIteration, env.Iteration},
		{ExtConnection, env.Connection}, {ExtTraceParent, env.TraceParent}, {ExtTraceState, env.TraceState},
	} {
		if x.value != "" {
			e.SetExtension(x.name, x.value)
		}
	}
	if env.Ordinal > 0 {
		e.SetExtension(ExtOrdinal, env.Ordinal)
	}
}

// headed is a canonical token whose header can be filled.
type headed interface {
	withHeader(trace string) any
}

// filled gives the token with its header complete; a vendor's type as it is.
func filled(t Token, trace string) any {
	if h, ok := t.(headed); ok {
		return h.withHeader(trace)
	}
	return t
}

func (h Header) fill(n Name, trace string) Header {
	h.Token, h.Version = n, Version
	if h.TraceID == "" {
		h.TraceID = trace
	}
	return h
}

func (t TopologyContext) withHeader(trace string) any {
	t.Header = t.fill(TopologyContextName, trace)
	return t
}

func (t DeliberationResult) withHeader(trace string) any {
	t.Header = t.fill(DeliberationResultName, trace)
	return t
}

func (t OutcomeSignal) withHeader(trace string) any {
	t.Header = t.fill(OutcomeSignalName, trace)
	return t
}

func (t ReputationUpdate) withHeader(trace string) any {
	t.Header = t.fill(ReputationUpdateName, trace)
	return t
}

func (t ConsolidationEvent) withHeader(trace string) any {
	t.Header = t.fill(ConsolidationEventName, trace)
	return t
}

func (t SurpriseSignal) withHeader(trace string) any {
	t.Header = t.fill(SurpriseSignalName, trace)
	return t
}

func (t DeliberationRequest) withHeader(trace string) any {
	t.Header = t.fill(DeliberationRequestName, trace)
	t.Topology.Header = t.Topology.fill(TopologyContextName, trace)
	return t
}

func (t SessionFidelityViolation) withHeader(trace string) any {
	t.Header = t.fill(SessionFidelityViolationName, trace)
	return t
}
