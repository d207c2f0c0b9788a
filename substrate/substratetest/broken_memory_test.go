package substratetest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
	"github.com/opensentience/pulse-go/token"
)

func TestMemoryRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.1-1", "P-9.1-2", "P-9.1-3", "P-9.1-4", "P-9.1-5", "P-9.1-6", "P-12-11")
	ctx := t.Context()
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
			calls++
			if calls%3 == 0 {
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
		{"store_node_never_overwrites", func() substrate.Memory { return overwriting(ctx, newMemory()) }},
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
		{"requests_are_not_kept", func() substrate.Memory { return sharingContent(ctx, newMemory()) }},
		{"concurrent_use", func() substrate.Memory { return losing(ctx, newMemory()) }},
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
			calls++
			if calls%3 == 0 {
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
