package pulsetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// acme is a call from outside a loop, which is not deduplicated.
var acme = substrate.Origination{Workspace: "acme", TraceID: "trace"}

func store(t *testing.T, m *pulsetest.Memory, n substrate.Node) string {
	t.Helper()
	r, err := m.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: acme, Node: n})
	require.NoError(t, err)
	return r.ID
}

func note(text string, confidence float64) substrate.Node {
	content, _ := json.Marshal(map[string]string{"note": text})
	return substrate.Node{Type: "belief", Content: content, Confidence: confidence}
}

func TestRetrieveRanks(t *testing.T) {
	spec.Covers(t, "P-9.1-1")
	m := new(pulsetest.Memory)
	weak := store(t, m, note("Reset the password", 0.2))
	strong := store(t, m, note("password reset: mail it", 0.9))
	best := store(t, m, note("reset password twice", 0.1))
	typed := store(t, m, substrate.Node{Type: "reset", Content: json.RawMessage(`{"n": 2, "ok": true}`), Confidence: 1})
	store(t, m, note("unrelated", 1))

	for _, c := range []struct {
		query string
		want  []string
	}{
		{"reset password TWICE", []string{best, strong, weak, typed}},
		{"password, reset!", []string{strong, weak, best, typed}},
		{"2 true", []string{typed}},
		{"absent", nil},
	} {
		out, err := m.RetrieveContext(t.Context(), substrate.RetrieveContextRequest{Origination: acme, Query: c.query, K: 10})
		require.NoError(t, err)
		require.Equal(t, c.want, ids(out.Nodes), c.query)
	}
	out, err := m.RetrieveContext(t.Context(), substrate.RetrieveContextRequest{Origination: acme, K: 10})
	require.NoError(t, err)
	require.Len(t, out.Nodes, 5, "an empty query matches all")
}

func ids(nodes []substrate.Node) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.ID)
	}
	return all
}

func TestStoreNodeRefuses(t *testing.T) {
	m := new(pulsetest.Memory)
	for want, n := range map[string]substrate.Node{
		"confidence NaN is not in [0, 1]": {Confidence: math.NaN()},
		"confidence 1.5 is not":           {Confidence: 1.5},
		"confidence -0.1 is not":          {Confidence: -0.1},
		"content is not JSON":             {Content: json.RawMessage(`{`)},
	} {
		_, err := m.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: acme, Node: n})
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, m.Nodes("acme"))
}

func TestLearn(t *testing.T) {
	spec.Covers(t, "P-9.1-4", "P-7.2-3")
	m := new(pulsetest.Memory)
	a, b := store(t, m, note("a", 0.5)), store(t, m, note("b", 0.5))
	learn := func(action string, status token.Status, parents ...string) []substrate.ConfidenceUpdate {
		t.Helper()
		out, err := m.LearnFromOutcome(t.Context(), substrate.LearnFromOutcomeRequest{
			Origination: acme, Signal: token.OutcomeSignal{ActionID: action, Status: status, CausalParentIDs: parents},
		})
		require.NoError(t, err)
		return out.Updates
	}
	require.Empty(t, learn("act-1", token.StatusTimeout, a), "a timeout moves nothing")
	require.Equal(t, []substrate.ConfidenceUpdate{{NodeID: a, Before: 0.5, After: 0.6}}, learn("act-1", token.StatusSuccess, a, a))
	require.Equal(t, []substrate.ConfidenceUpdate{{NodeID: a, Before: 0.5, After: 0.6}}, learn("act-1", token.StatusSuccess, a, a), "the first answer again")
	require.Empty(t, learn("act-1", token.StatusFailure, a), "an action moves confidence once")
	require.Equal(t, []substrate.ConfidenceUpdate{{NodeID: b, Before: 0.5, After: 0.4}}, learn("act-2", token.StatusFailure, b))
	require.InDelta(t, 0.42, learn("act-3", token.StatusPartial, b)[0].After, 1e-9)

	var recorded []string
	for _, at := range m.Attributions("acme") {
		recorded = append(recorded, at.ActionID+" "+string(at.Status))
	}
	require.Equal(t, []string{"act-1 timeout", "act-1 success", "act-1 failure", "act-2 failure", "act-3 partial"}, recorded)

	for _, bad := range []token.OutcomeSignal{{Status: token.StatusSuccess}, {ActionID: "act-9", Status: "maybe"}} {
		_, err := m.LearnFromOutcome(t.Context(), substrate.LearnFromOutcomeRequest{Origination: acme, Signal: bad})
		require.ErrorContains(t, err, "OS-010 §6.3")
	}
}

