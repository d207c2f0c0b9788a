package pulse

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/opensentience/pulse-go/signature"
)

// Errors that a caller can decide something by. Each is reached with
// [errors.Is] through whatever wraps it.
var (
	ErrNoCall       = errors.New("pulse: the context is not that of a phase")
	ErrNoOutput     = errors.New("pulse: the phase has no output in this iteration")
	ErrAborted      = errors.New("pulse: the iteration was aborted")
	ErrEscalated    = errors.New("pulse: the failure was escalated and not resolved")
	ErrOverflow     = errors.New("pulse: too many triggers wait for the loop")
	ErrAttemptOver  = errors.New("pulse: the attempt is over")
	ErrExpired      = errors.New("pulse: an awaited signal did not come in time")
	ErrInnerUnbound = errors.New("pulse: a phase needs an inner loop and none is bound to it")
	ErrInDoubt      = errors.New("pulse: an act was begun and nobody knows whether it happened")
	ErrLate         = errors.New("pulse: the outcome came after its iteration had ended")
	ErrDuplicate    = errors.New("pulse: the outcome was delivered before")
	ErrPlanChanged  = errors.New("pulse: the iteration was started under another manifest")
)

// PhaseError says which phase of which loop failed, and why. The error of the
// phase function, or of the substrate, is reached with [errors.As] and
// [errors.Is].
type PhaseError struct {
	Loop, Phase, Iteration, TraceID string
	Attempt                         int // attempts made
	Signature                       signature.Digest
	Err                             error

	status []error // how the iteration ended: ErrAborted, and ErrEscalated or ErrExpired where they say more
}

// Error names the loop and the phase; the ids are in the fields, so that the
// text is the same on every run.
func (e *PhaseError) Error() string {
	cause := strip(e.Err)
	if strings.HasPrefix(cause, "phase "+e.Phase+" ") { // the machine's texts name it themselves
		return fmt.Sprintf("pulse: loop %s: %s", e.Loop, cause)
	}
	return fmt.Sprintf("pulse: loop %s: phase %s: %s", e.Loop, e.Phase, cause)
}

// Unwrap gives the cause, and how the iteration ended.
func (e *PhaseError) Unwrap() []error { return append([]error{e.Err}, e.status...) }

// strip gives the text of an error without a leading "pulse: ", so that wrapped
// errors do not repeat it.
func strip(err error) (text string) {
	if err == nil {
		return "unknown"
	}
	defer func() {
		if v := recover(); v != nil { // a typed nil, likely
			text = fmt.Sprintf("an error of type %T whose text panics: %v", err, v)
		}
	}()
	return strings.TrimPrefix(err.Error(), "pulse: ")
}

// PanicError is a panic, or a call of runtime.Goexit, in code that the host
// supplied.
type PanicError struct {
	Value any    // what was passed to panic; nil for Goexit
	Stack []byte // as runtime/debug.Stack gives it
}

// Error gives the panic's value.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "pulse: runtime.Goexit was called"
	}
	return fmt.Sprintf("pulse: panic: %v", e.Value)
}

// Unwrap gives the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// TypeError is a value of another Go type than the one declared for its place.
type TypeError struct {
	Want, Got reflect.Type
}

// Error names both types.
func (e *TypeError) Error() string {
	return fmt.Sprintf("pulse: want a value of type %v, got %v", e.Want, e.Got)
}

// Permanent marks an error that no further attempt can mend: retry does not
// retry it.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

func isPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// BuildError holds everything that kept [New] from building a loop.
type BuildError struct {
	Loop   string
	Faults []Fault
}

// Fault is one thing to mend. Code is stable; Pointer is a JSON pointer into the
// manifest, empty where the fault is in the configuration alone.
type Fault struct {
	Code    string
	Phase   string
	Pointer string
	Message string
	Err     error
}

// Error lists all faults, a line each if there are several.
func (e *BuildError) Error() string {
	if len(e.Faults) == 1 {
		return fmt.Sprintf("pulse: loop %s: %s", e.Loop, e.Faults[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pulse: loop %s: %d faults", e.Loop, len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n\t")
		b.WriteString(f.String())
	}
	return b.String()
}

// Unwrap gives the errors behind the faults.
func (e *BuildError) Unwrap() []error {
	var errs []error
	for _, f := range e.Faults {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errs
}

// String gives the phase, the message and the code.
func (f Fault) String() string {
	s := f.Message
	if f.Phase != "" {
		s = "phase " + f.Phase + ": " + s
	}
	return s + " [" + f.Code + "]"
}
