package substrate

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/manifest"
)

// Slot names one of the six places in which a loop refers to infrastructure
// (OS-010 §3.4).
type Slot = manifest.Slot

// The six slots of OS-010 §3.4. The set is fixed until 1.0 (OS-010 §16.1).
const (
	SlotMemory    = manifest.SlotMemory    // shared knowledge graph
	SlotPolicy    = manifest.SlotPolicy    // authorization and cost enforcement
	SlotAudit     = manifest.SlotAudit     // append-only log of mutations
	SlotAuth      = manifest.SlotAuth      // permissions and agent lifecycle
	SlotTransport = manifest.SlotTransport // how phases and loops call each other; no operations (C-096)
	SlotTime      = manifest.SlotTime      // reasoning over several timescales; optional
)

// Operation is the id of a substrate operation, "<slot>.<name>", as effect rows
// write it (v0.2, addition 2).
type Operation string

// The operations of OS-010 §9, and the optional erasure of C-102.
const (
	OpRetrieveContext  Operation = "memory.retrieve_context"
	OpStoreNode        Operation = "memory.store_node"
	OpStoreEdge        Operation = "memory.store_edge"
	OpLearnFromOutcome Operation = "memory.learn_from_outcome"
	OpConsolidate      Operation = "memory.consolidate"
	OpTopologyAnalyze  Operation = "memory.topology_analyze"
	OpErase            Operation = "memory.erase"

	OpCheckPolicy      Operation = "policy.check_policy"
	OpComputeEffective Operation = "policy.compute_effective"

	OpAppendEvent  Operation = "audit.append_event"
	OpQueryByTrace Operation = "audit.query_by_trace"

	OpPermissionCheck Operation = "auth.permission_check"
	OpAgentLifecycle  Operation = "auth.agent_lifecycle"

	OpAtTimescale Operation = "time.at_timescale"
	OpForecast    Operation = "time.forecast"
)

// Operations returns every operation of OS-010 §9 in its order, with
// [OpErase] after the other operations of memory.
func Operations() []Operation {
	return []Operation{
		OpRetrieveContext, OpStoreNode, OpStoreEdge, OpLearnFromOutcome, OpConsolidate, OpTopologyAnalyze, OpErase,
		OpCheckPolicy, OpComputeEffective,
		OpAppendEvent, OpQueryByTrace,
		OpPermissionCheck, OpAgentLifecycle,
		OpAtTimescale, OpForecast,
	}
}

// Known reports whether op is one of [Operations]. A host's own operation is
// not; see [HostOperation].
func (op Operation) Known() bool {
	switch op {
	case OpRetrieveContext, OpTopologyAnalyze, OpCheckPolicy, OpComputeEffective, OpQueryByTrace,
		OpPermissionCheck, OpAgentLifecycle, OpAtTimescale, OpForecast:
		return true
	}
	return op.Mutates()
}

// Slot returns the slot to which op belongs: the text before its first dot. It
// is empty where that is not one of the six slots.
func (op Operation) Slot() Slot {
	prefix, _, ok := strings.Cut(string(op), ".")
	if slot := Slot(prefix); ok && slices.Contains(manifest.Slots(), slot) {
		return slot
	}
	return ""
}

// Mutates reports whether op, one of [Operations], changes what its substrate
// holds. It is false for every other text: a host's operation says so itself.
func (op Operation) Mutates() bool {
	switch op {
	case OpStoreNode, OpStoreEdge, OpLearnFromOutcome, OpConsolidate, OpErase, OpAppendEvent:
		return true
	}
	return false
}
