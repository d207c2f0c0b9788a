package token

import (
	"encoding/json"
	"time"
)

// Routing is what a topology asks of a route phase (OS-010 §6.1).
type Routing string

// The routings.
const (
	RoutingDeliberate Routing = "deliberate" // exactly when κ > 0
	RoutingFast       Routing = "fast"
)

// TopologyContext is the structure of the memory that was retrieved: emitted by
// retrieve phases, consumed by route phases (OS-010 §6.1).
type TopologyContext struct {
	Header
	Nodes    []TopologyNode `json:"nodes"`
	Edges    []TopologyEdge `json:"edges"`
	SCCs     []SCC          `json:"sccs"`
	MaxKappa float64        `json:"max_kappa"` // ≥ 0
	Routing  Routing        `json:"routing"`
}

// TopologyNode is a node of a [TopologyContext].
type TopologyNode struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Confidence float64 `json:"confidence"` // in [0, 1]
}

// TopologyEdge is a directed edge of a [TopologyContext].
type TopologyEdge struct {
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	Type string `json:"type"`
}

// SCC is a strongly connected component of a [TopologyContext].
type SCC struct {
	ID      string   `json:"id"`
	Members []string `json:"members"`
	Kappa   float64  `json:"kappa"` // ≥ 0
	Routing Routing  `json:"routing"`
	Budget  Budget   `json:"budget"`
}

// Budget bounds the deliberation of an [SCC].
type Budget struct {
	MaxIterations int `json:"max_iterations"`
}

// Verdict is how a deliberation ended (OS-010 §6.2). Other values than the three
// are allowed; only approve releases a commit (C-077).
type Verdict string

// The verdicts that the engine knows.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
	VerdictAbstain Verdict = "abstain"
)

// ConsensusType is how a verdict was found.
type ConsensusType string

// The types of consensus.
const (
	ConsensusFastPath     ConsensusType = "fast_path"
	ConsensusConflictPath ConsensusType = "conflict_path"
)

// DeliberationResult is the verdict of an inner deliberation loop (OS-010 §6.2).
type DeliberationResult struct {
	Header
	Verdict       Verdict       `json:"verdict"`
	Confidence    float64       `json:"confidence"` // in [0, 1]
	ConsensusType ConsensusType `json:"consensus_type"`
	ReasoningPath []string      `json:"reasoning_path"` // node ids
	Dissents      []Dissent     `json:"dissents"`
	EvidenceRoot  string        `json:"evidence_chain_merkle_root"` // blake3:…
}

// Dissent is a position that lost.
type Dissent struct {
	AgentID  string  `json:"agent_id"`
	Position string  `json:"position"`
	Weight   float64 `json:"weight"` // in [0, 1]
}

// Status is how an action went (OS-010 §6.3).
type Status string

// The statuses of an action.
const (
	StatusSuccess Status = "success"
	StatusPartial Status = "partial"
	StatusFailure Status = "failure"
	StatusTimeout Status = "timeout"
)

// OutcomeSignal is the result of an action, attributed to the beliefs that
// justified it (OS-010 §6.3).
type OutcomeSignal struct {
	Header
	ActionID        string          `json:"action_id"`
	Status          Status          `json:"status"`
	CausalParentIDs []string        `json:"causal_parent_ids"`
	Evidence        json.RawMessage `json:"evidence,omitempty"`
	Timestamp       time.Time       `json:"timestamp"` // UTC
}

// SubjectType is what a reputation belongs to (OS-010 §6.4).
type SubjectType string

// The subject types.
const (
	SubjectAgent    SubjectType = "agent"
	SubjectNode     SubjectType = "node"
	SubjectModel    SubjectType = "model"
	SubjectScenario SubjectType = "scenario"
)

// ReputationUpdate is the one form in which trust, confidence and reputation
// change across loops (OS-010 §6.4).
type ReputationUpdate struct {
	Header
	SubjectID             string      `json:"subject_id"`
	SubjectType           SubjectType `json:"subject_type"`
	Domain                string      `json:"domain"`                 // open: code, medical, …
	Delta                 float64     `json:"delta"`                  // signed, finite
	CalibrationAdjustment float64     `json:"calibration_adjustment"` // signed, finite
	SourceLoop            string      `json:"source_loop"`
	EvidenceRef           string      `json:"evidence_ref"`

	Absolute *float64 `json:"absolute,omitempty"` // the value after the update, so that a lost delta can be mended (C-070)
	Sequence *int64   `json:"sequence,omitempty"` // number of the update of this subject, from 0 (C-070)
}