func TestConsolidateMergesEqualNodes(t *testing.T) {
	spec.Covers(t, "P-9.1-5")
	m := new(pulsetest.Memory)
	first, other := store(t, m, note("same", 0.2)), store(t, m, note("other", 0.5))
	twin := store(t, m, note("same", 0.8))
	for _, e := range [][2]string{{twin, other}, {other, twin}, {first, twin}} {
		_, err := m.StoreEdge(t.Context(), substrate.StoreEdgeRequest{Origination: acme, Src: e[0], Dst: e[1], Type: "causal"})
		require.NoError(t, err)
	}
	out, err := m.Consolidate(t.Context(), substrate.ConsolidateRequest{Origination: acme, Scope: "another type"})
	require.NoError(t, err)
	require.Empty(t, out.Event.AffectedNodeIDs)

	call := acme
	call.Loop, call.Iteration, call.Phase, call.Ordinal = "acme.triage", "it-1", "tidy", 1
	for range 2 { // the same call again has the answer of the first
		out, err = m.Consolidate(t.Context(), substrate.ConsolidateRequest{Origination: call})
		require.NoError(t, err)
		require.Equal(t, []string{twin}, out.Event.AffectedNodeIDs)
		require.Equal(t, []string{first}, out.Event.MergedIntoIDs)
		require.Equal(t, token.ConvergenceStable, out.Event.ConvergenceStatus)
		require.InDelta(t, 0.15, out.Event.MetricDeltas["avg_confidence"], 1e-9)
		require.Equal(t, -1.0, out.Event.MetricDeltas["graph_size"])
		require.NoError(t, out.Event.Validate())
	}
	topology, err := m.TopologyAnalyze(t.Context(), substrate.TopologyAnalyzeRequest{Origination: acme})
	require.NoError(t, err)
	require.Equal(t, []token.TopologyEdge{{Src: first, Dst: other, Type: "causal"}, {Src: other, Dst: first, Type: "causal"}}, topology.Edges)
	require.Equal(t, 0.8, m.Nodes("acme")[0].Confidence)

	learned, err := m.LearnFromOutcome(t.Context(), substrate.LearnFromOutcomeRequest{
		Origination: acme, Signal: token.OutcomeSignal{ActionID: "act", Status: token.StatusSuccess, CausalParentIDs: []string{twin}},
	})
	require.NoError(t, err)
	require.Equal(t, first, learned.Updates[0].NodeID, "a merged parent is credited through the node that took it over")
}

// A retried phase does not bring back what was erased meanwhile.
func TestErasedStaysErased(t *testing.T) {
	spec.Covers(t, "P-7.3-6", "C-102")
	m := new(pulsetest.Memory)
	call := acme
	call.Loop, call.Iteration, call.Phase, call.Ordinal = "acme.triage", "it-1", "reply", 1
	r, err := m.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: call, Node: note("personal", 1)})
	require.NoError(t, err)
	_, err = m.Erase(t.Context(), substrate.EraseRequest{Origination: acme, NodeIDs: []string{r.ID}})
	require.NoError(t, err)
	call.Attempt = 2
	again, err := m.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: call, Node: note("personal", 1)})
	require.NoError(t, err)
	require.Equal(t, r.ID, again.ID)
	require.Empty(t, m.Nodes("acme"))
}

func TestMaxNodesBoundsALongRun(t *testing.T) {
	m := &pulsetest.Memory{MaxNodes: 10, CallLog: pulsetest.CallLog{MaxCalls: -1}}
	call := acme
	call.Loop, call.Phase, call.Ordinal = "acme.triage", "reply", 1
	last := ""
	for i := range 1000 {
		call.Iteration = fmt.Sprint("it-", i)
		r, err := m.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: call, Node: note(fmt.Sprint("n", i), 1)})
		require.NoError(t, err)
		require.Empty(t, r.AuditEventID, "without a log there is no event to name")
		if last != "" {
			_, err = m.StoreEdge(t.Context(), substrate.StoreEdgeRequest{Origination: call, Src: last, Dst: r.ID, Type: "next"})
			require.NoError(t, err)
		}
		last = r.ID
		_, err = m.LearnFromOutcome(t.Context(), substrate.LearnFromOutcomeRequest{
			Origination: call, Signal: token.OutcomeSignal{ActionID: call.Iteration, Status: token.StatusSuccess, CausalParentIDs: []string{r.ID}},
		})
		require.NoError(t, err)
	}
	nodes := m.Nodes("acme")
	require.Len(t, nodes, 10)
	require.JSONEq(t, `{"note":"n990"}`, string(nodes[0].Content), "the newest stay")
	require.Len(t, m.Attributions("acme"), 10)
	topology, err := m.TopologyAnalyze(t.Context(), substrate.TopologyAnalyzeRequest{Origination: acme})
	require.NoError(t, err)
	require.Len(t, topology.Edges, 9)
	require.Empty(t, m.Calls())
	require.Equal(t, 1000, m.Count(substrate.OpStoreNode))
	_, err = m.ReadAudit(t.Context(), substrate.QueryByTraceRequest{Origination: acme, TraceID: "trace"})
	require.ErrorContains(t, err, "keeps no log")
}

