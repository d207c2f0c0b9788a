package machine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
)

// CommandID numbers the commands of one iteration in the order in which they
// became possible, from 1.
type CommandID uint64

// Op says what a command asks of the host.
type Op string

// The commands.
const (
	OpBegin      Op = "begin"      // check permission to start, record the start
	OpRunPhase   Op = "run_phase"  // run one attempt of a phase with all governance
	OpSleep      Op = "sleep"      // wait before the next attempt
	OpRunInner   Op = "run_inner"  // run an inner loop for the phase
	OpAwait      Op = "await"      // wait for a signal; the iteration suspends
	OpEscalate   Op = "escalate"   // ask the parent loop or a person
	OpCompensate Op = "compensate" // undo a phase
	OpCommit     Op = "commit"     // write the record of a phase that ended
	OpEnd        Op = "end"        // write the end of the iteration
)

// Command is one thing that may happen now. Which fields are set depends on Op.
type Command struct {
	ID      CommandID `json:"id"`
	Op      Op        `json:"op"`
	Phase   string    `json:"phase,omitempty"`
	Run     int       `json:"run,omitempty"`     // 1 for the first run of the phase in this iteration
	Attempt int       `json:"attempt,omitempty"` // 1 for the first attempt of the run; for Compensate, of the compensation

	Input   Input         `json:"input,omitzero"`    // RunPhase, Compensate
	Delay   time.Duration `json:"delay,omitempty"`   // Sleep, nanoseconds, always positive
	Await   Await         `json:"await,omitzero"`    // Await
	Inner   Inner         `json:"inner,omitzero"`    // RunInner
	Failure *Failure      `json:"failure,omitempty"` // Escalate, Compensate, End: the cause
	Record  *Record       `json:"record,omitempty"`  // Commit
	Status  Status        `json:"status,omitempty"`  // End
}

// Source says where the input of a phase comes from (OS-010 §4, C-021).
type Source string

// The sources of a phase's input.
const (
	FromNothing  Source = "nothing"  // the zero value of the phase's input type
	FromTrigger  Source = "trigger"  // the payload that started the iteration
	FromPhase    Source = "phase"    // the output of an earlier phase
	FromDecision Source = "decision" // the value that a route phase chose for its target, which is what a route phase hands on
	FromOutcome  Source = "outcome"  // an OutcomeSignal and the act's value
	FromSignal   Source = "signal"   // the payload of an awaited token
)

// Input is the resolved input of a phase.
type Input struct {
	Source  Source               `json:"source"`
	Phase   string               `json:"phase,omitempty"`  // the phase that produced Payload, for FromPhase, FromDecision and FromOutcome
	Payload Payload              `json:"payload,omitzero"` // for FromOutcome, the value of the act, empty without one
	Outcome *token.OutcomeSignal `json:"outcome,omitempty"`
}

// Await says which signal an iteration waits for, and until when.
type Await struct {
	Phase    string     `json:"phase"`               // the phase that takes it
	Token    token.Name `json:"token"`               // its name
	ActionID string     `json:"action_id,omitempty"` // the pending act, for an OutcomeSignal
	Deadline time.Time  `json:"deadline,omitzero"`
}

// Inner names an inner loop to run for a phase (OS-010 §11). The commands that
// carry it are issued by loops that declare inner loops whose trigger holds.
type Inner struct {
	Loop  string `json:"loop"`
	Index int    `json:"index"` // position in nesting.inner_loops
	Round int    `json:"round"`
}

// Decision is what a route phase chose, as the machine sees it.
type Decision struct {
	To         string  `json:"to,omitempty"` // a phase; empty with Deliberate alone
	Deliberate bool    `json:"deliberate,omitempty"`
	Value      Payload `json:"value,omitzero"` // input of the target; empty leaves the target to its own from
}

// Act is what an act phase said of its action (OS-010 §7.6; C-046, C-092).
type Act struct {
	ActionID        string          `json:"action_id"`
	Status          token.Status    `json:"status"` // of a finished action
	Pending         bool            `json:"pending,omitempty"`
	Within          time.Duration   `json:"within,omitempty"` // how long a pending outcome may take, 0 for the default
	CausalParentIDs []string        `json:"causal_parent_ids,omitempty"`
	NoParents       bool            `json:"no_parents,omitempty"`
	Evidence        json.RawMessage `json:"evidence,omitempty"`
}

