package manifest

import "encoding/json"

// Manifest declares one loop (OS-010 §4). The zero value of an optional member
// means the default that its comment names.
type Manifest struct {
	Schema          string `json:"$schema,omitempty" rule:"nonempty"`      // URI of the manifest schema, never fetched (C-009)
	ProtocolVersion string `json:"pulse_protocol_version" rule:"nonempty"` // MAJOR.MINOR[.PATCH] of the protocol (OS-010 §16, C-001)

	LoopID         string         `json:"loop_id" rule:"nonempty"` // dotted, at least two labels (C-032)
	LoopName       string         `json:"loop_name,omitempty"`
	Version        string         `json:"version" rule:"nonempty"` // semantic version of the loop itself
	Owner          string         `json:"owner,omitempty"`
	WorkspaceScope WorkspaceScope `json:"workspace_scope,omitempty" rule:"nonempty"` // default required (C-031)
	Description    string         `json:"description,omitempty"`

	Phases      []Phase            `json:"phases"`
	Closure     Closure            `json:"closure"`
	Cadence     Cadence            `json:"cadence"`
	Nesting     Nesting            `json:"nesting,omitzero"`
	Substrates  Substrates         `json:"substrates"`
	Invariants  map[Invariant]bool `json:"invariants"` // an absent key means false (C-005)
	Connections []Connection       `json:"connections,omitempty"`
	Telemetry   Telemetry          `json:"telemetry,omitzero"`

	// Extra holds members that this package does not know. They are an error
	// unless the declared patch is newer than the text the package follows (C-023).
	Extra map[string]json.RawMessage `json:"-"`

	presence
	doc *document // the text it was read from; nil for a manifest made in code
}

