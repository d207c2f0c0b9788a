package substrate

import (
	"context"
	"encoding/json"

	"github.com/opensentience/pulse-go/token"
)

// Memory is the shared knowledge graph of a workspace (OS-010 §9.1). One value
// may serve several workspaces: a call sees and changes only the workspace in
// its [Origination] (C-095).
type Memory interface {
	Reader

	// StoreNode appends a node and returns its id. It is not idempotent by
	// itself: two calls store two nodes. A call whose DedupeKey was seen before
	// stores nothing and returns the id of the node stored then (C-040). It
	// never overwrites: a node whose own ID is taken is ErrNodeExists, because
	// history is not rewritten (OS-010 §7.2).
	StoreNode(context.Context, StoreNodeRequest) (Receipt, error)

	// StoreEdge adds the edge (source, destination, type). It is idempotent:
	// the same three again give the same id. An end that is not a node of the
	// workspace is ErrNodeNotFound.
	StoreEdge(context.Context, StoreEdgeRequest) (Receipt, error)

	// LearnFromOutcome adjusts the confidence of the nodes that the signal
	// names as causal parents and appends the attribution. It is idempotent:
	// the same signal again changes nothing. Attributions are never changed or
	// removed; a second, different outcome of the same action appends another
	// (OS-010 §7.2). Parents that are not nodes of the workspace are passed over.
	LearnFromOutcome(context.Context, LearnFromOutcomeRequest) (LearnFromOutcomeResponse, error)

	// Consolidate compresses, merges or promotes what lies in the scope. It is
	// idempotent: once it has converged, calling it again changes nothing.
	Consolidate(context.Context, ConsolidateRequest) (ConsolidateResponse, error)
}

// Reader is the part of [Memory] that changes nothing: what retrieve and route
// phases see (OS-010 §3.2).
type Reader interface {
	// RetrieveContext returns at most K nodes that match the query, the best
	// first, and the topology between them. It is idempotent: without a
	// mutation in between, equal requests have equal answers.
	RetrieveContext(context.Context, RetrieveContextRequest) (RetrieveContextResponse, error)

	// TopologyAnalyze returns the strongly connected components and κ of the
	// given nodes, or of the whole workspace where none are given. It is
	// idempotent. Ids that are not nodes of the workspace are passed over.
	TopologyAnalyze(context.Context, TopologyAnalyzeRequest) (token.TopologyContext, error)
}

// Node is a belief in memory (C-054). Its content is opaque to the library.
type Node struct {
	ID         string          `json:"id,omitempty"` // empty in a StoreNodeRequest: memory assigns one
	Type       string          `json:"type,omitempty"`
	Content    json.RawMessage `json:"content,omitempty"`
	Confidence float64         `json:"confidence"`        // in [0, 1]
	Loop       string          `json:"loop_id,omitempty"` // the loop that stored it; set by memory from the call context
}

// Edge is a typed, directed edge between two nodes of one workspace (C-054).
type Edge struct {
	ID   string `json:"id,omitempty"`
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	Type string `json:"type"`
}

// ConfidenceUpdate is the change of one node's confidence (C-054). Before and
// After are in [0, 1].
type ConfidenceUpdate struct {
	NodeID string  `json:"node_id"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// RetrieveContextRequest is the input of [OpRetrieveContext].
type RetrieveContextRequest struct {
	Origination
	Query    string `json:"query"`
	K        int    `json:"k"`                   // how many nodes at most; zero or less gives none
	FromLoop string `json:"from_loop,omitempty"` // only nodes that this loop stored; empty: all (C-085)
}

// RetrieveContextResponse is the output of [OpRetrieveContext].
type RetrieveContextResponse struct {
	Nodes    []Node                `json:"nodes"` // the best match first
	Topology token.TopologyContext `json:"topology"`
}

// StoreNodeRequest is the input of [OpStoreNode].
type StoreNodeRequest struct {
	Origination
	Node Node `json:"node"`
}

// StoreEdgeRequest is the input of [OpStoreEdge].
type StoreEdgeRequest struct {
	Origination
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	Type string `json:"type"`
}

// LearnFromOutcomeRequest is the input of [OpLearnFromOutcome].
type LearnFromOutcomeRequest struct {
	Origination
	Signal token.OutcomeSignal `json:"signal"`
}

// LearnFromOutcomeResponse is the output of [OpLearnFromOutcome]. The receipt's
// id is that of the attribution.
type LearnFromOutcomeResponse struct {
	Receipt Receipt            `json:"receipt"`
	Updates []ConfidenceUpdate `json:"updates"`
}

// ConsolidateRequest is the input of [OpConsolidate]. What a scope text means is
// the substrate's; the empty scope is the whole workspace.
type ConsolidateRequest struct {
	Origination
	Scope string `json:"scope,omitempty"`
}

// ConsolidateResponse is the output of [OpConsolidate].
type ConsolidateResponse struct {
	Receipt Receipt                  `json:"receipt"`
	Event   token.ConsolidationEvent `json:"event"`
}

// TopologyAnalyzeRequest is the input of [OpTopologyAnalyze].
type TopologyAnalyzeRequest struct {
	Origination
	NodeIDs  []string `json:"node_ids,omitempty"`  // none: all nodes of the workspace
	FromLoop string   `json:"from_loop,omitempty"` // only nodes that this loop stored; empty: all (C-085)
}
