package substrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

func TestOperations(t *testing.T) {
	spec.Covers(t, "P-9-1", "C-102")
	want := []struct {
		op      substrate.Operation
		slot    substrate.Slot
		mutates bool
	}{
		{"memory.retrieve_context", "memory", false},
		{"memory.store_node", "memory", true},
		{"memory.store_edge", "memory", true},
		{"memory.learn_from_outcome", "memory", true},
		{"memory.consolidate", "memory", true},
		{"memory.topology_analyze", "memory", false},
		{"memory.erase", "memory", true},
		{"policy.check_policy", "policy", false},
		{"policy.compute_effective", "policy", false},
		{"audit.append_event", "audit", true},
		{"audit.query_by_trace", "audit", false},
		{"auth.permission_check", "auth", false},
		{"auth.agent_lifecycle", "auth", false},
		{"time.at_timescale", "time", false},
		{"time.forecast", "time", false},
	}
	ops := substrate.Operations()
	require.Len(t, ops, len(want))
	for i, w := range want {
		require.Equal(t, w.op, ops[i])
		require.Equal(t, w.slot, w.op.Slot(), w.op)
		require.Equal(t, w.mutates, w.op.Mutates(), w.op)
		require.True(t, w.op.Known(), w.op)
	}
}

func TestForeignOperation(t *testing.T) {
	spec.Covers(t, "P-3.4-1", "C-096")
	for op, slot := range map[substrate.Operation]substrate.Slot{
		"memory.vector_search": "memory",
		"transport.send":       "transport",
		"storage.put":          "",
		"memory":               "",
		"":                     "",
		".store_node":          "",
	} {
		require.Equal(t, slot, op.Slot(), "slot of %q", op)
		require.False(t, op.Known(), "%q is not an operation of OS-010 §9", op)
		require.False(t, op.Mutates(), op)
	}
}

// The interface of the log must not grow a way to change what it holds.
func TestAuditHasNoOperationThatRewrites(t *testing.T) {
	spec.Covers(t, "P-3.4-4", "P-7.3-5")
	var mutating []substrate.Operation
	for _, op := range substrate.Operations() {
		if op.Slot() == substrate.SlotAudit && op.Mutates() {
			mutating = append(mutating, op)
		}
	}
	require.Equal(t, []substrate.Operation{substrate.OpAppendEvent}, mutating)
	require.Equal(t, []string{"AppendEvent", "QueryByTrace"}, methods[substrate.Audit]())
}

func TestInterfacesAreTheContracts(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-3.4-2", "P-3.4-3", "P-3.4-5")
	require.Equal(t, []string{"Consolidate", "LearnFromOutcome", "RetrieveContext", "StoreEdge", "StoreNode", "TopologyAnalyze"}, methods[substrate.Memory]())
	require.Equal(t, []string{"CheckPolicy", "ComputeEffective"}, methods[substrate.Policy]())
	require.Equal(t, []string{"AgentLifecycle", "PermissionCheck"}, methods[substrate.Auth]())
	require.Equal(t, []string{"AtTimescale", "Forecast"}, methods[substrate.Time]())
}

// A retrieve phase is handed a Reader: it has no method that mutates.
func TestReaderOnlyReads(t *testing.T) {
	spec.Covers(t, "P-3.2-2")
	require.Equal(t, []string{"RetrieveContext", "TopologyAnalyze"}, methods[substrate.Reader]())
}

func TestSlotsAreThoseOfTheManifest(t *testing.T) {
	spec.Covers(t, "P-16.1-1", "P-3.4-1")
	require.Equal(t, []manifest.Slot{
		substrate.SlotMemory, substrate.SlotPolicy, substrate.SlotAudit,
		substrate.SlotAuth, substrate.SlotTransport, substrate.SlotTime,
	}, manifest.Slots())
}
