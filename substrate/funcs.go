package substrate

import (
	"context"

	"github.com/opensentience/pulse-go/token"
)

// MemoryFuncs is a [Memory] made of functions. A nil function is an operation
// that the memory does not support: the call answers errors.ErrUnsupported, and
// a loop whose manifest shows that it needs it does not build (a retrieve phase
// needs RetrieveContext; effects name what they need).
//
// A memory with transactions or erasure is a type of the host's own that embeds
// MemoryFuncs and adds those methods.
type MemoryFuncs struct {
	RetrieveContextFunc  func(context.Context, RetrieveContextRequest) (RetrieveContextResponse, error)
	StoreNodeFunc        func(context.Context, StoreNodeRequest) (Receipt, error)
	StoreEdgeFunc        func(context.Context, StoreEdgeRequest) (Receipt, error)
	LearnFromOutcomeFunc func(context.Context, LearnFromOutcomeRequest) (LearnFromOutcomeResponse, error)
	ConsolidateFunc      func(context.Context, ConsolidateRequest) (ConsolidateResponse, error)
	TopologyAnalyzeFunc  func(context.Context, TopologyAnalyzeRequest) (token.TopologyContext, error)
}

// RetrieveContext calls RetrieveContextFunc.
func (f MemoryFuncs) RetrieveContext(ctx context.Context, r RetrieveContextRequest) (RetrieveContextResponse, error) {
	if f.RetrieveContextFunc == nil {
		return RetrieveContextResponse{}, Unsupported(OpRetrieveContext)
	}
	return f.RetrieveContextFunc(ctx, r)
}

// StoreNode calls StoreNodeFunc.
func (f MemoryFuncs) StoreNode(ctx context.Context, r StoreNodeRequest) (Receipt, error) {
	if f.StoreNodeFunc == nil {
		return Receipt{}, Unsupported(OpStoreNode)
	}
	return f.StoreNodeFunc(ctx, r)
}

// StoreEdge calls StoreEdgeFunc.
func (f MemoryFuncs) StoreEdge(ctx context.Context, r StoreEdgeRequest) (Receipt, error) {
	if f.StoreEdgeFunc == nil {
		return Receipt{}, Unsupported(OpStoreEdge)
	}
	return f.StoreEdgeFunc(ctx, r)
}

// LearnFromOutcome calls LearnFromOutcomeFunc.
func (f MemoryFuncs) LearnFromOutcome(ctx context.Context, r LearnFromOutcomeRequest) (LearnFromOutcomeResponse, error) {
	if f.LearnFromOutcomeFunc == nil {
		return LearnFromOutcomeResponse{}, Unsupported(OpLearnFromOutcome)
	}
	return f.LearnFromOutcomeFunc(ctx, r)
}

// Consolidate calls ConsolidateFunc.
func (f MemoryFuncs) Consolidate(ctx context.Context, r ConsolidateRequest) (ConsolidateResponse, error) {
	if f.ConsolidateFunc == nil {
		return ConsolidateResponse{}, Unsupported(OpConsolidate)
	}
	return f.ConsolidateFunc(ctx, r)
}

// TopologyAnalyze calls TopologyAnalyzeFunc.
func (f MemoryFuncs) TopologyAnalyze(ctx context.Context, r TopologyAnalyzeRequest) (token.TopologyContext, error) {
	if f.TopologyAnalyzeFunc == nil {
		return token.TopologyContext{}, Unsupported(OpTopologyAnalyze)
	}
	return f.TopologyAnalyzeFunc(ctx, r)
}

// Supports reports whether the function for op is set.
func (f MemoryFuncs) Supports(op Operation) bool {
	switch op {
	case OpRetrieveContext:
		return f.RetrieveContextFunc != nil
	case OpStoreNode:
		return f.StoreNodeFunc != nil
	case OpStoreEdge:
		return f.StoreEdgeFunc != nil
	case OpLearnFromOutcome:
		return f.LearnFromOutcomeFunc != nil
	case OpConsolidate:
		return f.ConsolidateFunc != nil
	case OpTopologyAnalyze:
		return f.TopologyAnalyzeFunc != nil
	}
	return false
}

// PolicyFuncs is a [Policy] made of functions; a nil one is unsupported.
type PolicyFuncs struct {
	CheckPolicyFunc      func(context.Context, CheckPolicyRequest) (Verdict, error)
	ComputeEffectiveFunc func(context.Context, ComputeEffectiveRequest) (EffectivePolicy, error)
}

