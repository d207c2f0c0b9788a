package machine

import (
	"errors"
	"fmt"
)

// The errors of a machine. None of them changes it.
var (
	// ErrStale is the answer to a result for a command that is not
	// outstanding: it was done before, was withdrawn, or never existed.
	ErrStale = errors.New("the command is not outstanding")

	// ErrResult is the answer to a result that does not belong to its command:
	// members that the command cannot have, or a missing one. The command
	// stays outstanding.
	ErrResult = errors.New("the result does not belong to the command")

	// ErrEnded is the answer to a cancellation that comes after the end was
	// decided.
	ErrEnded = errors.New("the iteration has ended")

	// ErrFormat is the answer to a snapshot of another format, or to one that
	// no machine wrote.
	ErrFormat = errors.New("the snapshot cannot be read")

	// ErrPlanChanged is the answer to a snapshot of an iteration that began
	// under another manifest or other settings. Compile the old ones to
	// continue it.
	ErrPlanChanged = errors.New("the snapshot belongs to another plan")
)

// misfit is an ErrResult with its reason.
func misfit(c *Command, format string, args ...any) error {
	return fmt.Errorf("machine: command %d (%s): %s: %w", c.ID, c.Op, fmt.Sprintf(format, args...), ErrResult)
}

// failuref builds a failure that no further attempt can cure.
func failuref(code FailureCode, format string, args ...any) *Failure {
	return NewFailure(code, true, fmt.Errorf(format, args...))
}

// retriable reports whether another attempt of the phase may follow on its own
// (C-042). Refusals and breaches stay what they are however often they are
// repeated.
func (f *Failure) retriable() bool {
	if f.Permanent {
		return false
	}
	switch f.Code {
	case CodeDenied, CodeViolation, CodeType, CodeRoute, CodeNoAct, CodeNoInput,
		CodeMaxRuns, CodeExpired, CodeCanceled:
		return false
	}
	return true
}

// undone is the failure of a phase whose effects could not be undone either.
func undone(cause, undo *Failure) *Failure {
	text := fmt.Sprintf("%s; and undoing the phase failed: %s", cause.Text, undo.Text)
	return &Failure{Code: cause.Code, Text: text, Permanent: true, err: errors.Join(cause, undo)}
}
