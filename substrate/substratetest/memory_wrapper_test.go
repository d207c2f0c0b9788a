package substratetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func newMemory() *pulsetest.Memory { return new(pulsetest.Memory) }

// memory is a working memory with some operations replaced. Each replacement
// may call the working one.
type memory struct {
	*pulsetest.Memory
	retrieve    func(*pulsetest.Memory, substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error)
	storeNode   func(*pulsetest.Memory, substrate.StoreNodeRequest) (substrate.Receipt, error)
	storeEdge   func(*pulsetest.Memory, substrate.StoreEdgeRequest) (substrate.Receipt, error)
	learn       func(*pulsetest.Memory, substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error)
	consolidate func(*pulsetest.Memory, substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error)
	topology    func(*pulsetest.Memory, substrate.TopologyAnalyzeRequest) (token.TopologyContext, error)
	begin       func(*pulsetest.Memory, substrate.TransactionRequest) error
	commit      func(*pulsetest.Memory, substrate.TransactionRequest) error
	rollback    func(*pulsetest.Memory, substrate.TransactionRequest) error
	erase       func(*pulsetest.Memory, substrate.EraseRequest) (substrate.Receipt, error)
	readAudit   func(*pulsetest.Memory, substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error)
}

func (m memory) RetrieveContext(ctx context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
	if m.retrieve != nil {
		return m.retrieve(m.Memory, r)
	}
	return m.Memory.RetrieveContext(ctx, r)
}

func (m memory) StoreNode(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
	if m.storeNode != nil {
		return m.storeNode(m.Memory, r)
	}
	return m.Memory.StoreNode(ctx, r)
}

func (m memory) StoreEdge(ctx context.Context, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
	if m.storeEdge != nil {
		return m.storeEdge(m.Memory, r)
	}
	return m.Memory.StoreEdge(ctx, r)
}

func (m memory) LearnFromOutcome(ctx context.Context, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
	if m.learn != nil {
		return m.learn(m.Memory, r)
	}
	return m.Memory.LearnFromOutcome(ctx, r)
}

func (m memory) Consolidate(ctx context.Context, r substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error) {
	if m.consolidate != nil {
		return m.consolidate(m.Memory, r)
	}
	return m.Memory.Consolidate(ctx, r)
}

func (m memory) TopologyAnalyze(ctx context.Context, r substrate.TopologyAnalyzeRequest) (token.TopologyContext, error) {
	if m.topology != nil {
		return m.topology(m.Memory, r)
	}
	return m.Memory.TopologyAnalyze(ctx, r)
}

func (m memory) Begin(ctx context.Context, r substrate.TransactionRequest) error {
	if m.begin != nil {
		return m.begin(m.Memory, r)
	}
	return m.Memory.Begin(ctx, r)
}

func (m memory) CommitTransaction(ctx context.Context, r substrate.TransactionRequest) error {
	if m.commit != nil {
		return m.commit(m.Memory, r)
	}
	return m.Memory.CommitTransaction(ctx, r)
}

func (m memory) Rollback(ctx context.Context, r substrate.TransactionRequest) error {
	if m.rollback != nil {
		return m.rollback(m.Memory, r)
	}
	return m.Memory.Rollback(ctx, r)
}

func (m memory) Erase(ctx context.Context, r substrate.EraseRequest) (substrate.Receipt, error) {
	if m.erase != nil {
		return m.erase(m.Memory, r)
	}
	return m.Memory.Erase(ctx, r)
}

func (m memory) ReadAudit(ctx context.Context, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
	if m.readAudit != nil {
		return m.readAudit(m.Memory, r)
	}
	return m.Memory.ReadAudit(ctx, r)
}

// overwriting takes a stored id for an update.
func overwriting(ctx context.Context, inner *pulsetest.Memory) substrate.Memory {
	forged := make(map[string]substrate.Node)
	return memory{Memory: inner,
		storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
			out, err := m.StoreNode(ctx, r)
			if errors.Is(err, substrate.ErrNodeExists) {
				forged[r.Node.ID] = r.Node
			}
			return out, err
		},
		retrieve: func(m *pulsetest.Memory, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
			out, err := m.RetrieveContext(ctx, r)
			for i, n := range out.Nodes {
				if f, ok := forged[n.ID]; ok {
					out.Nodes[i] = f
				}
			}
			return out, err
		}}
}

// sharingContent hands out the caller's own slice.
func sharingContent(ctx context.Context, inner *pulsetest.Memory) substrate.Memory {
	content := make(map[string]json.RawMessage)
	return memory{Memory: inner,
		storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
			out, err := m.StoreNode(ctx, r)
			content[out.ID] = r.Node.Content
			return out, err
		},
		retrieve: func(m *pulsetest.Memory, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
			out, err := m.RetrieveContext(ctx, r)
			for i, n := range out.Nodes {
				out.Nodes[i].Content = content[n.ID]
			}
			return out, err
		}}
}

// losing drops a node when calls are many.
func losing(ctx context.Context, inner *pulsetest.Memory) substrate.Memory {
	var (
		mu sync.Mutex
		n  int
	)
	return memory{Memory: inner, storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
		mu.Lock()
		n++
		lose := n == 30
		mu.Unlock()
		if lose {
			return substrate.Receipt{ID: "lost", TraceID: r.TraceID}, nil
		}
		return m.StoreNode(ctx, r)
	}}
}
