package pulsetest

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/opensentience/pulse-go/substrate"
)

// The steps of a transaction, as [CallLog] counts, records and fails them.
const (
	OpBegin    substrate.Operation = "memory.begin"
	OpPrepare  substrate.Operation = "memory.prepare"
	OpCommit   substrate.Operation = "memory.commit"
	OpRollback substrate.Operation = "memory.rollback"
)

// txState is where a transaction is.
type txState string

const (
	txOpen       txState = "open"
	txPrepared   txState = "prepared"
	txCommitted  txState = "committed"
	txRolledBack txState = "rolled back"
)

// tx is an open or prepared transaction.
type tx struct {
	state  txState
	view   *graph // the workspace as the transaction sees it; nil before its first write
	writes []mutation
}

// ledger holds the transactions of a workspace.
type ledger struct {
	active map[string]*tx
	ended  memo[txState]
}

func (m *Memory) ledger(workspace string) *ledger {
	l, ok := m.transactions[workspace]
	if !ok {
		if m.transactions == nil {
			m.transactions = make(map[string]*ledger)
		}
		l = &ledger{active: make(map[string]*tx), ended: memo[txState]{max: m.MaxNodes}}
		m.transactions[workspace] = l
	}
	return l
}

// transaction returns the open transaction of a call, nil if it is in none.
func (m *Memory) transaction(o *substrate.Origination) (*tx, error) {
	if o.Transaction == "" {
		return nil, nil
	}
	l := m.ledger(o.Workspace)
	if t, ok := l.active[o.Transaction]; ok && t.state == txOpen {
		return t, nil
	}
	return nil, l.over(o.Transaction, "take calls")
}

// over is the error for a step that the transaction's state does not allow.
func (l *ledger) over(id, step string) error {
	state := l.ended.values[id]
	if t, ok := l.active[id]; ok {
		state = t.state
	}
	if state == "" {
		state = "not begun"
	}
	return fmt.Errorf("pulsetest: transaction %q is %s and cannot %s: %w", id, state, step, substrate.ErrTransactionOver)
}

// Begin opens a transaction.
func (m *Memory) Begin(ctx context.Context, r substrate.TransactionRequest) error {
	return m.step(ctx, OpBegin, &r, func(l *ledger) error {
		if t, ok := l.active[r.ID]; ok {
			if t.state == txOpen {
				return nil
			}
			return l.over(r.ID, "begin")
		}
		if _, ended := l.ended.values[r.ID]; ended {
			return l.over(r.ID, "begin")
		}
		l.active[r.ID] = &tx{state: txOpen}
		return nil
	})
}

// Prepare tries the transaction's writes on the current graph and claims the ids
// of the nodes that they add, so that the commit cannot fail. What cannot be
// written any more, because others changed the graph meanwhile, is an error.
func (m *Memory) Prepare(ctx context.Context, r substrate.TransactionRequest) error {
	return m.step(ctx, OpPrepare, &r, func(l *ledger) error { return m.prepare(l, &r) })
}

func (m *Memory) prepare(l *ledger, r *substrate.TransactionRequest) error {
	if l.ended.values[r.ID] == txCommitted {
		return nil
	}
	t, ok := l.active[r.ID]
	if !ok {
		return l.over(r.ID, "be prepared")
	}
	if t.state == txPrepared || len(t.writes) == 0 {
		t.state = txPrepared
		return nil
	}
	g := m.graph(r.Workspace)
	trial := g.clone()
	for i := range t.writes {
		if _, err := t.writes[i].apply(trial, t.writes[i].event.EventID); err != nil {
			return fmt.Errorf("pulsetest: transaction %q conflicts with later writes: %w", r.ID, err)
		}
	}
	for id := range trial.nodes {
		if g.nodes[id] == nil {
			g.claims[id] = r.ID
		}
	}
	t.state, t.view = txPrepared, nil
	return nil
}

// CommitTransaction performs the transaction's writes.
func (m *Memory) CommitTransaction(ctx context.Context, r substrate.TransactionRequest) error {
	return m.step(ctx, OpCommit, &r, func(l *ledger) error {
		if l.ended.values[r.ID] == txCommitted {
			return nil
		}
		if err := m.prepare(l, &r); err != nil {
			return err
		}
		g := m.graph(r.Workspace)
		writes := l.end(g, r.ID, txCommitted)
		for i := range writes {
			// An edge whose end was erased since the transaction was prepared is
			// left out, as the erasure would have removed it.
			if _, err := m.perform(g, &writes[i]); err != nil && !errors.Is(err, substrate.ErrNodeNotFound) {
				return err
			}
		}
		return nil
	})
}

// Rollback forgets the transaction's writes. One that was never begun cannot
// begin any more.
func (m *Memory) Rollback(ctx context.Context, r substrate.TransactionRequest) error {
	return m.step(ctx, OpRollback, &r, func(l *ledger) error {
		if l.ended.values[r.ID] == txCommitted {
			return l.over(r.ID, "be rolled back")
		}
		l.end(m.graph(r.Workspace), r.ID, txRolledBack)
		return nil
	})
}

// end takes the transaction out, gives back its claims and returns its writes.
func (l *ledger) end(g *graph, id string, state txState) []mutation {
	maps.DeleteFunc(g.claims, func(_, claimant string) bool { return claimant == id })
	var writes []mutation
	if t, ok := l.active[id]; ok {
		writes = t.writes
	}
	delete(l.active, id)
	l.ended.put(id, state)
	return writes
}

// step runs one step of a transaction.
func (m *Memory) step(ctx context.Context, op substrate.Operation, r *substrate.TransactionRequest, f func(*ledger) error) error {
	err := m.enter(ctx, op)
	switch {
	case err != nil:
	case r.ID == "":
		err = fmt.Errorf("pulsetest: %s: the transaction has no id", op)
	default:
		m.mu.Lock()
		err = f(m.ledger(r.Workspace))
		m.mu.Unlock()
	}
	m.leave(op, &r.Origination, r.ID, "", err)
	return err
}
