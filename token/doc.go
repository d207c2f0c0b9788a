// Package token holds the canonical tokens that flow between loops (OS-010 §6),
// the registry of what each promises, the names of vendor tokens (§6.7) and the
// CloudEvents envelope that carries them (§10).
//
// The tokens are plain structs. [Encode] checks one and wraps it; nothing in the
// package has a clock, randomness or I/O, so ids and times are given.
package token
