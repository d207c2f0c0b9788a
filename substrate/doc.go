// Package substrate holds the contracts between a loop and the infrastructure
// it reads and writes (OS-010 §3.4, §9): [Memory], [Policy], [Audit], [Auth]
// and [Time]. The sixth slot, transport, is the delivery of tokens between
// loops and has no operations of its own (C-096); see package token.
//
// The package implements none of them. A host wraps what it has: by
// implementing an interface, or by naming functions in [MemoryFuncs],
// [PolicyFunc], [AuditFunc], [AuthFunc] and [TimeFuncs]. What a substrate can
// do beyond its contract is found by type assertion: [Transactor], [Eraser],
// [AuditReader]. Operations of the host's own are [HostOperation] values.
// Package substratetest is the suite that any implementation should pass.
//
// # Call context
//
// Every request embeds an [Origination]: who calls, for which workspace, from
// which phase of which iteration, as which call of it (C-040). The engine fills
// it. A substrate uses it for three things: to keep workspaces apart, to echo
// the trace id in its receipts and its own log (OS-010 §5.5, §7.7), and to
// recognize a repeated call by [Origination.DedupeKey].
//
// # Errors
//
// An implementation that cannot be reached answers with an [UnavailableError],
// so that the engine retries, opens its breaker and, for policy and auth,
// denies. Any other error is the answer of a working substrate.
//
// # Concurrency
//
// One value serves many iterations at once. Every implementation must be safe
// for concurrent use, return when ctx ends, and neither keep nor change the
// slices of a request.
package substrate
