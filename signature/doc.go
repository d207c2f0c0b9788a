// Package signature gives values a canonical form and a digest.
//
// The signature of a phase is a deterministic hash of its inputs and its
// workspace (OS-010 §5.6, C-027): BLAKE3-256 over the RFC 8785 canonical form
// of {"inputs": …, "workspace_id": …}. [Of] computes it. Equal inputs give
// equal signatures in every process and on every machine; that is what lets a
// duplicate invocation be answered with the first one's output (§5.2).
//
// # Canonical form
//
// [Canonical] gives, for every Go value it accepts, the bytes of
//
//	jcs.Transform(json.Marshal(v))
//
// with github.com/gowebpki/jcs as the reference: the rules of encoding/json
// say which members a value has (tags, embedding, omitempty and omitzero,
// methods and when they apply), RFC 8785 says how they are written. It does so
// directly, by a plan made once for each Go type, because the two steps of the
// reference cost more than all else that happens in a phase. Raw JSON, given
// to [CanonicalJSON] or found inside a value as a [json.RawMessage] or as the
// result of a MarshalJSON method, is checked and then goes through the
// reference.
//
// # What is refused
//
// RFC 8785 takes every number for an IEEE 754 double, and encoding/json mends
// broken text without a word. Both can give two different inputs one
// signature, and the wrong output would be replayed. Such values are refused
// (C-028), with an [*Error] that names the place:
//
//   - Integers outside ±(2⁵³−1), [ErrIntegerRange]. The json option "string"
//     on the field, or a string type, carries them exactly. A [time.Duration]
//     is an integer of nanoseconds and ends at 104 days.
//   - Numbers that are NaN, infinite or too large for a double,
//     [ErrNotFinite].
//   - Strings and names with invalid UTF-8 or lone surrogates,
//     [ErrInvalidUTF8].
//   - Objects with two members of one name, [ErrDuplicateKey]: in raw JSON, or
//     in a map whose keys marshal to one text.
//   - Nesting deeper than [MaxDepth], which every cyclic value reaches,
//     [ErrDepth], and canonical forms longer than [MaxSize], [ErrSize].
//   - Channels, functions, complex numbers and maps whose keys have no text,
//     [ErrUnsupportedType]. [CheckType] finds them before there is a value.
//   - Raw JSON that RFC 8259 does not allow, [ErrSyntax].
//
// A Go float is a double and is accepted at every finite magnitude. A number
// in raw JSON, or a [json.Number], has no type, so its spelling decides: beyond
// ±(2⁵³−1) it must be a floating-point number as it is written (it has an
// exponent) and in canonical form (it is 10²¹ or more). So 1e21 is accepted;
// 9007199254740993, 9007199254740993.0 and 1e17, whose canonical form would be
// the integer 100000000000000000, are not. Digits of a fraction that a double
// cannot hold are rounded, as RFC 8785 has it.
//
// A panic in a method of the value (MarshalJSON, MarshalText, IsZero) is
// returned as an error.
//
// Everything here may be called by many goroutines at once; a value must not
// change while it is encoded.
package signature
