package token

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/opensentience/pulse-go/signature"
)

// Envelope is what an event says besides the token (OS-010 §10.1, C-065). Loop,
// Phase, TraceID, ID and Time are required; the rest becomes extension
// attributes where it is set.
type Envelope struct {
	Loop, Phase string // of ASCII letters, digits and . _ - ~
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
	for _, f := range [...]struct {
		field, value string
		fault        func(string) string
	}{
		{"Loop", env.Loop, idFault}, {"Phase", env.Phase, idFault},
		{"TraceID", env.TraceID, requiredFault}, {"ID", env.ID, requiredFault},
		{"Workspace", env.Workspace, textFault}, {"Iteration", env.Iteration, textFault},
		{"Signature", string(env.Signature), textFault}, {"Connection", env.Connection, textFault},
		{"TraceParent", env.TraceParent, textFault}, {"TraceState", env.TraceState, textFault},
	} {
		if problem := f.fault(f.value); problem != "" {
			add(f.field, "%s", problem)
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

// idFault says what is wrong with the id of a loop or phase in a source, which
// is a URI reference: other characters would be escaped on the way.
func idFault(id string) string {
	if strings.ContainsFunc(id, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-~", r)
	}) {
		return fmt.Sprintf("want ASCII letters, digits and . _ - ~ alone, got %q", id)
	}
	return requiredFault(id)
}

func requiredFault(text string) string {
	if text == "" {
		return "it is required"
	}
	return textFault(text)
}

// textFault says what is wrong with the text of an attribute (CloudEvents 1.0
// §3.1).
func textFault(text string) string {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Sprintf("want UTF-8 without control characters, got %q", text)
	case strings.TrimSpace(text) != text:
		return fmt.Sprintf("%q begins or ends with white space, which is lost on the way: trim it", text)
	}
	return ""
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
