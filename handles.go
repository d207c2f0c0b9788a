package pulse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

const (
	slotMemory = iota
	slotPolicy
	slotAudit
	slotAuth
	slotTime
	slots
)

var slotNames = [slots]substrate.Slot{
	substrate.SlotMemory, substrate.SlotPolicy, substrate.SlotAudit, substrate.SlotAuth, substrate.SlotTime,
}

func slotOf(op substrate.Operation) int {
	return slices.Index(slotNames[:], op.Slot())
}

// Handles gives substrates that resolve from the context of each call: build a
// handler with them once and it works in every phase, of every loop and
// workspace. Outside a phase they answer [ErrNoCall]; a unit test passes the
// handler a substrate of its own instead.
//
// A handle is narrowed by the phase's role (a retrieve or route phase only reads;
// C-091 for learn), fills the call context of each request, and is closed when
// the attempt is over.
func Handles() substrate.Set {
	return substrate.Set{
		Memory: memoryHandle{}, Policy: policyHandle{}, Audit: auditHandle{}, Auth: authHandle{}, Time: timeHandle{},
	}
}

// opened is a substrate call under way.
type opened struct {
	c       *Call
	ctx     context.Context
	set     *substrate.Set
	op      substrate.Operation
	slot    int
	mutates bool
	index   int // in c.calls
	orig    substrate.Origination
}

// errExited is the error of a mutation from when it is begun until it returns: a
// substrate that calls runtime.Goexit has done nothing that could be audited.
var errExited = errors.New("pulse: the substrate did not return")

// open admits a call through a handle: the attempt is not over, the role may,
// and no call of an earlier attempt is under way on the slot.
func open(ctx context.Context, op substrate.Operation) (opened, error) {
	c, err := CallFrom(ctx)
	if err != nil {
		return opened{}, fmt.Errorf("%s: %w", op, err)
	}
	return c.open(ctx, op, op.Mutates(), substrate.Allowed(c.phase.role, op))
}

func (c *Call) open(ctx context.Context, op substrate.Operation, mutates bool, refusal error) (opened, error) {
	slot := slotOf(op)
	if refusal != nil {
		c.mu.Lock()
		c.calls = append(c.calls, invariant.Call{Operation: op, Mutates: mutates, Refused: true})
		c.mu.Unlock()
		return opened{}, refusal
	}
	for _, earlier := range c.earlier {
		if err := earlier.quiet(ctx, slot); err != nil {
			return opened{}, fmt.Errorf("pulse: %s: %w", op, err)
		}
	}
	c.mu.Lock()
	if c.isOver() {
		c.mu.Unlock()
		return opened{}, c.overError(string(op))
	}
	c.ordinal++
	o := opened{c: c, ctx: ctx, set: c.run.set, op: op, slot: slot, mutates: mutates, index: len(c.calls)}
	o.orig = c.origination(c.ordinal, c.sig)
	c.inflight[slot]++
	c.calls = append(c.calls, invariant.Call{Operation: op, Mutates: mutates, UnderWay: true})
	c.mu.Unlock()
	tx, err := c.begin(ctx, slot, mutates)
	if err != nil {
		o.leave(nil, &err)
		return opened{}, err
	}
	o.orig.Transaction = tx
	return o, nil
}

// admit fills the call context of a request. A request that names another
// workspace is refused before the substrate sees it (C-095).
func (o *opened) admit(req *substrate.Origination) error {
	if req.Workspace != "" && req.Workspace != o.orig.Workspace {
		o.mutates = false // nothing happened
		return fmt.Errorf("pulse: loop %s: phase %s: %s: %w", o.c.Loop(), o.c.phase.id, o.op, substrate.CheckWorkspace(req.Workspace, o.orig))
	}
	*req = o.orig
	return nil
}

