package manifest

// Kind is the kind of a phase (OS-010 §3.2).
type Kind string

// The five canonical kinds, and the escape hatch.
const (
	KindRetrieve    Kind = "retrieve"
	KindRoute       Kind = "route"
	KindAct         Kind = "act"
	KindLearn       Kind = "learn"
	KindConsolidate Kind = "consolidate"
	KindCustom      Kind = "custom"
)

// OnFailure says what follows when a phase fails (OS-010 §5.4, C-042).
type OnFailure string

// The five directives.
const (
	FailRetry     OnFailure = "retry"
	FailRollback  OnFailure = "rollback"
	FailEscalate  OnFailure = "escalate"
	FailSkip      OnFailure = "skip"
	FailAbortLoop OnFailure = "abort_loop"
)

// OrDefault gives the directive, abort_loop if there is none.
func (o OnFailure) OrDefault() OnFailure { return orDefault(o, FailAbortLoop) }

// Guarantee says when the closing output is visible to the next iteration
// (OS-010 §4, C-047).
type Guarantee string

// The three guarantees.
const (
	GuaranteeEventual  Guarantee = "eventual"
	GuaranteeImmediate Guarantee = "immediate"
	GuaranteeNextTick  Guarantee = "next_tick"
)

// OrDefault gives the guarantee, eventual if there is none.
func (g Guarantee) OrDefault() Guarantee { return orDefault(g, GuaranteeEventual) }

// CadenceType is what starts an iteration (OS-010 §3.3).
type CadenceType string

// The six cadence types.
const (
	CadenceEvent           CadenceType = "event"
	CadencePeriodic        CadenceType = "periodic"
	CadenceStreaming       CadenceType = "streaming"
	CadenceIdle            CadenceType = "idle"
	CadenceCrossLoopSignal CadenceType = "cross_loop_signal"
	CadenceManual          CadenceType = "manual"
)

// Wait says how long the outer phase waits for an inner loop (OS-010 §11.2).
type Wait string

// The four wait modes.
const (
	WaitUntilStable Wait = "until_stable"
	WaitUntilDone   Wait = "until_done"
	WaitFireForget  Wait = "fire_forget"
	WaitBounded     Wait = "bounded"
)

// OrDefault gives the wait mode, until_stable if there is none (C-085).
func (w Wait) OrDefault() Wait { return orDefault(w, WaitUntilStable) }

// ConnectionCadence says whether the emitting phase waits for the receipt of a
// token (C-057).
type ConnectionCadence string

// The two connection cadences.
const (
	ConnectionAsync ConnectionCadence = "async"
	ConnectionSync  ConnectionCadence = "sync"
)

// OrDefault gives the cadence, async if there is none.
func (c ConnectionCadence) OrDefault() ConnectionCadence { return orDefault(c, ConnectionAsync) }

// Delivery is the delivery guarantee of a connection (OS-010 §10.2).
type Delivery string

// The three delivery modes.
const (
	DeliveryAtLeastOnce Delivery = "at_least_once"
	DeliveryAtMostOnce  Delivery = "at_most_once"
	DeliveryExactlyOnce Delivery = "exactly_once"
)

// OrDefault gives the delivery mode, at_least_once if there is none.
func (d Delivery) OrDefault() Delivery { return orDefault(d, DeliveryAtLeastOnce) }

// Overflow says what happens at a connection's max_inflight (OS-010 §10.3).
type Overflow string

// The four overflow policies.
const (
	OverflowBlock      Overflow = "block"
	OverflowDropOldest Overflow = "drop_oldest"
	OverflowDropNewest Overflow = "drop_newest"
	OverflowEscalate   Overflow = "escalate"
)

// OrDefault gives the policy, block if there is none.
func (o Overflow) OrDefault() Overflow { return orDefault(o, OverflowBlock) }

// WorkspaceScope says whether an iteration belongs to a workspace (OS-010 §4, C-031).
type WorkspaceScope string