// Timescale is how slowly consolidated memory changes (OS-010 §6.5).
type Timescale string

// The timescales.
const (
	TimescaleFast    Timescale = "fast"
	TimescaleMedium  Timescale = "medium"
	TimescaleSlow    Timescale = "slow"
	TimescaleGlacial Timescale = "glacial"
)

// Convergence is whether memory has settled (OS-010 §6.5, §11.3).
type Convergence string

// The states of convergence.
const (
	ConvergenceStable   Convergence = "stable"
	ConvergenceUnstable Convergence = "unstable"
	ConvergenceDiverged Convergence = "diverged"
)

// ConsolidationEvent says that memory was compressed, merged or promoted (OS-010
// §6.5).
type ConsolidationEvent struct {
	Header
	Timescale         Timescale          `json:"timescale"`
	AffectedNodeIDs   []string           `json:"affected_node_ids"`
	MergedIntoIDs     []string           `json:"merged_into_ids"`
	ConvergenceStatus Convergence        `json:"convergence_status"`
	MetricDeltas      map[string]float64 `json:"metric_deltas"`
}

// SurpriseKind classifies a surprise (OS-011 §8.2).
type SurpriseKind string

// The kinds of surprise. SurpriseOther needs a reason in the evidence.
const (
	SurpriseNavigation SurpriseKind = "unexpected_navigation"
	SurpriseUnchanged  SurpriseKind = "unexpected_unchanged"
	SurpriseStructure  SurpriseKind = "unexpected_structure"
	SurpriseError      SurpriseKind = "unexpected_error"
	SurprisePermission SurpriseKind = "unexpected_permission"
	SurpriseLatency    SurpriseKind = "unexpected_latency"
	SurpriseOther      SurpriseKind = "other"
)

// BodySubtype is the kind of a body (OS-011 §3.1).
type BodySubtype string

// The body subtypes (C-132).
const (
	BodyBrowser BodySubtype = "browser"
	BodyOS      BodySubtype = "os"
	BodyVision  BodySubtype = "vision"
	BodyVoice   BodySubtype = "voice"
	BodyMotor   BodySubtype = "motor"
)

// SurpriseSignal says that what a body perceived after an act diverged from the
// prediction (OS-010 §6.6, OS-011 §8.2).
type SurpriseSignal struct {
	Header
	EdgeID             int             `json:"edge_id"` // of the interaction trace, from 1
	BodySubtype        BodySubtype     `json:"body_subtype"`
	ActionType         string          `json:"action_type"`
	PredictedStateHash string          `json:"predicted_state_hash"`
	ActualStateHash    string          `json:"actual_state_hash"`
	SurpriseMagnitude  float64         `json:"surprise_magnitude"` // in [0, 1]
	SurpriseKind       SurpriseKind    `json:"surprise_kind"`
	Evidence           json.RawMessage `json:"evidence,omitempty"`
	Timestamp          time.Time       `json:"timestamp"`            // UTC
	Provenance         *Provenance     `json:"provenance,omitempty"` // C-111
}

// DeliberationRequest asks an inner loop to deliberate (v0.2 token canon; the
// payload is the project's own, C-075).
type DeliberationRequest struct {
	Header
	RequestID       string          `json:"request_id"`
	Topology        TopologyContext `json:"topology"`
	Question        string          `json:"question"`
	QuorumThreshold *float64        `json:"quorum_threshold,omitempty"` // in (0, 1]
	Deadline        *time.Time      `json:"deadline,omitempty"`         // UTC
}

// Severity grades a violation.
type Severity string

// The severities.
const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error"
)

// SessionFidelityViolation reports that a run broke its protocol (v0.2 addition
// 6; the payload is the project's own, C-075).
type SessionFidelityViolation struct {
	Header
	LoopID      string    `json:"loop_id"`
	IterationID string    `json:"iteration_id"`
	PhaseID     string    `json:"phase_id"`
	Check       string    `json:"check"` // T21, T22, T23, linear or ttl
	Expected    string    `json:"expected"`
	Observed    string    `json:"observed"`
	Severity    Severity  `json:"severity"`
	Timestamp   time.Time `json:"timestamp"` // UTC
}
