package token

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/opensentience/pulse-go/signature"
)

// Encode checks a token and gives the event that carries it: type, source
// loop:<loop>/phase:<phase>, subject trace_id:<trace>, and the payload as
// canonical JSON (RFC 8785). A canonical token is written with every member of
// OS-010 §6: its header is filled from its type and the envelope, and lists,
// metric_deltas and evidence that are nil are written empty. A vendor's token is
// written as it is.
//
// The error joins every fault found: a [*NameError], what Validate gives, and an
// [*EnvelopeError] for each fault of the envelope.
func Encode[T Token](t T, env Envelope) (event.Event, error) {
	if v := reflect.ValueOf(t); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return event.Event{}, errors.New("token: there is no token to encode: it is nil")
	}
	name := t.TokenName()
	if _, err := ParseName(string(name)); err != nil {
		return event.Event{}, err
	}
	if err := errors.Join(t.Validate(), env.check(name)); err != nil {
		return event.Event{}, err
	}
	payload, err := payloadOf(t, env)
	if err != nil {
		return event.Event{}, err
	}
	data, err := signature.Canonical(payload)
	if err != nil {
		return event.Event{}, fmt.Errorf("token: %s: %w", name, err)
	}
	e := env.event(name)
	e.SetDataContentType(event.ApplicationJSON)
	e.DataEncoded = data // SetData would mark bytes as binary, and write data_base64
	if err := e.Validate(); err != nil {
		return event.Event{}, fmt.Errorf("token: %s: %w", name, err)
	}
	return e, nil
}

// completed is a canonical token that can be written with every member.
type completed interface {
	complete(trace string) (payload any, header Header)
}

// payloadOf gives what is written for a token. The trace of a token's header
// stands in the subject too, and the two must not disagree (C-063).
func payloadOf(t Token, env Envelope) (any, error) {
	c, ok := t.(completed)
	if !ok {
		return t, nil
	}
	payload, header := c.complete(env.TraceID)
	if header.TraceID != env.TraceID {
		return nil, &EnvelopeError{Token: t.TokenName(), Field: "TraceID", Problem: fmt.Sprintf(
			"the token has the trace id %q and the envelope %q: leave the token's empty", header.TraceID, env.TraceID)}
	}
	return payload, nil
}