// Phase is one step of the loop (OS-010 §3.2, §4). Effects, Successors,
// Refinements and the tokens and substrates of Inputs and Outputs belong to
// protocol 0.2.
type Phase struct {
	ID          string `json:"id" rule:"nonempty"` // [a-z0-9_]+, unique in the loop
	Kind        Kind   `json:"kind" rule:"nonempty"`
	CustomKind  string `json:"custom_kind,omitempty" rule:"nonempty"` // for KindCustom, and only there
	Description string `json:"description,omitempty"`

	Inputs  Inputs  `json:"inputs,omitzero"`
	Outputs Outputs `json:"outputs,omitzero"`

	Idempotent  bool      `json:"idempotent,omitempty"`                 // replay the output of an equal call (OS-010 §5.2, C-038)
	Signature   string    `json:"signature,omitempty" rule:"nonempty"`  // documents the recipe: name(field, …) (C-027)
	TimeoutMS   int       `json:"timeout_ms,omitempty" rule:"positive"` // milliseconds; 0: none (C-050)
	OnFailure   OnFailure `json:"on_failure,omitempty" rule:"nonempty"` // default abort_loop (C-042)
	MaxRetries  *int      `json:"max_retries,omitempty" rule:"natural"` // further attempts under retry; nil: DefaultMaxRetries
	Invariant   Invariant `json:"invariant,omitempty" rule:"nonempty"`  // the invariant that is decided here (C-019)
	PolicyCheck string    `json:"policy_check,omitempty" rule:"nonempty"`
	AuditEvent  string    `json:"audit_event,omitempty" rule:"nonempty"` // name of the phase's audit event
	Parallel    bool      `json:"parallel,omitempty"`                    // may run beside its parallel neighbors (OS-010 §7.1, C-048)

	Effects     *Effects       `json:"effects,omitempty" since:"0.2"`     // nil: not declared, which is not the same as none
	Successors  []string       `json:"successors,omitempty" since:"0.2"`  // nil: derived; empty: none (C-134)
	Refinements map[string]any `json:"refinements,omitempty" since:"0.2"` // numbers read from a document are json.Number

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Inputs says where the input of a phase comes from (OS-010 §4) and, under 0.2,
// which tokens and slots it takes (v0.2 addition 2, C-020).
type Inputs struct {
	From       string   `json:"from,omitempty" rule:"nonempty"`   // endpoints joined by |, any of them (C-021); see ParseEndpoints
	Schema     string   `json:"schema,omitempty" rule:"nonempty"` // a type name, or a list of it: Name[]
	Tokens     []string `json:"tokens,omitempty" since:"0.2"`
	Substrates []Slot   `json:"substrates,omitempty" since:"0.2"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Outputs says where the output of a phase goes (OS-010 §4) and, under 0.2,
// which tokens every successful run produces (v0.2 addition 2, C-138).
type Outputs struct {
	To     string   `json:"to,omitempty" rule:"nonempty"` // endpoints joined by |: alternatives of a route, else all of them (C-021)
	Schema string   `json:"schema,omitempty" rule:"nonempty"`
	Tokens []string `json:"tokens,omitempty" since:"0.2"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Effects is the effect row of a phase (v0.2 addition 2).
type Effects struct {
	Calls    []string `json:"calls,omitempty"`    // operations, as memory.retrieve_context
	Mutates  []string `json:"mutates,omitempty"`  // operations that change state; need not be in Calls (C-136)
	MayEmit  []string `json:"may_emit,omitempty"` // tokens that a run may produce
	External []string `json:"external,omitempty"` // URI patterns with *

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Closure names the phase whose output the next iteration starts from (OS-010
// §1.1, §4). It is a data dependency, not a trigger (C-047).
type Closure struct {
	FromPhase string    `json:"from_phase" rule:"nonempty"`
	ToPhase   string    `json:"to_phase" rule:"nonempty"`
	Via       string    `json:"via,omitempty" rule:"nonempty"`       // default substrate:memory
	Guarantee Guarantee `json:"guarantee,omitempty" rule:"nonempty"` // default eventual

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Cadence says what starts an iteration (OS-010 §3.3, §8). A fallback is armed
// together with its primary (C-056). Params is free-form; [Cadence.Event] and its
// sisters read what OS-010 §8 defines.
type Cadence struct {
	Type     CadenceType    `json:"type" rule:"nonempty"`
	Params   map[string]any `json:"params,omitempty"` // numbers read from a document are json.Number
	Fallback *Cadence       `json:"fallback,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Nesting places the loop among others (OS-010 §11). InnerLoops decides; ParentLoop
// is advice (C-035).
type Nesting struct {
	ParentLoop string      `json:"parent_loop,omitempty" rule:"nonempty,nullable"`
	InnerLoops []InnerLoop `json:"inner_loops,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// InnerLoop is a loop that a phase of this one triggers (OS-010 §11.1).
type InnerLoop struct {
	LoopID    string `json:"loop_id" rule:"nonempty"`
	Trigger   string `json:"trigger" rule:"nonempty"`              // "phase:<id>" or "phase:<id> when <expression>"; see ParseTrigger
	Wait      Wait   `json:"wait,omitempty" rule:"nonempty"`       // default until_stable (C-085)
	TimeoutMS int    `json:"timeout_ms,omitempty" rule:"positive"` // milliseconds; required by, and only for, bounded (C-050)

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Substrates refers to what the host provides (OS-010 §3.4). A reference is an
// opaque string in which {ws_id} stands for the workspace (C-030); an empty one
// means the slot is not provided. The first four are required.
type Substrates struct {
	Memory    string `json:"memory,omitempty" rule:"nonempty,nullable"`
	Policy    string `json:"policy,omitempty" rule:"nonempty,nullable"`
	Audit     string `json:"audit,omitempty" rule:"nonempty,nullable"`
	Auth      string `json:"auth,omitempty" rule:"nonempty,nullable"`
	Transport string `json:"transport,omitempty" rule:"nonempty,nullable"`
	Time      string `json:"time,omitempty" rule:"nonempty,nullable"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Connection delivers a token that a phase produces to another loop (OS-010 §3.5,
// §10). The defaults are those of C-081.
type Connection struct {
	ID             string            `json:"id" rule:"nonempty"`
	EmitPhase      string            `json:"emit_phase" rule:"nonempty"`
	EmitCondition  string            `json:"emit_condition,omitempty" rule:"nonempty"` // a predicate; default true
	Envelope       string            `json:"envelope,omitempty" rule:"nonempty"`       // Envelope, the only value
	Token          string            `json:"token" rule:"nonempty"`
	ToLoop         string            `json:"to_loop" rule:"nonempty"`
	ToPhase        string            `json:"to_phase,omitempty" rule:"nonempty"`        // default: the entry phase of ToLoop
	Cadence        ConnectionCadence `json:"cadence,omitempty" rule:"nonempty"`         // default async
	Delivery       Delivery          `json:"delivery,omitempty" rule:"nonempty"`        // default at_least_once
	MaxInflight    int               `json:"max_inflight,omitempty" rule:"positive"`    // 0: no limit
	OverflowPolicy Overflow          `json:"overflow_policy,omitempty" rule:"nonempty"` // default block

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// Telemetry names what is recorded (OS-010 §4). The metric names are free (C-037).
type Telemetry struct {
	Namespace    string   `json:"namespace,omitempty"`
	PhaseMetrics []string `json:"phase_metrics,omitempty"`
	LoopMetrics  []string `json:"loop_metrics,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
	presence
}

// presence tells which members stood in the document, by their place in the
// struct. It tells an absent member from one that was written with its default.
type presence struct{ members uint32 }

func (p *presence) mark(i int)     { p.members |= 1 << i }
func (p *presence) has(i int) bool { return p.members&(1<<i) != 0 }
