package substrate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func TestSetIsAResolver(t *testing.T) {
	spec.Covers(t, "C-030", "C-095")
	set := substrate.Set{Policy: substrate.PolicyFunc(allow)}
	var resolver substrate.Resolver = set
	got, err := resolver.Resolve(t.Context(), "acme", manifest.Substrates{})
	require.NoError(t, err)
	require.NotNil(t, got.Policy)
	require.Nil(t, got.Memory)
}

func TestSetMember(t *testing.T) {
	spec.Covers(t, "P-3.4-6", "P-3.4-7", "C-096")
	empty := substrate.Set{}
	for _, slot := range manifest.Slots() {
		require.Nil(t, empty.Member(slot), slot)
	}
	full := substrate.Set{
		Memory: substrate.MemoryFuncs{}, Policy: substrate.PolicyFuncs{}, Audit: substrate.AuditFuncs{},
		Auth: substrate.AuthFuncs{}, Time: substrate.TimeFuncs{},
	}
	require.IsType(t, substrate.MemoryFuncs{}, full.Member(substrate.SlotMemory))
	require.IsType(t, substrate.PolicyFuncs{}, full.Member(substrate.SlotPolicy))
	require.IsType(t, substrate.AuditFuncs{}, full.Member(substrate.SlotAudit))
	require.IsType(t, substrate.AuthFuncs{}, full.Member(substrate.SlotAuth))
	require.IsType(t, substrate.TimeFuncs{}, full.Member(substrate.SlotTime))
	require.Nil(t, full.Member(substrate.SlotTransport))
	require.Nil(t, full.Member("storage"))
}

func TestSupports(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9-2")
	set := substrate.Set{
		Memory: substrate.MemoryFuncs{StoreNodeFunc: func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) {
			return substrate.Receipt{}, nil
		}},
		Policy: substrate.PolicyFunc(allow),
		Audit:  substrate.AuditFunc(nil),
		Auth:   plainAuth{},
		Host:   []substrate.HostOperation{{Name: "memory.vector_search", Call: noCall}},
	}
	supported := map[substrate.Operation]bool{
		substrate.OpStoreNode: true, substrate.OpCheckPolicy: true,
		substrate.OpPermissionCheck: true, substrate.OpAgentLifecycle: true,
	}
	for _, op := range substrate.Operations() {
		require.Equal(t, supported[op], set.Supports(op), op)
	}
	require.True(t, set.Supports("memory.vector_search"))
	require.False(t, set.Supports("memory.other"))
	require.False(t, substrate.Supports(plainAuth{}, "auth.other"))
	require.True(t, substrate.Supports(erasing{}, substrate.OpErase), "an optional interface is found by assertion")
	require.False(t, substrate.Supports(substrate.MemoryFuncs{}, substrate.OpErase))
}

func TestHostOperationValidate(t *testing.T) {
	spec.Covers(t, "P-9-2", "C-096")
	require.NoError(t, substrate.HostOperation{Name: "memory.vector_search", Call: noCall}.Validate())
	for want, h := range map[string]substrate.HostOperation{
		"must be <slot>.<name>":          {Name: "storage.put", Call: noCall},
		`"memory.": the name must be`:    {Name: "memory.", Call: noCall},
		"transport has no operations":    {Name: "transport.send", Call: noCall},
		"is an operation of OS-010 §9":   {Name: "memory.store_node", Call: noCall},
		"has no Call function":           {Name: "memory.vector_search"},
		"append-only but does not":       {Name: "memory.vector_search", AppendOnly: true, Call: noCall},
		`"memory.erase" is an operation`: {Name: "memory.erase", Call: noCall},
	} {
		require.ErrorContains(t, h.Validate(), want)
	}
}

func TestSetValidateNamesEveryFault(t *testing.T) {
	spec.Covers(t, "P-9-2")
	require.NoError(t, substrate.Set{}.Validate())
	err := substrate.Set{Host: []substrate.HostOperation{
		{Name: "memory.a", Call: noCall}, {Name: "memory.a", Call: noCall}, {Name: "x", Call: noCall},
	}}.Validate()
	require.ErrorContains(t, err, `"memory.a" is declared twice`)
	require.ErrorContains(t, err, `"x"`)
}

