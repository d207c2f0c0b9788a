package substrate

import (
	"context"
	"encoding/json"
)

// Auth knows agents and their permissions (OS-010 §9.4). The engine asks it at
// the start of an iteration and before each phase (C-097). An answer that cannot
// be had counts as deny.
type Auth interface {
	// PermissionCheck says whether the agent may perform the operation. It
	// changes nothing and may be repeated. A denial is a verdict with a reason
	// and not an error.
	PermissionCheck(context.Context, PermissionCheckRequest) (Verdict, error)

	// AgentLifecycle returns the state in which the agent is. It changes
	// nothing and may be repeated.
	AgentLifecycle(context.Context, AgentLifecycleRequest) (LifecycleState, error)
}

// PermissionCheckRequest is the input of [OpPermissionCheck].
type PermissionCheckRequest struct {
	Origination
	AgentID   string `json:"agent_id"`
	Operation string `json:"operation"` // the loop's id at the start of an iteration, "<loop>/<phase>" before a phase
}

// AgentLifecycleRequest is the input of [OpAgentLifecycle].
type AgentLifecycleRequest struct {
	Origination
	AgentID string `json:"agent_id"`
}

// LifecycleState is the state of an agent. OS-010 does not list the states: the
// name and the document are the substrate's own (C-101).
type LifecycleState struct {
	State    string          `json:"state"`
	Document json.RawMessage `json:"document,omitempty"`
}
