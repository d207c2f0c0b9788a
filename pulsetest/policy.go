package pulsetest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

// Policy is a [substrate.Policy] in memory. It allows what no rule denies; that
// is for tests, where a policy worth the name allows what a rule permits. Its
// limits: rules match exact texts, and there are no costs, roles or delegation.
//
// A check costs no allocation.
type Policy struct {
	CallLog

	mu    sync.RWMutex
	rules []DenyRule
}

var _ substrate.Policy = (*Policy)(nil)

// DenyRule denies the checks that it matches. An empty Workspace, Actor, Action
// or Resource matches any.
type DenyRule struct {
	Workspace string `json:"workspace_id,omitempty"`
	Actor     string `json:"actor,omitempty"`
	Action    string `json:"action,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Reason    string `json:"reason"` // "denied by a rule of the test" if empty
}

// Deny adds a rule.
func (p *Policy) Deny(rule DenyRule) {
	if rule.Reason == "" {
		rule.Reason = "denied by a rule of the test"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, rule)
}

// AllowAll removes every rule.
func (p *Policy) AllowAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// CheckPolicy denies by the first rule that matches and allows otherwise.
func (p *Policy) CheckPolicy(ctx context.Context, r substrate.CheckPolicyRequest) (substrate.Verdict, error) {
	var verdict substrate.Verdict
	err := p.enter(ctx, substrate.OpCheckPolicy)
	if err == nil {
		verdict = p.verdict(&r)
	}
	p.leave(substrate.OpCheckPolicy, &r.Origination, r.Action, r.Resource, err)
	return verdict, err
}

func (p *Policy) verdict(r *substrate.CheckPolicyRequest) substrate.Verdict {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range p.rules {
		rule := &p.rules[i]
		if matches(rule.Workspace, r.Workspace) && matches(rule.Actor, r.Actor) &&
			matches(rule.Action, r.Action) && matches(rule.Resource, r.Resource) {
			return substrate.Deny(rule.Reason)
		}
	}
	return substrate.Allow()
}

// ComputeEffective returns {"org_id", "deny"}: the rules that hold in the
// workspace of the call. They are the same for every organization.
func (p *Policy) ComputeEffective(ctx context.Context, r substrate.ComputeEffectiveRequest) (substrate.EffectivePolicy, error) {
	var out substrate.EffectivePolicy
	err := p.enter(ctx, substrate.OpComputeEffective)
	if err == nil {
		out.Document, err = p.effective(r.Workspace, r.OrgID)
	}
	p.leave(substrate.OpComputeEffective, &r.Origination, r.OrgID, "", err)
	return out, err
}

func (p *Policy) effective(workspace, org string) (json.RawMessage, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	rules := []DenyRule{}
	for _, rule := range p.rules {
		if matches(rule.Workspace, workspace) {
			rules = append(rules, rule)
		}
	}
	return json.Marshal(struct {
		OrgID string     `json:"org_id"`
		Deny  []DenyRule `json:"deny"`
	}{org, rules})
}

func matches(pattern, text string) bool { return pattern == "" || pattern == text }