// Result is what the host reports of a command. Time is always set; which other
// fields count depends on the command.
type Result struct {
	Time    time.Time `json:"time"`
	Failure *Failure  `json:"failure,omitempty"` // nil: it worked

	Output     Payload          `json:"output,omitzero"`      // RunPhase
	Signature  signature.Digest `json:"signature,omitempty"`  // RunPhase, also of a failed attempt if it was computed
	Remembered bool             `json:"remembered,omitempty"` // RunPhase: the output came from the memo
	Decision   *Decision        `json:"decision,omitempty"`   // RunPhase of a route phase
	Act        *Act             `json:"act,omitempty"`        // RunPhase of a phase that acts
	Triggers   []bool           `json:"triggers,omitempty"`   // RunPhase: truth of the triggers of the phase's inner loops, in their order

	Resume  bool                 `json:"resume,omitempty"`  // Escalate: go on as after a skip
	Signal  Payload              `json:"signal,omitzero"`   // Await: the payload of another token than OutcomeSignal
	Outcome *token.OutcomeSignal `json:"outcome,omitempty"` // Await
	Expired bool                 `json:"expired,omitempty"` // Await: the deadline passed
}

// FailureCode classifies a failure for hosts that cannot see the error itself.
type FailureCode string

// The classes of failure.
const (
	CodeError       FailureCode = "error"       // the phase function returned an error
	CodePanic       FailureCode = "panic"       // it panicked or called runtime.Goexit
	CodeTimeout     FailureCode = "timeout"     // it outlasted timeout_ms
	CodeDenied      FailureCode = "denied"      // auth or policy said no, or could not be asked
	CodeUnavailable FailureCode = "unavailable" // a substrate was unreachable
	CodeViolation   FailureCode = "violation"   // an invariant was breached
	CodeType        FailureCode = "type"        // a value did not have its declared type or was not encodable
	CodeRoute       FailureCode = "route"       // a decision named a phase that is not allowed there
	CodeNoAct       FailureCode = "no_act"      // a learn phase without an act (C-093)
	CodeNoInput     FailureCode = "no_input"    // nothing that the phase takes is available
	CodeMaxRuns     FailureCode = "max_runs"    // a phase ran too often in one iteration
	CodeExpired     FailureCode = "expired"     // an awaited signal did not come
	CodeInner       FailureCode = "inner"       // an inner loop diverged, failed or was not bound
	CodeInDoubt     FailureCode = "in_doubt"    // an act may or may not have happened
	CodeCanceled    FailureCode = "canceled"    // the iteration was canceled
)

// Failure is a failed command as data: only Code and Text survive a change of
// host; in process the error itself stays reachable with [Failure.Unwrap].
type Failure struct {
	Code      FailureCode `json:"code"`
	Text      string      `json:"text"`
	Permanent bool        `json:"permanent,omitempty"` // no further attempt can help
	err       error
}

// NewFailure gives the failure for an error.
func NewFailure(code FailureCode, permanent bool, err error) *Failure {
	return &Failure{Code: code, Text: textOf(err), Permanent: permanent, err: err}
}

// textOf gives the text of an error, also of one that panics when it is asked.
func textOf(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("an error of type %T whose text panics: %v", err, v)
		}
	}()
	return err.Error()
}

// Error gives the text.
func (f *Failure) Error() string { return f.Text }

// Unwrap gives the error behind the failure, nil after it crossed to another
// host.
func (f *Failure) Unwrap() error { return f.err }

// Status is the state of an iteration.
type Status string

// The statuses. Completed, Aborted, Failed and Canceled are final.
const (
	Running     Status = "running"
	Suspended   Status = "suspended"   // it waits for a signal
	Interrupted Status = "interrupted" // its host stopped; it can be resumed
	Completed   Status = "completed"   // it reached the end of the loop
	Aborted     Status = "aborted"     // a phase failed for good, or the start was denied
	Failed      Status = "failed"      // a failure could not be undone
	Canceled    Status = "canceled"    // somebody canceled it
)

// Final reports whether nothing can happen any more.
func (s Status) Final() bool {
	return s == Completed || s == Aborted || s == Failed || s == Canceled
}

// Ended says how a phase ended.
type Ended string

// The ends of a phase.
const (
	EndedCompleted Ended = "completed"
	EndedSkipped   Ended = "skipped"
	EndedFailed    Ended = "failed"
)

// Record is the one record of a phase that ended; writing it ends the phase
// (OS-010 §7.3, C-087).
type Record struct {
	Seq        uint64           `json:"seq"` // from 1, without gaps within the iteration
	Phase      string           `json:"phase"`
	Run        int              `json:"run"`
	Attempts   int              `json:"attempts"`
	Ended      Ended            `json:"ended"`
	Signature  signature.Digest `json:"signature,omitempty"`
	Decision   *Decision        `json:"decision,omitempty"`
	Act        *Act             `json:"act,omitempty"`
	Failure    *Failure         `json:"failure,omitempty"`
	Held       bool             `json:"held,omitempty"` // kept, but not visible before an inner loop is done
	Output     Payload          `json:"output,omitzero"`
	Remembered bool             `json:"remembered,omitempty"`
}
