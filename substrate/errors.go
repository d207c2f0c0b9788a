package substrate

import (
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
)

// Errors of substrates and of the guards before them. Compare with errors.Is.
var (
	// ErrDenied is what every [DeniedError] is: policy or auth said no (C-097).
	ErrDenied = errors.New("denied")

	// ErrCrossWorkspace is a call whose workspace is not that of the substrate
	// or of the data it names (C-095).
	ErrCrossWorkspace = errors.New("call crosses workspaces")

	// ErrNoEcho is a receipt without the trace id of its request (OS-010 §7.7).
	ErrNoEcho = errors.New("receipt does not echo the trace id")

	// ErrNodeExists is a node whose own ID is taken: memory appends, it does not
	// overwrite (OS-010 §7.2).
	ErrNodeExists = errors.New("node exists")

	// ErrNodeNotFound is an edge whose end is not a node of the workspace.
	ErrNodeNotFound = errors.New("node not found")

	// ErrTransactionOver is a call in, or a step of, a transaction that has ended
	// otherwise, or that was never begun.
	ErrTransactionOver = errors.New("transaction is over")
)

// UnavailableError says that a substrate could not be reached. Implementations
// return it; the engine retries, counts it in its breaker, and takes it for a
// denial where a permission was asked (C-049, C-097).
type UnavailableError struct {
	Slot      Slot
	Operation Operation
	Err       error // the cause, reachable with errors.Is and errors.As
}

// Unavailable wraps the cause why op could not reach its substrate. It returns
// nil if err is nil.
func Unavailable(op Operation, err error) error {
	if err == nil {
		return nil
	}
	return &UnavailableError{Slot: op.Slot(), Operation: op, Err: err}
}

// Error names the slot and the operation, then the cause.
func (e *UnavailableError) Error() string {
	if e.Operation == "" {
		return fmt.Sprintf("substrate: slot %s is unavailable: %v", e.Slot, e.Err)
	}
	return fmt.Sprintf("substrate: %s is unavailable: %v", e.Operation, e.Err)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// RefusedError is a call that the role of the phase does not allow. The
// substrate was not touched.
type RefusedError struct {
	Operation Operation
	Role      manifest.Role
	Reason    string // why, and what to do
}

// Error names the operation, the role and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("substrate: %s is refused in a phase of role %q: %s", e.Operation, e.Role, e.Reason)
}

// DeniedError is a denial by policy or auth. It is ErrDenied, is not retried,
// and goes to the phase's on_failure (C-097).
type DeniedError struct {
	Actor, Action, Resource string
	Reason                  string
}

// Error names the actor, what it wanted, and the reason.
func (e *DeniedError) Error() string {
	reason := e.Reason
	if reason == "" {
		reason = "no reason given"
	}
	if e.Resource == "" {
		return fmt.Sprintf("substrate: %q may not %q: %s", e.Actor, e.Action, reason)
	}
	return fmt.Sprintf("substrate: %q may not %q on %q: %s", e.Actor, e.Action, e.Resource, reason)
}

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// CheckWorkspace is the workspace guard: it returns ErrCrossWorkspace if the
// call does not belong to the workspace to which a substrate is bound (C-095).
func CheckWorkspace(bound string, call Origination) error {
	if call.Workspace == bound {
		return nil
	}
	return fmt.Errorf("substrate: %s: the substrate is bound to workspace %q: %w", call.place(), bound, ErrCrossWorkspace)
}

// CheckEcho returns ErrNoEcho if the receipt of a mutation does not carry the
// trace id of its call (OS-010 §7.7).
func CheckEcho(op Operation, call Origination, receipt Receipt) error {
	if receipt.TraceID == call.TraceID {
		return nil
	}
	return fmt.Errorf("substrate: %s: %s: receipt has trace id %q, call has %q: %w",
		call.place(), op, receipt.TraceID, call.TraceID, ErrNoEcho)
}

// Unsupported is the answer to a call of op where nothing is behind it: a nil
// member of a [Set], a nil function of an adapter, an optional interface that is
// not implemented. It is errors.ErrUnsupported.
func Unsupported(op Operation) error {
	return fmt.Errorf("substrate: %s has nothing behind it: implement it, or set its function: %w", op, errors.ErrUnsupported)
}
