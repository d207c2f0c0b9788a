package substratetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
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

func TestMemoryRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.1-1", "P-9.1-2", "P-9.1-3", "P-9.1-4", "P-9.1-5", "P-9.1-6", "P-12-11")
	ctx := context.Background()
	storing := func(change func(*substrate.StoreNodeRequest)) func() substrate.Memory {
		return func() substrate.Memory {
			return memory{Memory: newMemory(), storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
				change(&r)
				return m.StoreNode(ctx, r)
			}}
		}
	}
	retrieving := func(change func(*substrate.RetrieveContextRequest), after func(*substrate.RetrieveContextResponse)) func() substrate.Memory {
		return func() substrate.Memory {
			return memory{Memory: newMemory(), retrieve: func(m *pulsetest.Memory, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
				change(&r)
				out, err := m.RetrieveContext(ctx, r)
				after(&out)
				return out, err
			}}
		}
	}
	learning := func(change func(*substrate.LearnFromOutcomeRequest), after func(*substrate.LearnFromOutcomeResponse)) func() substrate.Memory {
		return func() substrate.Memory {
			return memory{Memory: newMemory(), learn: func(m *pulsetest.Memory, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
				change(&r)
				out, err := m.LearnFromOutcome(ctx, r)
				after(&out)
				return out, err
			}}
		}
	}
	analyzing := func(change func(*substrate.TopologyAnalyzeRequest), after func(*token.TopologyContext)) func() substrate.Memory {
		return func() substrate.Memory {
			return memory{Memory: newMemory(), topology: func(m *pulsetest.Memory, r substrate.TopologyAnalyzeRequest) (token.TopologyContext, error) {
				change(&r)
				out, err := m.TopologyAnalyze(ctx, r)
				after(&out)
				return out, err
			}}
		}
	}
	sharing := func() substrate.Memory { // one graph for all workspaces
		return memory{Memory: newMemory(),
			retrieve: func(m *pulsetest.Memory, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
				r.Workspace = "all"
				return m.RetrieveContext(ctx, r)
			},
			storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
				r.Workspace = "all"
				return m.StoreNode(ctx, r)
			},
			storeEdge: func(m *pulsetest.Memory, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
				r.Workspace = "all"
				return m.StoreEdge(ctx, r)
			},
			learn: func(m *pulsetest.Memory, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
				r.Workspace = "all"
				return m.LearnFromOutcome(ctx, r)
			},
		}
	}
	keep := func(*substrate.RetrieveContextRequest) {}
	calls := 0

	requireCaught(t, substratetest.MemoryRules(), []breaking[substrate.Memory]{
		{"retrieve_finds_what_was_stored", storing(func(r *substrate.StoreNodeRequest) { r.Node.Content = json.RawMessage(`"lost"`) })},
		{"retrieve_finds_what_was_stored", storing(func(r *substrate.StoreNodeRequest) { r.Node.Confidence = 1 })},
		{"retrieve_respects_k", retrieving(func(r *substrate.RetrieveContextRequest) { r.K++ }, func(*substrate.RetrieveContextResponse) {})},
		{"retrieve_respects_k", retrieving(func(r *substrate.RetrieveContextRequest) {
			if r.K <= 0 {
				r.K = 10
			}
		}, func(*substrate.RetrieveContextResponse) {})},
		{"retrieve_repeats", retrieving(keep, func(r *substrate.RetrieveContextResponse) {
			if calls++; calls%3 == 0 {
				r.Nodes[0], r.Nodes[1] = r.Nodes[1], r.Nodes[0]
			}
		})},
		{"store_node_returns_existing", storing(func(r *substrate.StoreNodeRequest) { r.Ordinal += 100 * r.Attempt })},
		{"store_node_tells_calls_apart", storing(func(r *substrate.StoreNodeRequest) { r.Signature = "" })},
		{"store_node_tells_calls_apart", storing(func(r *substrate.StoreNodeRequest) { r.Ordinal = 0 })},
		{"store_node_tells_calls_apart", storing(func(r *substrate.StoreNodeRequest) { r.Run = 0 })},
		{"store_node_tells_calls_apart", storing(func(r *substrate.StoreNodeRequest) { r.Loop = "" })},
		{"store_node_tells_calls_apart", storing(func(r *substrate.StoreNodeRequest) {
			if r.Iteration == "" {
				r.Iteration = "one for all"
			}
		})},
		{"store_node_never_overwrites", func() substrate.Memory { return overwriting(newMemory()) }},
		{"store_edge_is_idempotent", func() substrate.Memory {
			n := 0
			return memory{Memory: newMemory(), storeEdge: func(m *pulsetest.Memory, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
				n++
				out, err := m.StoreEdge(ctx, r)
				out.ID += string(rune('a' + n))
				return out, err
			}}
		}},
		{"store_edge_is_idempotent", func() substrate.Memory {
			return memory{Memory: newMemory(), storeEdge: func(m *pulsetest.Memory, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
				r.Type = "any"
				return m.StoreEdge(ctx, r)
			}}
		}},
		{"store_edge_needs_its_ends", func() substrate.Memory {
			return memory{Memory: newMemory(), storeEdge: func(m *pulsetest.Memory, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
				out, err := m.StoreEdge(ctx, r)
				if errors.Is(err, substrate.ErrNodeNotFound) {
					return substrate.Receipt{ID: "dangling", TraceID: r.TraceID}, nil
				}
				return out, err
			}}
		}},
		{"receipts_echo_the_trace", func() substrate.Memory {
			return memory{Memory: newMemory(), storeNode: func(m *pulsetest.Memory, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
				out, err := m.StoreNode(ctx, r)
				out.TraceID = ""
				return out, err
			}}
		}},
		{"receipts_echo_the_trace", learning(func(*substrate.LearnFromOutcomeRequest) {}, func(r *substrate.LearnFromOutcomeResponse) { r.Receipt.TraceID = "other" })},
		{"receipts_echo_the_trace", analyzing(func(*substrate.TopologyAnalyzeRequest) {}, func(c *token.TopologyContext) { c.TraceID = "" })},
		{"requests_are_not_kept", func() substrate.Memory { return sharingContent(newMemory()) }},
		{"concurrent_use", func() substrate.Memory { return losing(newMemory()) }},
		{"learn_is_idempotent", learning(func(r *substrate.LearnFromOutcomeRequest) {
			r.Signal.ActionID += string(rune('a' + r.Ordinal))
		}, func(*substrate.LearnFromOutcomeResponse) {})},
		{"learn_moves_towards_the_outcome", learning(func(r *substrate.LearnFromOutcomeRequest) {
			if r.Signal.Status == token.StatusFailure {
				r.Signal.Status = token.StatusSuccess
			}
		}, func(*substrate.LearnFromOutcomeResponse) {})},
		{"learn_moves_towards_the_outcome", learning(func(*substrate.LearnFromOutcomeRequest) {}, func(r *substrate.LearnFromOutcomeResponse) { r.Updates[0].After = 0.9 })},
		{"learn_only_adjusts_confidence", func() substrate.Memory {
			return memory{Memory: newMemory(), learn: func(m *pulsetest.Memory, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
				if _, err := m.Erase(ctx, substrate.EraseRequest{Origination: r.Origination, NodeIDs: r.Signal.CausalParentIDs}); err != nil {
					return substrate.LearnFromOutcomeResponse{}, err
				}
				return m.LearnFromOutcome(ctx, r)
			}}
		}},
		{"learn_only_adjusts_confidence", func() substrate.Memory {
			return memory{Memory: newMemory(), learn: func(m *pulsetest.Memory, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
				for _, n := range m.Nodes(r.Workspace) {
					r.Signal.CausalParentIDs = append(r.Signal.CausalParentIDs, n.ID)
				}
				return m.LearnFromOutcome(ctx, r)
			}}
		}},
		{"attribution_is_append_only", learning(func(*substrate.LearnFromOutcomeRequest) {}, func(r *substrate.LearnFromOutcomeResponse) { r.Receipt.ID = "one per action" })},
		{"consolidate_is_idempotent", func() substrate.Memory {
			return memory{Memory: newMemory(), consolidate: func(m *pulsetest.Memory, r substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error) {
				nodes := m.Nodes(r.Workspace)
				if _, err := m.Erase(ctx, substrate.EraseRequest{Origination: r.Origination, NodeIDs: []string{nodes[len(nodes)-1].ID}}); err != nil {
					return substrate.ConsolidateResponse{}, err
				}
				return m.Consolidate(ctx, r)
			}}
		}},
		{"topology_finds_cycles", analyzing(func(*substrate.TopologyAnalyzeRequest) {}, func(c *token.TopologyContext) {
			c.MaxKappa, c.Routing, c.SCCs = 0, token.RoutingFast, nil
		})},
		{"topology_finds_cycles", analyzing(func(r *substrate.TopologyAnalyzeRequest) { r.NodeIDs = nil }, func(*token.TopologyContext) {})},
		{"topology_repeats", analyzing(func(*substrate.TopologyAnalyzeRequest) {}, func(c *token.TopologyContext) {
			if calls++; calls%3 == 0 {
				c.Nodes[0], c.Nodes[1] = c.Nodes[1], c.Nodes[0]
			}
		})},
		{"retrieve_brings_the_topology", retrieving(keep, func(r *substrate.RetrieveContextResponse) { r.Topology = token.TopologyContext{Routing: "fast"} })},
		{"reads_can_be_scoped_to_a_loop", retrieving(func(r *substrate.RetrieveContextRequest) { r.FromLoop = "" }, func(*substrate.RetrieveContextResponse) {})},
		{"reads_can_be_scoped_to_a_loop", analyzing(func(r *substrate.TopologyAnalyzeRequest) { r.FromLoop = "" }, func(*token.TopologyContext) {})},
		{"workspaces_do_not_read_each_other", sharing},
		{"workspaces_do_not_change_each_other", sharing},
		{"workspaces_do_not_share_calls", sharing},
		{"transaction_is_invisible_until_commit", storing(func(r *substrate.StoreNodeRequest) { r.Transaction = "" })},
		{"transaction_is_invisible_until_commit", func() substrate.Memory {
			return memory{Memory: newMemory(), commit: func(m *pulsetest.Memory, r substrate.TransactionRequest) error { return m.Rollback(ctx, r) }}
		}},
		{"rollback_undoes", func() substrate.Memory {
			return memory{Memory: newMemory(), rollback: func(m *pulsetest.Memory, r substrate.TransactionRequest) error { return m.CommitTransaction(ctx, r) }}
		}},
		{"transaction_steps_are_idempotent", func() substrate.Memory {
			done := make(map[string]bool)
			return memory{Memory: newMemory(), commit: func(m *pulsetest.Memory, r substrate.TransactionRequest) error {
				if done[r.ID] {
					return substrate.ErrTransactionOver
				}
				done[r.ID] = true
				return m.CommitTransaction(ctx, r)
			}}
		}},
		{"transaction_ends_once", func() substrate.Memory {
			return memory{Memory: newMemory(), rollback: func(m *pulsetest.Memory, r substrate.TransactionRequest) error {
				if err := m.Rollback(ctx, r); !errors.Is(err, substrate.ErrTransactionOver) {
					return err
				}
				return nil
			}}
		}},
		{"transactions_are_apart", func() substrate.Memory {
			open := ""
			return memory{Memory: newMemory(), begin: func(m *pulsetest.Memory, r substrate.TransactionRequest) error {
				if open != "" {
					return errors.New("one transaction at a time")
				}
				open = r.ID
				return m.Begin(ctx, r)
			}}
		}},
		{"erase_removes", func() substrate.Memory {
			return memory{Memory: newMemory(), erase: func(_ *pulsetest.Memory, r substrate.EraseRequest) (substrate.Receipt, error) {
				return substrate.Receipt{ID: "erased", TraceID: r.TraceID}, nil
			}}
		}},
		{"erase_rewrites_no_log", func() substrate.Memory {
			erased := false
			return memory{Memory: newMemory(),
				erase: func(m *pulsetest.Memory, r substrate.EraseRequest) (substrate.Receipt, error) {
					erased = true
					return m.Erase(ctx, r)
				},
				readAudit: func(m *pulsetest.Memory, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
					events, err := m.ReadAudit(ctx, r)
					if erased {
						events = events[1:]
					}
					return events, err
				}}
		}},
		{"own_log_echoes_the_trace", func() substrate.Memory {
			return memory{Memory: newMemory(), readAudit: func(m *pulsetest.Memory, r substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
				events, err := m.ReadAudit(ctx, r)
				for i := range events {
					events[i].TraceID = ""
				}
				return events, err
			}}
		}},
		{"own_log_echoes_the_trace", func() substrate.Memory {
			return memory{Memory: newMemory(), readAudit: func(*pulsetest.Memory, substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
				return nil, nil
			}}
		}},
	})
}

// overwriting takes a stored id for an update.
func overwriting(inner *pulsetest.Memory) substrate.Memory {
	ctx := context.Background()
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
func sharingContent(inner *pulsetest.Memory) substrate.Memory {
	ctx := context.Background()
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
func losing(inner *pulsetest.Memory) substrate.Memory {
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
		return m.StoreNode(context.Background(), r)
	}}
}
