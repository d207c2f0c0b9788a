package substrate

import "context"

// PolicyFunc is a [Policy] that can check and nothing else. Use [PolicyFuncs]
// for both operations.
type PolicyFunc func(context.Context, CheckPolicyRequest) (Verdict, error)

// CheckPolicy calls f.
func (f PolicyFunc) CheckPolicy(ctx context.Context, r CheckPolicyRequest) (Verdict, error) {
	return f.funcs().CheckPolicy(ctx, r)
}

// ComputeEffective answers errors.ErrUnsupported.
func (f PolicyFunc) ComputeEffective(ctx context.Context, r ComputeEffectiveRequest) (EffectivePolicy, error) {
	return f.funcs().ComputeEffective(ctx, r)
}

// Supports reports whether op is policy.check_policy and f is not nil.
func (f PolicyFunc) Supports(op Operation) bool { return f.funcs().Supports(op) }

func (f PolicyFunc) funcs() PolicyFuncs { return PolicyFuncs{CheckPolicyFunc: f} }

// AuditFunc is an [Audit] that can append and nothing else. Use [AuditFuncs] for
// both operations.
type AuditFunc func(context.Context, AppendEventRequest) (Receipt, error)

// AppendEvent calls f.
func (f AuditFunc) AppendEvent(ctx context.Context, r AppendEventRequest) (Receipt, error) {
	return f.funcs().AppendEvent(ctx, r)
}

// QueryByTrace answers errors.ErrUnsupported.
func (f AuditFunc) QueryByTrace(ctx context.Context, r QueryByTraceRequest) ([]AuditEvent, error) {
	return f.funcs().QueryByTrace(ctx, r)
}

// Supports reports whether op is audit.append_event and f is not nil.
func (f AuditFunc) Supports(op Operation) bool { return f.funcs().Supports(op) }

func (f AuditFunc) funcs() AuditFuncs { return AuditFuncs{AppendEventFunc: f} }

// AuthFunc is an [Auth] that can check permissions and nothing else. Use
// [AuthFuncs] for both operations.
type AuthFunc func(context.Context, PermissionCheckRequest) (Verdict, error)

// PermissionCheck calls f.
func (f AuthFunc) PermissionCheck(ctx context.Context, r PermissionCheckRequest) (Verdict, error) {
	return f.funcs().PermissionCheck(ctx, r)
}

// AgentLifecycle answers errors.ErrUnsupported.
func (f AuthFunc) AgentLifecycle(ctx context.Context, r AgentLifecycleRequest) (LifecycleState, error) {
	return f.funcs().AgentLifecycle(ctx, r)
}

// Supports reports whether op is auth.permission_check and f is not nil.
func (f AuthFunc) Supports(op Operation) bool { return f.funcs().Supports(op) }

func (f AuthFunc) funcs() AuthFuncs { return AuthFuncs{PermissionCheckFunc: f} }