// Two transactions that store the same id cannot both commit; the second is
// told before anything is written.
func TestPrepareFindsConflicts(t *testing.T) {
	spec.Covers(t, "P-5.1-2", "C-041")
	m := new(pulsetest.Memory)
	ctx := t.Context()
	begin := func(id string) substrate.TransactionRequest {
		tx := substrate.TransactionRequest{Origination: acme, ID: id}
		require.NoError(t, m.Begin(ctx, tx))
		call := acme
		call.Transaction = id
		n := note(id, 1)
		n.ID = "ticket-7"
		_, err := m.StoreNode(ctx, substrate.StoreNodeRequest{Origination: call, Node: n})
		require.NoError(t, err)
		return tx
	}
	first, second := begin("first"), begin("second")
	require.NoError(t, m.Prepare(ctx, first))
	require.ErrorIs(t, m.Prepare(ctx, second), substrate.ErrNodeExists)
	n := note("outside", 1)
	n.ID = "ticket-7"
	_, err := m.StoreNode(ctx, substrate.StoreNodeRequest{Origination: acme, Node: n})
	require.ErrorIs(t, err, substrate.ErrNodeExists, "a prepared id is taken")
	require.NoError(t, m.CommitTransaction(ctx, first))
	require.ErrorIs(t, m.CommitTransaction(ctx, second), substrate.ErrNodeExists)
	require.NoError(t, m.Rollback(ctx, second))
	require.Len(t, m.Nodes("acme"), 1)
	require.ErrorContains(t, m.Begin(ctx, substrate.TransactionRequest{}), "has no id")
	require.Equal(t, 2, m.Count(pulsetest.OpCommit))
	require.Equal(t, 1, m.Count(pulsetest.OpRollback))
}

// What is erased between prepare and commit stays erased, and the rest of the
// transaction is written.
func TestCommitAfterErasure(t *testing.T) {
	spec.Covers(t, "P-5.1-2", "C-102")
	m := new(pulsetest.Memory)
	ctx := t.Context()
	a, b := store(t, m, note("a", 1)), store(t, m, note("b", 1))
	tx := substrate.TransactionRequest{Origination: acme, ID: "tx"}
	require.NoError(t, m.Begin(ctx, tx))
	call := acme
	call.Transaction = "tx"
	_, err := m.StoreEdge(ctx, substrate.StoreEdgeRequest{Origination: call, Src: a, Dst: b, Type: "causal"})
	require.NoError(t, err)
	_, err = m.StoreNode(ctx, substrate.StoreNodeRequest{Origination: call, Node: note("c", 1)})
	require.NoError(t, err)
	require.NoError(t, m.Prepare(ctx, tx))
	_, err = m.Erase(ctx, substrate.EraseRequest{Origination: acme, NodeIDs: []string{b}})
	require.NoError(t, err)
	require.NoError(t, m.CommitTransaction(ctx, tx))
	require.Len(t, m.Nodes("acme"), 2)
}

func TestCanceledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := pulsetest.NewSubstrates()
	_, err := s.Memory.StoreNode(ctx, substrate.StoreNodeRequest{Origination: acme, Node: note("a", 1)})
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Audit.AppendEvent(ctx, substrate.AppendEventRequest{Origination: acme})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Memory.Begin(ctx, substrate.TransactionRequest{Origination: acme, ID: "tx"}), context.Canceled)
	require.Empty(t, s.Memory.Nodes("acme"))
	require.Zero(t, s.Audit.Len())
}
