package machine

import (
	"slices"
	"time"

	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
)

// Format is the version of the snapshot's JSON form.
const Format = 1

// Snapshot is the whole state of a machine between two commands, as plain data
// with a JSON form. It stays as it is while the machine goes on. Treat what its
// pointers and payloads lead to as read-only: neither the machine nor a holder
// of the snapshot changes them.
//
// Phases are named by their position in the manifest; the plan's digest makes
// sure that it is the same manifest.
type Snapshot struct {
	Format    int              `json:"format"`
	Plan      signature.Digest `json:"plan"`
	Iteration string           `json:"iteration"`
	Trigger   Trigger          `json:"trigger"`

	Status  Status    `json:"status"`            // Running, Suspended, or final once the end is written
	Ending  Status    `json:"ending,omitempty"`  // how it ends, once that is decided
	Failure *Failure  `json:"failure,omitempty"` // why it ends without completing
	At      time.Time `json:"at,omitzero"`       // time of the latest result
	Issued  CommandID `json:"issued"`            // the highest id given to a command
	Seq     uint64    `json:"seq"`               // the records committed
	Begun   bool      `json:"begun,omitempty"`

	Previous int          `json:"previous"`         // the phase that ended last, -1 before the first
	Phases   []PhaseState `json:"phases"`           // in declared order
	Active   []PhaseRun   `json:"active,omitempty"` // the phases that run
	Act      ActState     `json:"act,omitzero"`     // the act that completed last
	Memo     []Remembered `json:"memo,omitempty"`   // in the order of completion
}

// PhaseState is what an iteration knows of a phase.
type PhaseState struct {
	Runs   int     `json:"runs,omitempty"`  // begun so far
	Ended  Ended   `json:"ended,omitempty"` // how the latest run that ended did so
	Output Payload `json:"output,omitzero"` // of the latest run that completed
	Chosen Payload `json:"chosen,omitzero"` // of a route phase: the value that it chose for its target
}

// PhaseRun is a run of a phase that has begun and not ended, and the command
// that is outstanding for it.
type PhaseRun struct {
	ID      CommandID `json:"id"`
	Op      Op        `json:"op"`
	Phase   int       `json:"phase"`
	Attempt int       `json:"attempt,omitempty"` // attempts of the phase begun, or about to begin after a sleep
	Undo    int       `json:"undo,omitempty"`    // the same of its compensation

	Source  Source               `json:"source,omitempty"`
	From    int                  `json:"from,omitempty"`    // the phase that produced the input, where one did
	Signal  Payload              `json:"signal,omitzero"`   // what was awaited
	Outcome *token.OutcomeSignal `json:"outcome,omitempty"` // the same, of a phase that is no learn phase
	Token   token.Name           `json:"token,omitempty"`   // Await
	Until   time.Time            `json:"until,omitzero"`    // Await

	Returned  time.Time        `json:"returned,omitzero"`   // when the phase function returned
	Signature signature.Digest `json:"signature,omitempty"` // of the latest attempt
	Failure   *Failure         `json:"failure,omitempty"`   // why it is retried, escalated or undone
	Record    *Record          `json:"record,omitempty"`    // Commit
	Then      Status           `json:"then,omitempty"`      // how the iteration ends after the commit; empty to go on
}

// ActState is an act that completed, and what became of its action; Act is nil
// where there is none.
type ActState struct {
	Phase    int                  `json:"phase"`
	Act      *Act                 `json:"act,omitempty"`
	Recorded time.Time            `json:"recorded,omitzero"` // when its record was committed
	Outcome  *token.OutcomeSignal `json:"outcome,omitempty"` // nil while it is pending
}

// Remembered is a completed run of an idempotent phase that may be asked for
// the same again within the iteration (OS-010 §5.2, C-039).
type Remembered struct {
	Phase     int              `json:"phase"`
	Signature signature.Digest `json:"signature"`
	Output    Payload          `json:"output,omitzero"`
	Decision  *Decision        `json:"decision,omitempty"`
	Act       *Act             `json:"act,omitempty"`
}

// Snapshot writes the machine down. Its cost depends on the number of phases,
// not on how far the iteration has come.
func (m *Machine) Snapshot() Snapshot {
	s := m.state
	s.Status = m.Status()
	s.Phases = slices.Clone(s.Phases)
	s.Active = slices.Clone(s.Active)
	s.Memo = slices.Clip(s.Memo) // it only ever grows: what is there stays
	return s
}
