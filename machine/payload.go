package machine

import "encoding/json"

// Payload is a value on its way between phases: the Go value itself in process,
// JSON once it crosses to another host. The zero Payload holds nothing.
type Payload struct {
	value any
	raw   json.RawMessage
	set   bool
}

// Of wraps a value in process. It is not copied.
func Of(v any) Payload { return Payload{value: v, set: true} }

// Raw wraps JSON that another host, or an earlier process, wrote.
func Raw(b json.RawMessage) Payload { return Payload{raw: b, set: true} }

// IsZero reports whether there is nothing in it.
func (p Payload) IsZero() bool { return !p.set }

// Value gives the value in process; false if the payload holds JSON or nothing.
func (p Payload) Value() (any, bool) {
	if !p.set || p.raw != nil {
		return nil, false
	}
	return p.value, true
}

// JSON gives the JSON that the payload holds; nil for a value in process.
func (p Payload) JSON() json.RawMessage { return p.raw }

// MarshalJSON encodes the value, or gives the JSON held.
func (p Payload) MarshalJSON() ([]byte, error) {
	switch {
	case !p.set:
		return []byte("null"), nil
	case p.raw != nil:
		return p.raw, nil
	default:
		return json.Marshal(p.value)
	}
}

// UnmarshalJSON keeps the JSON; whoever knows the type decodes it.
func (p *Payload) UnmarshalJSON(b []byte) error {
	*p = Payload{raw: append(json.RawMessage(nil), b...), set: true}
	return nil
}
