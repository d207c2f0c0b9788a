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
// # Commands
//
// An iteration is Begin, then for each phase that runs one or more RunPhase and
// exactly one Commit, then End. Between them stand Sleep (before a further
// attempt), Await (for a signal; the iteration is suspended), Escalate and
// Compensate. Outputs, decisions and acts count from the Commit on (OS-010 §5.1,
// C-041): a phase whose Commit is not done has not ended.
//
// # Order
//
// A phase leads to its single successor, and a route phase to the one that it
// decides for (OS-010 §5.3, C-044, C-134). Reaching closure.to_phase from
// closure.from_phase ends the iteration, and so does a phase without a
// successor. With an idle cadence armed, phases that consolidate are passed
// over, unless the iteration entered at one or must settle (C-045).
//
// # Input
//
// The alternatives of inputs.from count in the order written, and the first that
// is there is taken (C-021). A signal is waited for only if nothing else is
// there; but a learn phase that takes outcomes waits for that of a pending act
// (C-046). Without inputs.from a learn phase takes the outcome, any other the
// output of the phase before. A phase at which an iteration enters takes the
// payload of the trigger, whatever its from says, and the zero value if there is
// none. A skipped run has no output, not even that of an earlier run.
//
// # Failure
//
// on_failure decides (OS-010 §5.4, C-042). retry makes further attempts, unless
// the failure is permanent or a refusal, and then aborts. skip and a resumed
// escalate go on if the next phase finds its input without the skipped output.
// rollback undoes the phase, with as many attempts as retry would make, and
// aborts; what cannot be undone is escalated and ends the iteration as failed.
// An inner loop that must run fails its phase: no inner loop can be bound yet.
//
// # Ownership
//
// A [Machine] belongs to one goroutine at a time; a [Plan] does not change and
// may be shared. What a result points to belongs to the machine from Done on.
package machine
