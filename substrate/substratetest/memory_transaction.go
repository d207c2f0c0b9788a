package substratetest

import (
	"context"
	"fmt"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func transactionRules() []Rule[substrate.Memory] {
	return []Rule[substrate.Memory]{{
		ID: "P-5.1-2", Name: "transaction_is_invisible_until_commit", Section: "OS-010 §5.1, C-041",
		Text:  "writes of a transaction are seen by its own calls, and by others from the commit on, all at once",
		Check: transactional(checkCommit),
	}, {
		ID: "P-5.1-2", Name: "rollback_undoes", Section: "OS-010 §5.1, C-041",
		Text:  "after a rollback, open or prepared, none of the transaction's writes is left, and the same call can be made again",
		Check: transactional(checkRollback),
	}, {
		ID: "P-5.1-2", Name: "transaction_steps_are_idempotent", Section: "OS-010 §5.1, C-041",
		Text:  "begin, prepare, commit and rollback may each be repeated, commit without prepare prepares, and a rollback of what was never begun succeeds",
		Check: transactional(checkStepsRepeat),
	}, {
		ID: "P-5.1-2", Name: "transaction_ends_once", Section: "OS-010 §5.1, C-041",
		Text:  "a commit after a rollback, a rollback after a commit, and a call in a transaction that is not open are substrate.ErrTransactionOver and change nothing",
		Check: transactional(checkEndsOnce),
	}, {
		ID: "P-7.1-1", Name: "transactions_are_apart", Section: "OS-010 §7.1, C-048",
		Text:  "two open transactions do not see each other's writes, and both can commit",
		Check: transactional(checkTwoTransactions),
	}}
}

// phase is a phase with transactions.
type phase struct {
	*graph
	substrate.Transactor
}

func transactional(check func(phase) error) func(context.Context, substrate.Memory) error {
	return func(ctx context.Context, m substrate.Memory) error {
		with, ok := m.(substrate.Transactor)
		if !ok {
			return skipf("the memory is no substrate.Transactor")
		}
		return check(phase{newGraph(ctx, m), with})
	}
}

// steps takes the transaction through the steps.
func (p phase) steps(id string, steps ...func(context.Context, substrate.TransactionRequest) error) error {
	for i, step := range steps {
		if err := step(p.ctx, substrate.TransactionRequest{Origination: p.in(id), ID: id}); err != nil {
			return fmt.Errorf("transaction %q, step %d: %w", id, i+1, err)
		}
	}
	return nil
}

func checkCommit(p phase) error {
	outside, err := p.store("outside")
	if err != nil {
		return err
	}
	const id = "tx-commit"
	if err := p.steps(id, p.Begin); err != nil {
		return err
	}
	inside, err := p.storeAs(p.in(id), "inside")
	if err != nil {
		return err
	}
	signal := p.outcome("action-1", token.StatusFailure, []string{outside.ID})
	if _, err := p.LearnFromOutcome(p.ctx, substrate.LearnFromOutcomeRequest{Origination: p.in(id), Signal: signal}); err != nil {
		return fmt.Errorf("learn_from_outcome in a transaction: %w", err)
	}
	if err := p.wantNodes(p.in(id), "in the transaction", outside.ID, inside.ID); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		take func(context.Context, substrate.TransactionRequest) error
	}{{"before prepare", nil}, {"after prepare", p.Prepare}} {
		if step.take != nil {
			if err := p.steps(id, step.take); err != nil {
				return err
			}
		}
		if err := p.wantNodes(p.next(), "outside, "+step.name, outside.ID); err != nil {
			return err
		}
		nodes, err := p.nodes(p.next())
		if err != nil {
			return err
		}
		if c := nodes[outside.ID].Confidence; c != 0.5 {
			return fmt.Errorf("outside, %s: the confidence of a node is %v, want 0.5 until the commit", step.name, c)
		}
	}
	if err := p.steps(id, p.CommitTransaction); err != nil {
		return err
	}
	if err := p.wantNodes(p.next(), "after commit", outside.ID, inside.ID); err != nil {
		return err
	}
	nodes, err := p.nodes(p.next())
	if err != nil {
		return err
	}
	if c := nodes[outside.ID].Confidence; c >= 0.5 {
		return fmt.Errorf("after commit: the confidence of a failed parent is %v, want less than 0.5", c)
	}
	return nil
}