// CheckPolicy calls CheckPolicyFunc.
func (f PolicyFuncs) CheckPolicy(ctx context.Context, r CheckPolicyRequest) (Verdict, error) {
	if f.CheckPolicyFunc == nil {
		return Verdict{}, Unsupported(OpCheckPolicy)
	}
	return f.CheckPolicyFunc(ctx, r)
}

// ComputeEffective calls ComputeEffectiveFunc.
func (f PolicyFuncs) ComputeEffective(ctx context.Context, r ComputeEffectiveRequest) (EffectivePolicy, error) {
	if f.ComputeEffectiveFunc == nil {
		return EffectivePolicy{}, Unsupported(OpComputeEffective)
	}
	return f.ComputeEffectiveFunc(ctx, r)
}

// Supports reports whether the function for op is set.
func (f PolicyFuncs) Supports(op Operation) bool {
	return op == OpCheckPolicy && f.CheckPolicyFunc != nil ||
		op == OpComputeEffective && f.ComputeEffectiveFunc != nil
}

// AuditFuncs is an [Audit] made of functions; a nil one is unsupported.
type AuditFuncs struct {
	AppendEventFunc  func(context.Context, AppendEventRequest) (Receipt, error)
	QueryByTraceFunc func(context.Context, QueryByTraceRequest) ([]AuditEvent, error)
}

// AppendEvent calls AppendEventFunc.
func (f AuditFuncs) AppendEvent(ctx context.Context, r AppendEventRequest) (Receipt, error) {
	if f.AppendEventFunc == nil {
		return Receipt{}, Unsupported(OpAppendEvent)
	}
	return f.AppendEventFunc(ctx, r)
}

// QueryByTrace calls QueryByTraceFunc.
func (f AuditFuncs) QueryByTrace(ctx context.Context, r QueryByTraceRequest) ([]AuditEvent, error) {
	if f.QueryByTraceFunc == nil {
		return nil, Unsupported(OpQueryByTrace)
	}
	return f.QueryByTraceFunc(ctx, r)
}

// Supports reports whether the function for op is set.
func (f AuditFuncs) Supports(op Operation) bool {
	return op == OpAppendEvent && f.AppendEventFunc != nil ||
		op == OpQueryByTrace && f.QueryByTraceFunc != nil
}

// AuthFuncs is an [Auth] made of functions; a nil one is unsupported.
type AuthFuncs struct {
	PermissionCheckFunc func(context.Context, PermissionCheckRequest) (Verdict, error)
	AgentLifecycleFunc  func(context.Context, AgentLifecycleRequest) (LifecycleState, error)
}

// PermissionCheck calls PermissionCheckFunc.
func (f AuthFuncs) PermissionCheck(ctx context.Context, r PermissionCheckRequest) (Verdict, error) {
	if f.PermissionCheckFunc == nil {
		return Verdict{}, Unsupported(OpPermissionCheck)
	}
	return f.PermissionCheckFunc(ctx, r)
}

// AgentLifecycle calls AgentLifecycleFunc.
func (f AuthFuncs) AgentLifecycle(ctx context.Context, r AgentLifecycleRequest) (LifecycleState, error) {
	if f.AgentLifecycleFunc == nil {
		return LifecycleState{}, Unsupported(OpAgentLifecycle)
	}
	return f.AgentLifecycleFunc(ctx, r)
}

// Supports reports whether the function for op is set.
func (f AuthFuncs) Supports(op Operation) bool {
	return op == OpPermissionCheck && f.PermissionCheckFunc != nil ||
		op == OpAgentLifecycle && f.AgentLifecycleFunc != nil
}

// TimeFuncs is a [Time] made of functions; a nil one is unsupported.
type TimeFuncs struct {
	AtTimescaleFunc func(context.Context, AtTimescaleRequest) (TimescaleState, error)
	ForecastFunc    func(context.Context, ForecastRequest) (Forecast, error)
}

// AtTimescale calls AtTimescaleFunc.
func (f TimeFuncs) AtTimescale(ctx context.Context, r AtTimescaleRequest) (TimescaleState, error) {
	if f.AtTimescaleFunc == nil {
		return TimescaleState{}, Unsupported(OpAtTimescale)
	}
	return f.AtTimescaleFunc(ctx, r)
}

// Forecast calls ForecastFunc.
func (f TimeFuncs) Forecast(ctx context.Context, r ForecastRequest) (Forecast, error) {
	if f.ForecastFunc == nil {
		return Forecast{}, Unsupported(OpForecast)
	}
	return f.ForecastFunc(ctx, r)
}

// Supports reports whether the function for op is set.
func (f TimeFuncs) Supports(op Operation) bool {
	return op == OpAtTimescale && f.AtTimescaleFunc != nil ||
		op == OpForecast && f.ForecastFunc != nil
}
