package pulsetest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/opensentience/pulse-go/journal"
)

// Journal keeps iterations in memory, each entry as the JSON that a real journal
// would hold. Its limit: it is lost with the process, and it keeps ended
// iterations too, for inspection.
type Journal struct {
	mu    sync.Mutex
	by    map[journalKey]*history
	order []journalKey
}

type journalKey struct{ workspace, iteration string }

type history struct {
	loop    string
	entries [][]byte // by sequence - 1
}

// Commit implements [journal.Journal].
func (j *Journal) Commit(ctx context.Context, e journal.Entry) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: iteration %s: %w", e.Iteration, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	k := journalKey{e.Workspace, e.Iteration}
	h := j.by[k]
	if h == nil {
		if e.Sequence != 1 {
			return fmt.Errorf("%w: iteration %s begins with %d", journal.ErrConflict, e.Iteration, e.Sequence)
		}
		h = &history{loop: e.Loop}
		if j.by == nil {
			j.by = map[journalKey]*history{}
		}
		j.by[k] = h
		j.order = append(j.order, k)
	}
	switch n := uint64(len(h.entries)); {
	case e.Sequence == n+1:
		h.entries = append(h.entries, b)
		return nil
	case e.Sequence == n && n > 0 && slices.Equal(h.entries[n-1], b):
		return nil
	default:
		return fmt.Errorf("%w: iteration %s stands at %d, the entry is %d", journal.ErrConflict, e.Iteration, n, e.Sequence)
	}
}

// Load implements [journal.Journal].
func (j *Journal) Load(_ context.Context, workspace, iteration string) (journal.Entry, error) {
	es, err := j.History(workspace, iteration)
	if err != nil || len(es) == 0 {
		return journal.Entry{}, fmt.Errorf("%w: %s", journal.ErrNotFound, iteration)
	}
	return es[len(es)-1], nil
}

// History gives all entries of an iteration, oldest first.
func (j *Journal) History(workspace, iteration string) ([]journal.Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.by[journalKey{workspace, iteration}]
	if h == nil {
		return nil, nil
	}
	out := make([]journal.Entry, len(h.entries))
	for i, b := range h.entries {
		if err := json.Unmarshal(b, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Open implements [journal.Journal], in the order in which the iterations began.
func (j *Journal) Open(ctx context.Context, loop string) iter.Seq2[journal.Ref, error] {
	return func(yield func(journal.Ref, error) bool) {
		j.mu.Lock()
		keys := slices.Clone(j.order)
		j.mu.Unlock()
		for _, k := range keys {
			e, err := j.Load(ctx, k.workspace, k.iteration)
			if err == nil && (e.Loop != loop || e.Status.Final()) {
				continue
			}
			if !yield(journal.Ref{Workspace: k.workspace, Iteration: k.iteration, Status: e.Status}, err) {
				return
			}
		}
	}
}