// leave ends a call: a panic of the substrate becomes an error, a mutation is
// audited before its handle returns (OS-010 §7.3), and what came back is noted
// for the invariants.
func (o *opened) leave(rc *substrate.Receipt, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
	c := o.c
	c.mu.Lock()
	late := c.isOver()
	c.mu.Unlock()
	audited := false
	if o.mutates && *err == nil {
		ae := c.auditMutation(o, rc, late)
		audited = ae == nil
		if ae != nil {
			*err = ae
			c.spoil(ae)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := &c.calls[o.index]
	call.UnderWay, call.Audited = false, audited
	if rc != nil && *err == nil {
		call.Echoes, call.EchoedTrace = true, rc.TraceID
	}
	c.inflight[o.slot]--
	if c.idle != nil && !c.busy() {
		close(c.idle)
		c.idle = nil
	}
}

// spoil makes sure that the attempt cannot succeed any more.
func (c *Call) spoil(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
	}
}

// through makes one call through a handle: it is admitted, given its call context,
// made, and left, whatever the substrate does. orig is the call context of the
// request, receipt finds the receipt in the answer of a call that changes something.
func through[Resp any](
	ctx context.Context, op substrate.Operation, orig *substrate.Origination,
	receipt func(*Resp) *substrate.Receipt, call func(*opened) (Resp, error),
) (resp Resp, err error) {
	o, err := open(ctx, op)
	if err != nil {
		return resp, err
	}
	var rc *substrate.Receipt
	if receipt != nil {
		rc = receipt(&resp)
	}
	defer o.leave(rc, &err)
	if err := o.admit(orig); err != nil {
		return resp, err
	}
	err = errExited // unless the call returns
	return call(&o)
}

// itself finds the receipt in an answer that is nothing else.
func itself(rc *substrate.Receipt) *substrate.Receipt { return rc }

type memoryHandle struct{}

func (memoryHandle) RetrieveContext(ctx context.Context, req substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
	return through(ctx, substrate.OpRetrieveContext, &req.Origination, nil, func(o *opened) (substrate.RetrieveContextResponse, error) {
		resp, err := o.set.Memory.RetrieveContext(ctx, req)
		if err == nil {
			o.c.saw(resp.Nodes, &resp.Topology)
		}
		return resp, err
	})
}

func (memoryHandle) TopologyAnalyze(ctx context.Context, req substrate.TopologyAnalyzeRequest) (token.TopologyContext, error) {
	return through(ctx, substrate.OpTopologyAnalyze, &req.Origination, nil, func(o *opened) (token.TopologyContext, error) {
		t, err := o.set.Memory.TopologyAnalyze(ctx, req)
		if err == nil {
			o.c.saw(nil, &t)
		}
		return t, err
	})
}

// saw keeps what a phase learned of the memory: κ counts as received when it
// came back through a handle, and retrieved nodes are the default parents of an
// act (C-092).
func (c *Call) saw(nodes []substrate.Node, t *token.TopologyContext) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range nodes {
		c.nodes = append(c.nodes, nodes[i].ID)
	}
	if t.MaxKappa > 0 || len(t.SCCs) > 0 || len(t.Nodes) > 0 {
		seen := *t
		c.seen = append(c.seen, &seen)
	}
}

func (memoryHandle) StoreNode(ctx context.Context, req substrate.StoreNodeRequest) (substrate.Receipt, error) {
	return through(ctx, substrate.OpStoreNode, &req.Origination, itself, func(o *opened) (substrate.Receipt, error) {
		return o.set.Memory.StoreNode(ctx, req)
	})
}

func (memoryHandle) StoreEdge(ctx context.Context, req substrate.StoreEdgeRequest) (substrate.Receipt, error) {
	return through(ctx, substrate.OpStoreEdge, &req.Origination, itself, func(o *opened) (substrate.Receipt, error) {
		return o.set.Memory.StoreEdge(ctx, req)
	})
}

func (memoryHandle) LearnFromOutcome(ctx context.Context, req substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
	receipt := func(r *substrate.LearnFromOutcomeResponse) *substrate.Receipt { return &r.Receipt }
	return through(ctx, substrate.OpLearnFromOutcome, &req.Origination, receipt, func(o *opened) (substrate.LearnFromOutcomeResponse, error) {
		o.c.attributed(o.index, req.Signal.CausalParentIDs)
		return o.set.Memory.LearnFromOutcome(ctx, req)
	})
}

func (c *Call) attributed(index int, parents []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[index].Parents = append([]string{}, parents...)
}

func (memoryHandle) Consolidate(ctx context.Context, req substrate.ConsolidateRequest) (substrate.ConsolidateResponse, error) {
	receipt := func(r *substrate.ConsolidateResponse) *substrate.Receipt { return &r.Receipt }
	return through(ctx, substrate.OpConsolidate, &req.Origination, receipt, func(o *opened) (substrate.ConsolidateResponse, error) {
		return o.set.Memory.Consolidate(ctx, req)
	})
}

// Erase makes the memory handle an eraser; a memory without erasure answers
// errors.ErrUnsupported (C-102).
func (memoryHandle) Erase(ctx context.Context, req substrate.EraseRequest) (substrate.Receipt, error) {
	return through(ctx, substrate.OpErase, &req.Origination, itself, func(o *opened) (substrate.Receipt, error) {
		e, ok := o.set.Memory.(substrate.Eraser)
		if !ok {
			return substrate.Receipt{}, unsupported(substrate.OpErase)
		}
		return e.Erase(ctx, req)
	})
}

