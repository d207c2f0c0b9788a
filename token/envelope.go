package token

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/opensentience/pulse-go/signature"
)

// Envelope is what an event says besides the token (OS-010 §10.1, C-065). Loop,
// Phase, TraceID, ID and Time are required; the rest becomes extension
// attributes where it is set.
type Envelope struct {
	Loop, Phase string // without a slash, which parts them in the source
	TraceID     string
	ID          string
	Time        time.Time // written in UTC

	Workspace   string           // pulseworkspace
	Iteration   string           // pulseiteration
	Signature   signature.Digest // pulsesignature
	Connection  string           // pulseconnection
	Ordinal     int              // pulseordinal, from 1; 0: none
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

// EnvelopeError is a fault in an [Envelope].
type EnvelopeError struct {
	Token   Name
	Field   string // of Envelope: Loop
	Problem string // what is wrong and how to mend it
}

// Error names the token and the field.
func (e *EnvelopeError) Error() string {
	return fmt.Sprintf("token: %s: envelope: %s: %s", e.Token, e.Field, e.Problem)
}

// Source gives the CloudEvents source of a phase (OS-010 §10.1).
func Source(loop, phase string) string { return "loop:" + loop + "/phase:" + phase }

// check gives every fault of the envelope.
func (env Envelope) check(name Name) error {
	var faults []error
	add := func(field, format string, args ...any) {
		faults = append(faults, &EnvelopeError{Token: name, Field: field, Problem: fmt.Sprintf(format, args...)})
	}
	for _, f := range [...]struct{ field, value string }{
		{"Loop", env.Loop}, {"Phase", env.Phase}, {"TraceID", env.TraceID}, {"ID", env.ID},
	} {
		if f.value == "" {
			add(f.field, "it is required")
		}
	}
	for _, f := range [...]struct{ field, value string }{{"Loop", env.Loop}, {"Phase", env.Phase}} {
		if strings.ContainsAny(f.value, "/ \t\r\n") {
			add(f.field, "%q has a slash or white space, which the id of a loop or phase has not", f.value)
		}
	}
	switch year := env.Time.UTC().Year(); {
	case env.Time.IsZero():
		add("Time", "it is required")
	case year < 1 || year > 9999:
		add("Time", "the year %d has no RFC 3339 form", year)
	}
	if env.Ordinal < 0 || env.Ordinal > math.MaxInt32 {
		add("Ordinal", "want a number from 1 to %d, or 0 for none, got %d", math.MaxInt32, env.Ordinal)
	}
	return errors.Join(faults...)
}

// event gives the event without its data.
func (env Envelope) event(name Name) event.Event {
	e := event.New(event.CloudEventsVersionV1)
	e.SetType(name.EventType())
	e.SetSource(Source(env.Loop, env.Phase))
	e.SetSubject("trace_id:" + env.TraceID)
	e.SetID(env.ID)
	e.SetTime(env.Time.UTC())
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
	return e
}