// An operation with nothing behind it says so, and which it is.
func TestNilFunctionsAreUnsupported(t *testing.T) {
	spec.Covers(t, "P-9-1")
	ctx := t.Context()
	var (
		memory substrate.Memory = substrate.MemoryFuncs{}
		clock  substrate.Time   = substrate.TimeFuncs{}
	)
	calls := map[substrate.Operation]func() error{
		substrate.OpRetrieveContext:  func() error { _, err := memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{}); return err },
		substrate.OpStoreNode:        func() error { _, err := memory.StoreNode(ctx, substrate.StoreNodeRequest{}); return err },
		substrate.OpStoreEdge:        func() error { _, err := memory.StoreEdge(ctx, substrate.StoreEdgeRequest{}); return err },
		substrate.OpLearnFromOutcome: func() error { _, err := memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{}); return err },
		substrate.OpConsolidate:      func() error { _, err := memory.Consolidate(ctx, substrate.ConsolidateRequest{}); return err },
		substrate.OpTopologyAnalyze:  func() error { _, err := memory.TopologyAnalyze(ctx, substrate.TopologyAnalyzeRequest{}); return err },
		substrate.OpAtTimescale:      func() error { _, err := clock.AtTimescale(ctx, substrate.AtTimescaleRequest{}); return err },
		substrate.OpForecast:         func() error { _, err := clock.Forecast(ctx, substrate.ForecastRequest{}); return err },
	}
	for _, policy := range []substrate.Policy{substrate.PolicyFuncs{}, substrate.PolicyFunc(nil)} {
		calls[substrate.OpCheckPolicy] = func() error { _, err := policy.CheckPolicy(ctx, substrate.CheckPolicyRequest{}); return err }
		calls[substrate.OpComputeEffective] = func() error { _, err := policy.ComputeEffective(ctx, substrate.ComputeEffectiveRequest{}); return err }
		requireUnsupported(t, calls)
	}
	for _, audit := range []substrate.Audit{substrate.AuditFuncs{}, substrate.AuditFunc(nil)} {
		calls[substrate.OpAppendEvent] = func() error { _, err := audit.AppendEvent(ctx, substrate.AppendEventRequest{}); return err }
		calls[substrate.OpQueryByTrace] = func() error { _, err := audit.QueryByTrace(ctx, substrate.QueryByTraceRequest{}); return err }
		requireUnsupported(t, calls)
	}
	for _, auth := range []substrate.Auth{substrate.AuthFuncs{}, substrate.AuthFunc(nil)} {
		calls[substrate.OpPermissionCheck] = func() error { _, err := auth.PermissionCheck(ctx, substrate.PermissionCheckRequest{}); return err }
		calls[substrate.OpAgentLifecycle] = func() error { _, err := auth.AgentLifecycle(ctx, substrate.AgentLifecycleRequest{}); return err }
		requireUnsupported(t, calls)
	}
	require.Len(t, calls, len(substrate.Operations())-1, "all but erase, which is an interface of its own")
}

func requireUnsupported(t *testing.T, calls map[substrate.Operation]func() error) {
	t.Helper()
	for op, call := range calls {
		err := call()
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, string(op))
	}
}

func TestFuncsCallTheFunction(t *testing.T) {
	spec.Covers(t, "P-13.1-1")
	ctx, ws := t.Context(), substrate.Origination{Workspace: "acme", TraceID: "trace"}
	m := substrate.MemoryFuncs{
		RetrieveContextFunc: func(_ context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
			return substrate.RetrieveContextResponse{Nodes: []substrate.Node{{ID: r.Query}}}, nil
		},
		StoreNodeFunc: func(_ context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
			return substrate.Receipt{ID: r.Node.Type, TraceID: r.TraceID}, nil
		},
		StoreEdgeFunc: func(_ context.Context, r substrate.StoreEdgeRequest) (substrate.Receipt, error) {
			return substrate.Receipt{ID: r.Src + r.Dst + r.Type}, nil
		},
		LearnFromOutcomeFunc: func(_ context.Context, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
			return substrate.LearnFromOutcomeResponse{Receipt: substrate.Receipt{ID: r.Signal.ActionID}}, nil
		},
		ConsolidateFunc: func(_ context.Context, r substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error) {
			return substrate.ConsolidateResponse{Receipt: substrate.Receipt{ID: r.Scope}}, nil
		},
		TopologyAnalyzeFunc: func(_ context.Context, r substrate.TopologyAnalyzeRequest) (token.TopologyContext, error) {
			return token.TopologyContext{MaxKappa: float64(len(r.NodeIDs))}, nil
		},
	}
	found, err := m.RetrieveContext(ctx, substrate.RetrieveContextRequest{Origination: ws, Query: "q"})
	require.NoError(t, err)
	require.Equal(t, "q", found.Nodes[0].ID)
	receipt, err := m.StoreNode(ctx, substrate.StoreNodeRequest{Origination: ws, Node: substrate.Node{Type: "belief"}})
	require.NoError(t, err)
	require.Equal(t, substrate.Receipt{ID: "belief", TraceID: "trace"}, receipt)
	receipt, err = m.StoreEdge(ctx, substrate.StoreEdgeRequest{Src: "a", Dst: "b", Type: "c"})
	require.NoError(t, err)
	require.Equal(t, "abc", receipt.ID)
	learned, err := m.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: token.OutcomeSignal{ActionID: "act"}})
	require.NoError(t, err)
	require.Equal(t, "act", learned.Receipt.ID)
	merged, err := m.Consolidate(ctx, substrate.ConsolidateRequest{Scope: "all"})
	require.NoError(t, err)
	require.Equal(t, "all", merged.Receipt.ID)
	topology, err := m.TopologyAnalyze(ctx, substrate.TopologyAnalyzeRequest{NodeIDs: []string{"a", "b"}})
	require.NoError(t, err)
	require.Equal(t, 2.0, topology.MaxKappa)
	for _, op := range substrate.Operations() {
		if op.Slot() == substrate.SlotMemory {
			require.Equal(t, op != substrate.OpErase, m.Supports(op), op)
		}
	}
}

func allow(context.Context, substrate.CheckPolicyRequest) (substrate.Verdict, error) {
	return substrate.Allow(), nil
}

type plainAuth struct{ substrate.Auth }

type erasing struct{ substrate.Memory }

func (erasing) Erase(context.Context, substrate.EraseRequest) (substrate.Receipt, error) {
	return substrate.Receipt{}, nil
}
