package pulse

import (
	"context"
	"strconv"

	"github.com/opensentience/pulse-go/substrate"
)

// transaction is an open substrate transaction of an attempt (C-041). Its id is
// a function of the attempt and the slot, so that another process can finish it.
type transaction struct {
	slot int
	with substrate.Transactor
	req  substrate.TransactionRequest
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
	id := "tx:" + c.run.id + ":" + c.phase.id + ":" + strconv.Itoa(c.cmd.Run) + ":" + strconv.Itoa(c.cmd.Attempt) + ":" + string(slotNames[slot])
	tx := transaction{slot: slot, with: with, req: substrate.TransactionRequest{Origination: c.engine(), ID: id}}
	tx.req.Transaction = id
	if err := guard(func() error { return with.Begin(ctx, tx.req) }); err != nil {
		return "", err
	}
	c.mu.Lock()
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
