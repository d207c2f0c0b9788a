package pulse

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/substrate"
)

// transaction is an open substrate transaction of an attempt (C-041).
type transaction struct {
	slot int
	with substrate.Transactor
	req  substrate.TransactionRequest
}

// transactionID is a function of the attempt, the slot and where the journal
// stood when the attempt began: another process can work it out, and an attempt
// that was interrupted, and does not count, runs again under another id.
func (r *run) transactionID(phase string, n, attempt int, seq uint64, slot int) string {
	return "tx:" + r.name + ":" + phase + ":" + strconv.Itoa(n) + ":" + strconv.Itoa(attempt) + ":" +
		strconv.FormatUint(seq, 10) + ":" + string(slotNames[slot])
}

// begin opens the slot's transaction at the first mutation of the attempt, and
// gives its id; empty if the slot has none.
func (c *Call) begin(ctx context.Context, slot int, mutates bool) (string, error) {
	if id := c.transaction(slot); id != "" || !mutates {
		return id, nil
	}
	with, ok := c.run.set.Member(slotNames[slot]).(substrate.Transactor)
	if !ok {
		return "", nil
	}
	id := c.run.transactionID(c.phase.id, c.cmd.Run, c.cmd.Attempt, c.seq, slot)
	tx := transaction{slot: slot, with: with, req: substrate.TransactionRequest{Origination: c.engine(), ID: id}}
	tx.req.Transaction = id
	if err := guard(func() error { return with.Begin(ctx, tx.req) }); err != nil {
		return "", err
	}
	c.mu.Lock()
	if c.isOver() { // it ended meanwhile: nobody else would end the transaction
		c.mu.Unlock()
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.run.loop.limits.Straggle)
		defer cancel()
		return "", errors.Join(c.overError("begin a transaction"), guard(func() error { return with.Rollback(back, tx.req) }))
	}
	defer c.mu.Unlock()
	for i := range c.txs {
		if c.txs[i].slot == slot { // another goroutine of the phase was first; Begin is idempotent
			return id, nil
		}
	}
	c.txs = append(c.txs, tx)
	return id, nil
}

// transaction gives the id of the slot's open transaction, empty without one.
func (c *Call) transaction(slot int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.txs {
		if c.txs[i].slot == slot {
			return c.txs[i].req.ID
		}
	}
	return ""
}

// transactions lists the transactions begun; a call that is still under way may add one.
func (c *Call) transactions() []transaction {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.txs
}

// prepare makes the attempt's transactions durable.
func (c *Call) prepare(ctx context.Context) error {
	for _, tx := range c.transactions() {
		if err := guard(func() error { return tx.with.Prepare(ctx, tx.req) }); err != nil {
			return err
		}
	}
	return nil
}

// commit makes the effects of the attempt visible.
func (c *Call) commit(ctx context.Context) error {
	for _, tx := range c.transactions() {
		if err := guard(func() error { return tx.with.CommitTransaction(ctx, tx.req) }); err != nil {
			return err
		}
	}
	return nil
}

// finishTransactions commits the transactions of a phase that completed before
// the iteration was resumed, as the journal names them.
func (r *run) finishTransactions(ctx context.Context, rec *machine.Record) error {
	req := substrate.TransactionRequest{Origination: r.base}
	req.Phase, req.Run, req.Attempt, req.Signature, req.Engine = rec.Phase, rec.Run, rec.Attempts, rec.Signature, true
	for _, tx := range r.owed.Transactions {
		with, ok := r.set.Member(substrate.Slot(tx.Slot)).(substrate.Transactor)
		if !ok {
			return fmt.Errorf("pulse: the %s that prepared transaction %s has no transactions any more", tx.Slot, tx.ID)
		}
		req.ID, req.Transaction = tx.ID, tx.ID
		if err := guard(func() error { return with.CommitTransaction(ctx, req) }); err != nil {
			return err
		}
	}
	return nil
}

// rollback undoes the attempt's open transactions. Every one is tried.
func (c *Call) rollback(ctx context.Context) error {
	var first error
	for _, tx := range c.transactions() {
		if err := guard(func() error { return tx.with.Rollback(ctx, tx.req) }); err != nil && first == nil {
			first = err
		}
	}
	return first
}
