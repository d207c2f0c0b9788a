package signature

import (
	"bytes"
	"errors"
	"reflect"
)

// Limits of what is encoded. They bound the stack and the memory that a value
// can cost, whatever its shape.
const (
	// MaxDepth is how deeply arrays and objects may be nested, in Go values
	// and in raw JSON. Pointers and interfaces add no level, but no more than
	// four times as many are followed on the way to one value.
	MaxDepth = 1000
	// MaxSize is the greatest length of a canonical form, and of raw JSON, in
	// bytes.
	MaxSize = 32 << 20
)

// Canonical gives the RFC 8785 form of v: the bytes of
// jcs.Transform(json.Marshal(v)), or an [*Error].
func Canonical(v any) ([]byte, error) {
	s := newState()
	defer s.free()
	s.begin(s.buf)
	if err := s.finish(s.any(v)); err != nil {
		return nil, err
	}
	return bytes.Clone(s.buf), nil
}

// Append appends the canonical form of v to dst. On error it gives dst back as
// it was.
func Append(dst []byte, v any) ([]byte, error) {
	s := newState()
	defer s.free()
	own := s.lend(dst)
	err := s.finish(s.any(v))
	return s.takeBack(own, dst, err)
}

// Encoder encodes the values of one type. It saves a caller that has the same
// type again and again, such as a phase, the search for the type's plan.
type Encoder struct {
	typ  reflect.Type
	plan *plan
}

var errNoType = errors.New("signature: no type: an encoder needs one, the dynamic type of a value that is not nil")

// EncoderFor gives the encoder of a type, or the error of [CheckType].
func EncoderFor(t reflect.Type) (*Encoder, error) {
	if t == nil {
		return nil, errNoType
	}
	if err := CheckType(t); err != nil {
		return nil, err
	}
	return &Encoder{typ: t, plan: planOf(t)}, nil
}

// Append is the function [Append]. A v of another type than the encoder's is
// encoded as what it is: the encoder of an interface type takes any of its
// values.
func (e *Encoder) Append(dst []byte, v any) ([]byte, error) {
	s := newState()
	defer s.free()
	own := s.lend(dst)
	err := s.finish(e.encode(s, v))
	return s.takeBack(own, dst, err)
}

// Of is the function [Of], for v as in [Encoder.Append].
func (e *Encoder) Of(workspace string, v any) (Digest, error) {
	s := newState()
	defer s.free()
	s.begin(append(s.buf, inputsHead...))
	return s.sign(workspace, e.encode(s, v))
}

func (e *Encoder) encode(s *state, v any) *fault {
	if rv := reflect.ValueOf(v); rv.IsValid() && rv.Type() == e.typ {
		return e.plan.encode(s, rv)
	}
	return s.any(v)
}