type policyHandle struct{}

func (policyHandle) CheckPolicy(ctx context.Context, req substrate.CheckPolicyRequest) (substrate.Verdict, error) {
	return through(ctx, substrate.OpCheckPolicy, &req.Origination, nil, func(o *opened) (substrate.Verdict, error) {
		return o.set.Policy.CheckPolicy(ctx, req)
	})
}

func (policyHandle) ComputeEffective(ctx context.Context, req substrate.ComputeEffectiveRequest) (substrate.EffectivePolicy, error) {
	return through(ctx, substrate.OpComputeEffective, &req.Origination, nil, func(o *opened) (substrate.EffectivePolicy, error) {
		return o.set.Policy.ComputeEffective(ctx, req)
	})
}

type auditHandle struct{}

// AppendEvent appends a foreign event. Its identity (workspace, loop, iteration,
// trace) is the call's, whatever the event says.
func (auditHandle) AppendEvent(ctx context.Context, req substrate.AppendEventRequest) (substrate.Receipt, error) {
	return through(ctx, substrate.OpAppendEvent, &req.Origination, itself, func(o *opened) (substrate.Receipt, error) {
		o.mutates = false // the event is its own audit
		o.c.own(&req.Event)
		return o.set.Audit.AppendEvent(ctx, req)
	})
}

func (auditHandle) QueryByTrace(ctx context.Context, req substrate.QueryByTraceRequest) ([]substrate.AuditEvent, error) {
	return through(ctx, substrate.OpQueryByTrace, &req.Origination, nil, func(o *opened) ([]substrate.AuditEvent, error) {
		evs, err := o.set.Audit.QueryByTrace(ctx, req)
		return slices.DeleteFunc(evs, func(e substrate.AuditEvent) bool { return e.WorkspaceID != o.orig.Workspace }), err
	})
}

type authHandle struct{}

func (authHandle) PermissionCheck(ctx context.Context, req substrate.PermissionCheckRequest) (substrate.Verdict, error) {
	return through(ctx, substrate.OpPermissionCheck, &req.Origination, nil, func(o *opened) (substrate.Verdict, error) {
		return o.set.Auth.PermissionCheck(ctx, req)
	})
}

func (authHandle) AgentLifecycle(ctx context.Context, req substrate.AgentLifecycleRequest) (substrate.LifecycleState, error) {
	return through(ctx, substrate.OpAgentLifecycle, &req.Origination, nil, func(o *opened) (substrate.LifecycleState, error) {
		return o.set.Auth.AgentLifecycle(ctx, req)
	})
}

type timeHandle struct{}

func (timeHandle) AtTimescale(ctx context.Context, req substrate.AtTimescaleRequest) (substrate.TimescaleState, error) {
	return through(ctx, substrate.OpAtTimescale, &req.Origination, nil, func(o *opened) (substrate.TimescaleState, error) {
		if o.set.Time == nil {
			return substrate.TimescaleState{}, unsupported(substrate.OpAtTimescale)
		}
		return o.set.Time.AtTimescale(ctx, req)
	})
}

func (timeHandle) Forecast(ctx context.Context, req substrate.ForecastRequest) (substrate.Forecast, error) {
	return through(ctx, substrate.OpForecast, &req.Origination, nil, func(o *opened) (substrate.Forecast, error) {
		if o.set.Time == nil {
			return substrate.Forecast{}, unsupported(substrate.OpForecast)
		}
		return o.set.Time.Forecast(ctx, req)
	})
}

// Do performs one of the host's own operations (OS-010 §9, P-9-2) from inside a
// phase, with the governance of every other substrate call.
func (c *Call) Do(ctx context.Context, op substrate.Operation, req substrate.HostRequest) (resp substrate.HostResponse, err error) {
	h, ok := c.run.set.HostOperation(op)
	if !ok {
		return resp, unsupported(op)
	}
	o, err := c.open(ctx, op, h.Mutates, substrate.AllowedHost(c.phase.role, h))
	if err != nil {
		return resp, err
	}
	var receipt *substrate.Receipt
	if h.Mutates {
		receipt = &resp.Receipt
	}
	defer o.leave(receipt, &err)
	if err := o.admit(&req.Origination); err != nil {
		return resp, err
	}
	req.Operation = op
	err = errExited
	return h.Call(ctx, req)
}

func unsupported(op substrate.Operation) error {
	return fmt.Errorf("%s: the host's substrates do not offer it: %w", op, errors.ErrUnsupported)
}
