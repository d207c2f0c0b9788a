package pulse

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
)

// volatile is the journal of a loop whose host gave none: it keeps suspended and
// interrupted iterations, as JSON, and is lost with the process.
type volatile struct {
	mu          sync.Mutex
	by          map[flightKey]kept
	interrupted []flightKey // oldest first
}

// interruptedMax bounds how many interrupted iterations are kept for a trigger
// that names them again; the oldest is forgotten.
const interruptedMax = 10_000

type kept struct {
	sequence uint64
	status   machine.Status
	entry    []byte
}

func newVolatile() *volatile { return &volatile{by: map[flightKey]kept{}} }

func (v *volatile) Commit(_ context.Context, e journal.Entry) error {
	k := flightKey{e.Workspace, e.Iteration}
	if e.Status.Final() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.by, k)
		return nil
	}
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("iteration %s: %w", e.Iteration, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if old, ok := v.by[k]; ok && old.sequence >= e.Sequence {
		return fmt.Errorf("%w: %d", journal.ErrConflict, e.Sequence)
	}
	v.by[k] = kept{sequence: e.Sequence, status: e.Status, entry: b}
	if e.Status != machine.Suspended {
		v.interrupted = append(v.interrupted, k)
	}
	for len(v.interrupted) > interruptedMax {
		if old := v.interrupted[0]; v.by[old].status != machine.Suspended {
			delete(v.by, old)
		}
		v.interrupted = v.interrupted[1:]
	}
	return nil
}

func (v *volatile) Load(_ context.Context, workspace, iteration string) (journal.Entry, error) {
	v.mu.Lock()
	k, ok := v.by[flightKey{workspace, iteration}]
	v.mu.Unlock()
	var e journal.Entry
	if !ok {
		return e, fmt.Errorf("%w: %s", journal.ErrNotFound, iteration)
	}
	err := json.Unmarshal(k.entry, &e)
	return e, err
}

func (v *volatile) Open(context.Context, string) iter.Seq2[journal.Ref, error] {
	return func(yield func(journal.Ref, error) bool) {
		v.mu.Lock()
		refs := make([]journal.Ref, 0, len(v.by))
		for k, e := range v.by {
			refs = append(refs, journal.Ref{Workspace: k.workspace, Iteration: k.id, Status: e.status})
		}
		v.mu.Unlock()
		for _, r := range refs {
			if !yield(r, nil) {
				return
			}
		}
	}
}