// The three scopes.
const (
	ScopeRequired WorkspaceScope = "required"
	ScopeOptional WorkspaceScope = "optional"
	ScopeGlobal   WorkspaceScope = "global"
)

// OrDefault gives the scope, required if there is none.
func (s WorkspaceScope) OrDefault() WorkspaceScope { return orDefault(s, ScopeRequired) }

// Slot is one of the six substrate slots (OS-010 §3.4).
type Slot string

// The six slots; the first four are required.
const (
	SlotMemory    Slot = "memory"
	SlotPolicy    Slot = "policy"
	SlotAudit     Slot = "audit"
	SlotAuth      Slot = "auth"
	SlotTransport Slot = "transport"
	SlotTime      Slot = "time"
)

const requiredSlots = 4

// Invariant is one of the seven invariants (OS-010 §7).
type Invariant string

// The seven invariants.
const (
	PhaseAtomicity       Invariant = "phase_atomicity"
	FeedbackImmutability Invariant = "feedback_immutability"
	AppendOnlyAudit      Invariant = "append_only_audit"
	KappaRouting         Invariant = "kappa_routing"
	QuorumBeforeCommit   Invariant = "quorum_before_commit"
	OutcomeGrounding     Invariant = "outcome_grounding"
	TraceIDPropagation   Invariant = "trace_id_propagation"
)

// Kinds gives the six kinds of phases.
func Kinds() []Kind {
	return []Kind{KindRetrieve, KindRoute, KindAct, KindLearn, KindConsolidate, KindCustom}
}

// CadenceTypes gives the six cadence types.
func CadenceTypes() []CadenceType {
	return []CadenceType{CadenceEvent, CadencePeriodic, CadenceStreaming, CadenceIdle, CadenceCrossLoopSignal, CadenceManual}
}

// Slots gives the six substrate slots.
func Slots() []Slot {
	return []Slot{SlotMemory, SlotPolicy, SlotAudit, SlotAuth, SlotTransport, SlotTime}
}

// Invariants gives the seven invariants.
func Invariants() []Invariant {
	return []Invariant{PhaseAtomicity, FeedbackImmutability, AppendOnlyAudit, KappaRouting,
		QuorumBeforeCommit, OutcomeGrounding, TraceIDPropagation}
}

// AllInvariants gives a map with all seven invariants on.
func AllInvariants() map[Invariant]bool {
	m := make(map[Invariant]bool, 7)
	for _, i := range Invariants() {
		m[i] = true
	}
	return m
}

// Defaults of the rulings, and the one value of an enumeration with one value.
const (
	DefaultMaxRetries = 3                  // C-042
	DefaultVia        = "substrate:memory" // C-047
	Envelope          = "cloudevents.v1"   // C-081
)

func orDefault[T ~string](v, otherwise T) T {
	if v == "" {
		return otherwise
	}
	return v
}

func (Kind) values() []string { return texts(Kinds()...) }
func (OnFailure) values() []string {
	return texts(FailRetry, FailRollback, FailEscalate, FailSkip, FailAbortLoop)
}
func (Guarantee) values() []string {
	return texts(GuaranteeEventual, GuaranteeImmediate, GuaranteeNextTick)
}
func (CadenceType) values() []string { return texts(CadenceTypes()...) }
func (Wait) values() []string {
	return texts(WaitUntilStable, WaitUntilDone, WaitFireForget, WaitBounded)
}
func (ConnectionCadence) values() []string { return texts(ConnectionAsync, ConnectionSync) }
func (Delivery) values() []string {
	return texts(DeliveryAtLeastOnce, DeliveryAtMostOnce, DeliveryExactlyOnce)
}
func (Overflow) values() []string {
	return texts(OverflowBlock, OverflowDropOldest, OverflowDropNewest, OverflowEscalate)
}
func (WorkspaceScope) values() []string {
	return texts(ScopeRequired, ScopeOptional, ScopeGlobal)
}
func (Slot) values() []string { return texts(Slots()...) }
