package substrate

import "context"

// Transactor is what a substrate with transactions implements beside its slot's
// interface (OS-010 §5.1, C-041). A phase that fails is then undone by Rollback,
// and a group of parallel phases may share the substrate (OS-010 §7.1).
//
// A transaction is named by an id that the engine chooses; it survives the
// process. A call whose Origination.Transaction is set belongs to it: its writes
// are visible only to calls of the same transaction until the commit. Every
// method is idempotent, because recovery repeats it: a transaction that is
// already where the method would take it is success. What cannot be done any
// more, such as a commit after a rollback, is ErrTransactionOver.
type Transactor interface {
	// Begin opens the transaction. What others write while it is open may or may
	// not be visible in it.
	Begin(context.Context, TransactionRequest) error

	// Prepare makes the transaction's writes durable under its id, invisible as
	// yet. After it, a commit cannot be refused, by this process or another.
	Prepare(context.Context, TransactionRequest) error

	// CommitTransaction makes the writes visible, all at once. A transaction that
	// was not prepared is prepared first.
	CommitTransaction(context.Context, TransactionRequest) error

	// Rollback forgets the writes. A transaction that the substrate does not
	// know has no writes and counts as rolled back.
	Rollback(context.Context, TransactionRequest) error
}

// TransactionRequest names a transaction.
type TransactionRequest struct {
	Origination
	ID string `json:"id"`
}

// Eraser is what a memory that can erase personal data implements (OS-010 §7.3,
// C-102). The engine audits the call; the audit log itself is never rewritten.
type Eraser interface {
	// Erase removes the nodes with what they hold, and their edges. Attributions
	// and audit events keep the ids, which name nothing any more. It is
	// idempotent: ids that are not nodes of the workspace are passed over.
	Erase(context.Context, EraseRequest) (Receipt, error)
}

// EraseRequest is the input of [OpErase].
type EraseRequest struct {
	Origination
	NodeIDs []string `json:"node_ids"`
	Reason  string   `json:"reason,omitempty"` // for the substrate's log, such as the number of the request
}

// AuditReader is what a substrate with a log of its own implements, so that its
// echo of the trace id can be checked (OS-010 §5.5, C-089).
type AuditReader interface {
	// ReadAudit returns the substrate's own events of the trace, as
	// Audit.QueryByTrace does.
	ReadAudit(context.Context, QueryByTraceRequest) ([]AuditEvent, error)
}

// Supporter is what a substrate implements whose methods do not all have
// something behind them, such as [MemoryFuncs] with some functions set.
type Supporter interface {
	// Supports reports whether a call of op can be answered with anything but
	// errors.ErrUnsupported.
	Supports(op Operation) bool
}

// Supports reports whether a substrate can answer op: it implements the
// interface with that method and, if it is a [Supporter], says so. Nil supports
// nothing.
func Supports(substrate any, op Operation) bool {
	if !implements(substrate, op) {
		return false
	}
	if s, ok := substrate.(Supporter); ok {
		return s.Supports(op)
	}
	return true
}

func implements(substrate any, op Operation) bool {
	var ok bool
	switch op {
	case OpErase:
		_, ok = substrate.(Eraser)
	case OpRetrieveContext, OpTopologyAnalyze:
		_, ok = substrate.(Reader)
	default:
		switch op.Slot() {
		case SlotMemory:
			_, ok = substrate.(Memory)
		case SlotPolicy:
			_, ok = substrate.(Policy)
		case SlotAudit:
			_, ok = substrate.(Audit)
		case SlotAuth:
			_, ok = substrate.(Auth)
		case SlotTime:
			_, ok = substrate.(Time)
		}
	}
	return ok && op.Known()
}
