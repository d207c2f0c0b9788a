package pulsetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

// ActiveState is the state of an agent of which [Auth] knows nothing else. An
// agent in any other state may do nothing.
const ActiveState = "active"

// Auth is a [substrate.Auth] in memory. It allows every named agent every
// operation unless it is denied or the agent is not active. Its limits: agents
// are the same in all workspaces, and nothing is authenticated.
//
// A check costs no allocation.
type Auth struct {
	CallLog

	mu     sync.RWMutex
	denied map[permission]string
	states map[string]string
}

var _ substrate.Auth = (*Auth)(nil)

type permission struct{ agent, operation string }

// Deny denies the agent the operation: a loop's id, or "<loop>/<phase>". An
// empty operation denies it all. The reason is "denied by the test" if empty.
func (a *Auth) Deny(agentID, operation, reason string) {
	if reason == "" {
		reason = "denied by the test"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.denied == nil {
		a.denied = make(map[permission]string)
	}
	a.denied[permission{agentID, operation}] = reason
}

// SetState puts the agent into a state of its lifecycle.
func (a *Auth) SetState(agentID, state string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.states == nil {
		a.states = make(map[string]string)
	}
	a.states[agentID] = state
}

// PermissionCheck denies a call without an agent, of an agent that is not
// active, or of what [Auth.Deny] names; it allows everything else.
func (a *Auth) PermissionCheck(ctx context.Context, r substrate.PermissionCheckRequest) (substrate.Verdict, error) {
	var verdict substrate.Verdict
	err := a.enter(ctx, substrate.OpPermissionCheck)
	if err == nil {
		verdict = a.verdict(r.AgentID, r.Operation)
	}
	a.leave(substrate.OpPermissionCheck, &r.Origination, r.AgentID, r.Operation, err)
	return verdict, err
}

func (a *Auth) verdict(agent, operation string) substrate.Verdict {
	if agent == "" {
		return substrate.Deny("the call names no agent")
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if state := a.state(agent); state != ActiveState {
		return substrate.Deny(fmt.Sprintf("agent %s is %s", agent, state))
	}
	if reason, ok := a.denied[permission{agent, ""}]; ok {
		return substrate.Deny(reason)
	}
	if reason, ok := a.denied[permission{agent, operation}]; ok {
		return substrate.Deny(reason)
	}
	return substrate.Allow()
}

// AgentLifecycle returns the agent's state, [ActiveState] unless set.
func (a *Auth) AgentLifecycle(ctx context.Context, r substrate.AgentLifecycleRequest) (substrate.LifecycleState, error) {
	var out substrate.LifecycleState
	err := a.enter(ctx, substrate.OpAgentLifecycle)
	if err == nil {
		a.mu.RLock()
		out.State = a.state(r.AgentID)
		a.mu.RUnlock()
	}
	a.leave(substrate.OpAgentLifecycle, &r.Origination, r.AgentID, "", err)
	return out, err
}

func (a *Auth) state(agent string) string {
	if state, ok := a.states[agent]; ok {
		return state
	}
	return ActiveState
}
