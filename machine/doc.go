// Package machine decides what may happen next in one iteration of a loop.
//
// A [Machine] is pure: it has no clock, goroutine, randomness or I/O and never
// looks into payloads. [Machine.Next] names the commands that may run now; a
// host performs them and reports with [Machine.Done]. Results carry the host's
// time and the truth of every predicate, so the same results always give the
// same commands. A machine can be written down after every command
// ([Machine.Snapshot]) and continued elsewhere ([Restore]) with the identical
// sequence of commands.
//
// A [Machine] belongs to one goroutine at a time; a [Plan] does not change and
// may be shared.
package machine
