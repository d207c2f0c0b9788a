// Package journal declares where iterations survive their process.
//
// The engine writes to a [Journal] what another process needs to continue an
// iteration; the library itself stores nothing. A journal is the host's: a
// table, a bucket, a log.
package journal

import (
	"context"
	"errors"
	"iter"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/token"
)

// Errors of a journal.
var (
	// ErrConflict: the entry's sequence is not the next one of its iteration, and
	// an equal entry is not what stands there. Somebody else wrote.
	ErrConflict = errors.New("journal: another entry stands at this sequence")
	// ErrNotFound: there is no such iteration.
	ErrNotFound = errors.New("journal: no such iteration")
)

// Journal keeps the newest entry of each iteration.
//
// Commit is a compare-and-set: an entry of sequence n is taken if the newest one
// of its workspace, loop and iteration has sequence n-1 (none, for 1), and gives
// [ErrConflict] otherwise; committing the same entry again is success. When
// Commit has returned nil the entry is durable. A journal may forget iterations
// whose status is final. All methods may be called at the same time.
type Journal interface {
	Commit(ctx context.Context, e Entry) error
	Load(ctx context.Context, workspace, iteration string) (Entry, error)
	Open(ctx context.Context, loop string) iter.Seq2[Ref, error] // iterations whose status is not final
}

// Entry is the state of an iteration after one step.
type Entry struct {
	Workspace string           `json:"workspace"`
	Loop      string           `json:"loop"`
	Version   string           `json:"version"` // of the loop
	Iteration string           `json:"iteration"`
	Sequence  uint64           `json:"sequence"` // from 1, without gaps within the iteration
	Status    machine.Status   `json:"status"`
	Intent    *Intent          `json:"intent,omitempty"` // an act that is about to happen
	Record    *machine.Record  `json:"record,omitempty"` // the phase that ended with this entry
	Snapshot  machine.Snapshot `json:"snapshot"`
	Notes     Notes            `json:"notes,omitzero"`
}

// Notes is what an iteration learned that no output holds: what came back from
// substrates, and what its invariants look at (OS-010 §7.4–§7.6).
type Notes struct {
	Retrieved     []string                    `json:"retrieved,omitempty"` // node ids, in order
	Topologies    []*token.TopologyContext    `json:"topologies,omitempty"`
	Deliberations []*token.DeliberationResult `json:"deliberations,omitempty"`
	Emissions     []Emission                  `json:"emissions,omitempty"`    // of the record, to be audited once its transition is
	Transactions  []Transaction               `json:"transactions,omitempty"` // of the record, to be committed
}

// Transaction is a prepared substrate transaction.
type Transaction struct {
	Slot string `json:"slot"`
	ID   string `json:"id"`
}

// Emission is a token that a phase emitted with its record.
type Emission struct {
	Token       token.Name `json:"token"`
	Connections []string   `json:"connections,omitempty"` // that carry it
	Ordinal     int        `json:"ordinal"`               // which emission of the phase it is, from 1
}

// Intent says that an act is about to happen; an entry with an intent and no
// later record holds an act in doubt.
type Intent struct {
	Phase    string `json:"phase"`
	Run      int    `json:"run"`
	Attempt  int    `json:"attempt"`
	ActionID string `json:"action_id"`
}

// Ref names an iteration.
type Ref struct {
	Workspace string         `json:"workspace"`
	Iteration string         `json:"iteration"`
	Status    machine.Status `json:"status"`
}
