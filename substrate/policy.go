package substrate

import (
	"context"
	"encoding/json"
)

// Policy decides what may be done (OS-010 §9.2). The engine asks it before every
// act phase and every phase with a policy_check (C-029). An answer that cannot
// be had counts as deny (C-097).
type Policy interface {
	// CheckPolicy says whether the actor of the call may perform the action on
	// the resource. It changes nothing and may be repeated. A denial is a
	// verdict with a reason and not an error.
	CheckPolicy(context.Context, CheckPolicyRequest) (Verdict, error)

	// ComputeEffective returns the policy in force for an organization. It
	// changes nothing and may be repeated.
	ComputeEffective(context.Context, ComputeEffectiveRequest) (EffectivePolicy, error)
}

// CheckPolicyRequest is the input of [OpCheckPolicy]. The actor is that of the
// [Origination].
type CheckPolicyRequest struct {
	Origination
	Action   string `json:"action"` // the phase's policy_check as written, or its id
	Resource string `json:"resource"`
}

// ComputeEffectiveRequest is the input of [OpComputeEffective].
type ComputeEffectiveRequest struct {
	Origination
	OrgID string `json:"org_id"`
}

// EffectivePolicy is a policy in force. OS-010 leaves its form open, so the
// document is the substrate's own JSON (C-101).
type EffectivePolicy struct {
	Document json.RawMessage `json:"document"`
}

// Verdict is the answer of a policy or permission check. The zero value denies.
type Verdict struct {
	Allow  bool   `json:"allow"`
	Reason string `json:"reason,omitempty"` // never empty for a denial
}

// Allow is the verdict that permits.
func Allow() Verdict { return Verdict{Allow: true} }

// Deny is the verdict that refuses, with its reason.
func Deny(reason string) Verdict { return Verdict{Reason: reason} }

// Err returns nil if the verdict allows, and a [DeniedError] otherwise.
func (v Verdict) Err(actor, action, resource string) error {
	if v.Allow {
		return nil
	}
	return &DeniedError{Actor: actor, Action: action, Resource: resource, Reason: v.Reason}
}