func checkRollback(p phase) error {
	outside, err := p.store("outside")
	if err != nil {
		return err
	}
	call := p.next()
	for _, id := range []string{"tx-open", "tx-prepared"} {
		if err := p.steps(id, p.Begin); err != nil {
			return err
		}
		o := call
		o.Transaction = id
		if _, err := p.storeAs(o, "inside"); err != nil {
			return err
		}
		signal := p.outcome("action-1", token.StatusFailure, []string{outside.ID})
		if _, err := p.LearnFromOutcome(p.ctx, substrate.LearnFromOutcomeRequest{Origination: p.in(id), Signal: signal}); err != nil {
			return fmt.Errorf("learn_from_outcome in a transaction: %w", err)
		}
		if id == "tx-prepared" {
			if err := p.steps(id, p.Prepare); err != nil {
				return err
			}
		}
		if err := p.steps(id, p.Rollback); err != nil {
			return err
		}
		if err := p.wantNodes(p.next(), "after rollback of "+id, outside.ID); err != nil {
			return err
		}
		nodes, err := p.nodes(p.next())
		if err != nil {
			return err
		}
		if c := nodes[outside.ID].Confidence; c != 0.5 {
			return fmt.Errorf("after rollback of %s: the confidence of a node is %v, want 0.5", id, c)
		}
	}
	again, err := p.storeAs(call, "inside")
	if err != nil {
		return fmt.Errorf("the same call after the rollback: %w", err)
	}
	return p.wantNodes(p.next(), "the same call after the rollback", outside.ID, again.ID)
}

func checkStepsRepeat(p phase) error {
	const id = "tx-steps"
	if err := p.steps(id, p.Begin, p.Begin); err != nil {
		return err
	}
	inside, err := p.storeAs(p.in(id), "inside")
	if err != nil {
		return err
	}
	if err := p.steps(id, p.Begin, p.Prepare, p.Prepare, p.CommitTransaction, p.CommitTransaction, p.Prepare); err != nil {
		return err
	}
	if err := p.wantNodes(p.next(), "committed twice", inside.ID); err != nil {
		return err
	}
	const direct = "tx-direct"
	if err := p.steps(direct, p.Begin); err != nil {
		return err
	}
	second, err := p.storeAs(p.in(direct), "second")
	if err != nil {
		return err
	}
	if err := p.steps(direct, p.CommitTransaction); err != nil {
		return err
	}
	if err := p.wantNodes(p.next(), "committed without prepare", inside.ID, second.ID); err != nil {
		return err
	}
	if err := p.steps("tx-empty", p.Begin, p.Prepare, p.CommitTransaction); err != nil {
		return err
	}
	if err := p.steps("tx-rolled-back", p.Begin, p.Rollback, p.Rollback); err != nil {
		return err
	}
	return p.steps("tx-unknown", p.Rollback)
}

func checkEndsOnce(p phase) error {
	committed, err := p.inside("tx-committed", p.CommitTransaction)
	if err != nil {
		return err
	}
	if _, err := p.inside("tx-rolled-back", p.Rollback); err != nil {
		return err
	}
	if _, err := p.inside("tx-prepared", p.Prepare); err != nil {
		return err
	}
	for _, late := range []struct {
		what, id string
		step     func(context.Context, substrate.TransactionRequest) error
	}{
		{"rollback after commit", "tx-committed", p.Rollback},
		{"begin after commit", "tx-committed", p.Begin},
		{"commit after rollback", "tx-rolled-back", p.CommitTransaction},
		{"prepare after rollback", "tx-rolled-back", p.Prepare},
		{"begin after rollback", "tx-rolled-back", p.Begin},
		{"commit of an unknown", "tx-unknown", p.CommitTransaction},
	} {
		if fault := wantError(late.what, p.steps(late.id, late.step), substrate.ErrTransactionOver); fault != nil {
			return fault
		}
	}
	for _, id := range []string{"tx-committed", "tx-rolled-back", "tx-prepared", "tx-never"} {
		_, err := p.storeAs(p.in(id), "late")
		if fault := wantError("store_node in "+id, err, substrate.ErrTransactionOver); fault != nil {
			return fault
		}
	}
	return p.wantNodes(p.next(), "after steps that were refused", committed)
}

// inside stores a node in a transaction and takes it through the step.
func (p phase) inside(id string, step func(context.Context, substrate.TransactionRequest) error) (string, error) {
	if err := p.steps(id, p.Begin); err != nil {
		return "", err
	}
	r, err := p.storeAs(p.in(id), "inside "+id)
	if err != nil {
		return "", err
	}
	return r.ID, p.steps(id, step)
}

func checkTwoTransactions(p phase) error {
	ids := []string{"tx-1", "tx-2"}
	nodes := make([]string, len(ids))
	for i, id := range ids {
		if err := p.steps(id, p.Begin); err != nil {
			return err
		}
		r, err := p.storeAs(p.in(id), "inside "+id)
		if err != nil {
			return err
		}
		nodes[i] = r.ID
	}
	for i, id := range ids {
		if err := p.wantNodes(p.in(id), "in "+id, nodes[i]); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := p.steps(id, p.Prepare); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := p.steps(id, p.CommitTransaction); err != nil {
			return err
		}
	}
	return p.wantNodes(p.next(), "after both commits", nodes...)
}
