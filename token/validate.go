package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FieldError is a fault in a token's payload.
type FieldError struct {
	Token   Name
	Path    string // JSON pointer into the payload
	Problem string // what is wrong and how to mend it
}

// Error names the token and the field.
func (e *FieldError) Error() string {
	return fmt.Sprintf("token: %s%s: %s", e.Token, e.Path, e.Problem)
}

// check collects the faults of a token.
type check struct {
	name   Name
	faults []error
}

func (c *check) add(path, format string, args ...any) {
	c.faults = append(c.faults, &FieldError{Token: c.name, Path: path, Problem: fmt.Sprintf(format, args...)})
}

func (c *check) err() error { return errors.Join(c.faults...) }

// header refuses a header that says something else than the type; an empty one
// is filled by [Encode].
func (c *check) header(prefix string, name Name, h Header) {
	if h.Token != "" && h.Token != name {
		c.add(prefix+"/token", "want %q or nothing, got %q", string(name), string(h.Token))
	}
	if h.Version != "" && h.Version != Version {
		c.add(prefix+"/version", "want %q or nothing, got %q", Version, h.Version)
	}
}

func (c *check) required(path, v string) {
	if v == "" {
		c.add(path, "it is required")
	}
}

func (c *check) unit(path string, v float64) {
	if !(v >= 0 && v <= 1) {
		c.add(path, "want a number in [0, 1], got %v", v)
	}
}

func (c *check) kappa(path string, v float64) {
	if !(v >= 0) || math.IsInf(v, 1) {
		c.add(path, "want a finite number of at least 0, got %v", v)
	}
}

func (c *check) finite(path string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		c.add(path, "want a finite number, got %v", v)
	}
}

// greatest is the greatest integer that every JSON reader keeps exactly.
const greatest = 1<<53 - 1

func (c *check) count(path string, v, least int64) {
	if v < least || v > greatest {
		c.add(path, "want an integer from %d to %d, got %d", least, greatest, v)
	}
}

func (c *check) utc(path string, t time.Time) {
	switch {
	case t.IsZero():
		c.add(path, "it is required")
	case t.Location() != time.UTC:
		c.add(path, "want a time in UTC, got %s: use Time.UTC()", t.Format(time.RFC3339Nano))
	case t.Year() < 1 || t.Year() > 9999:
		c.add(path, "the year %d has no RFC 3339 form", t.Year())
	}
}

func oneOf[T ~string](c *check, path string, v T, values ...T) {
	if !slices.Contains(values, v) {
		c.add(path, "want one of %s, got %q", join(values), string(v))
	}
}

func join[T ~string](values []T) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = string(v)
	}
	return strings.Join(s, ", ")
}

// pointerEscaper escapes a member's name in a JSON pointer (RFC 6901 §3).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func at(list string, i int, member string) string {
	return "/" + list + "/" + strconv.Itoa(i) + "/" + member
}

// evidence wants a JSON object or nothing.
func (c *check) evidence(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		c.add("/evidence", "want a JSON object: %v", err)
	} else if m == nil {
		c.add("/evidence", "want a JSON object, got null: leave it empty")
	}
}

// routes demands deliberate exactly when κ > 0 (C-082).
func (c *check) routes(path string, r Routing, kappa float64) {
	oneOf(c, path, r, RoutingDeliberate, RoutingFast)
	if (r == RoutingDeliberate) != (kappa > 0) {
		c.add(path, "%q does not go with a kappa of %v: want deliberate exactly when kappa > 0 (C-082)", string(r), kappa)
	}
}

// TokenName implements [Token].
func (TopologyContext) TokenName() Name { return TopologyContextName }

// Validate implements [Token].
func (t TopologyContext) Validate() error {
	c := &check{name: TopologyContextName}
	c.topology("", t)
	return c.err()
}

func (c *check) topology(prefix string, t TopologyContext) {
	c.header(prefix, TopologyContextName, t.Header)
	for i, n := range t.Nodes {
		c.required(prefix+at("nodes", i, "id"), n.ID)
		c.unit(prefix+at("nodes", i, "confidence"), n.Confidence)
	}
	for i, e := range t.Edges {
		c.required(prefix+at("edges", i, "src"), e.Src)
		c.required(prefix+at("edges", i, "dst"), e.Dst)
	}
	for i, s := range t.SCCs {
		c.required(prefix+at("sccs", i, "id"), s.ID)
		c.kappa(prefix+at("sccs", i, "kappa"), s.Kappa)
		c.routes(prefix+at("sccs", i, "routing"), s.Routing, s.Kappa)
		c.count(prefix+at("sccs", i, "budget/max_iterations"), int64(s.Budget.MaxIterations), 0)
	}
	c.kappa(prefix+"/max_kappa", t.MaxKappa)
	c.routes(prefix+"/routing", t.Routing, t.MaxKappa)
}

// TokenName implements [Token].
func (DeliberationResult) TokenName() Name { return DeliberationResultName }

// Validate implements [Token].
func (t DeliberationResult) Validate() error {
	c := &check{name: DeliberationResultName}
	c.header("", c.name, t.Header)
	c.required("/verdict", string(t.Verdict))
	c.unit("/confidence", t.Confidence)
	oneOf(c, "/consensus_type", t.ConsensusType, ConsensusFastPath, ConsensusConflictPath)
	for i, d := range t.Dissents {
		c.required(at("dissents", i, "agent_id"), d.AgentID)
		c.unit(at("dissents", i, "weight"), d.Weight)
	}
	return c.err()
}

// TokenName implements [Token].
func (OutcomeSignal) TokenName() Name { return OutcomeSignalName }

// Validate implements [Token].
func (t OutcomeSignal) Validate() error {
	c := &check{name: OutcomeSignalName}
	c.header("", c.name, t.Header)
	c.required("/action_id", t.ActionID)
	oneOf(c, "/status", t.Status, StatusSuccess, StatusPartial, StatusFailure, StatusTimeout)
	for i, id := range t.CausalParentIDs {
		c.required("/causal_parent_ids/"+strconv.Itoa(i), id)
	}
	c.evidence(t.Evidence)
	c.utc("/timestamp", t.Timestamp)
	return c.err()
}

// TokenName implements [Token].
func (ReputationUpdate) TokenName() Name { return ReputationUpdateName }

// Validate implements [Token].
func (t ReputationUpdate) Validate() error {
	c := &check{name: ReputationUpdateName}
	c.header("", c.name, t.Header)
	c.required("/subject_id", t.SubjectID)
	oneOf(c, "/subject_type", t.SubjectType, SubjectAgent, SubjectNode, SubjectModel, SubjectScenario)
	c.required("/domain", t.Domain)
	c.finite("/delta", t.Delta)
	c.finite("/calibration_adjustment", t.CalibrationAdjustment)
	c.required("/source_loop", t.SourceLoop)
	if t.Absolute != nil {
		c.finite("/absolute", *t.Absolute)
	}
	if t.Sequence != nil {
		c.count("/sequence", *t.Sequence, 0)
	}
	return c.err()
}

// TokenName implements [Token].
func (ConsolidationEvent) TokenName() Name { return ConsolidationEventName }

// Validate implements [Token].
func (t ConsolidationEvent) Validate() error {
	c := &check{name: ConsolidationEventName}
	c.header("", c.name, t.Header)
	oneOf(c, "/timescale", t.Timescale, TimescaleFast, TimescaleMedium, TimescaleSlow, TimescaleGlacial)
	oneOf(c, "/convergence_status", t.ConvergenceStatus, ConvergenceStable, ConvergenceUnstable, ConvergenceDiverged)
	for _, k := range slices.Sorted(maps.Keys(t.MetricDeltas)) {
		c.finite("/metric_deltas/"+pointerEscaper.Replace(k), t.MetricDeltas[k])
	}
	return c.err()
}

// TokenName implements [Token].
func (SurpriseSignal) TokenName() Name { return SurpriseSignalName }

// Validate implements [Token].
func (t SurpriseSignal) Validate() error {
	c := &check{name: SurpriseSignalName}
	c.header("", c.name, t.Header)
	c.count("/edge_id", int64(t.EdgeID), 1)
	oneOf(c, "/body_subtype", t.BodySubtype, BodyBrowser, BodyOS, BodyVision, BodyVoice, BodyMotor)
	c.required("/action_type", t.ActionType)
	c.required("/predicted_state_hash", t.PredictedStateHash)
	c.required("/actual_state_hash", t.ActualStateHash)
	c.unit("/surprise_magnitude", t.SurpriseMagnitude)
	oneOf(c, "/surprise_kind", t.SurpriseKind, SurpriseNavigation, SurpriseUnchanged, SurpriseStructure,
		SurpriseError, SurprisePermission, SurpriseLatency, SurpriseOther)
	c.evidence(t.Evidence)
	if t.SurpriseKind == SurpriseOther {
		var e struct {
			Reason string `json:"reason"`
		}
		if json.Unmarshal(t.Evidence, &e) != nil || e.Reason == "" {
			c.add("/evidence/reason", "surprise_kind other needs a reason (C-122)")
		}
	}
	c.utc("/timestamp", t.Timestamp)
	if t.Provenance != nil {
		c.provenance("/provenance", *t.Provenance)
	}
	return c.err()
}

func (c *check) provenance(path string, p Provenance) {
	c.required(path+"/provider", p.Provider)
	c.required(path+"/capability", p.Capability)
	c.required(path+"/operation", p.Operation)
	c.required(path+"/agent_id", p.AgentID)
	c.utc(path+"/timestamp", p.Timestamp)
}

// TokenName implements [Token].
func (DeliberationRequest) TokenName() Name { return DeliberationRequestName }

// Validate implements [Token].
func (t DeliberationRequest) Validate() error {
	c := &check{name: DeliberationRequestName}
	c.header("", c.name, t.Header)
	c.required("/request_id", t.RequestID)
	c.topology("/topology", t.Topology)
	if q := t.QuorumThreshold; q != nil && !(*q > 0 && *q <= 1) {
		c.add("/quorum_threshold", "want a number in (0, 1], got %v", *q)
	}
	if t.Deadline != nil {
		c.utc("/deadline", *t.Deadline)
	}
	return c.err()
}

// TokenName implements [Token].
func (SessionFidelityViolation) TokenName() Name { return SessionFidelityViolationName }

// Validate implements [Token].
func (t SessionFidelityViolation) Validate() error {
	c := &check{name: SessionFidelityViolationName}
	c.header("", c.name, t.Header)
	c.required("/loop_id", t.LoopID)
	c.required("/iteration_id", t.IterationID)
	oneOf(c, "/check", t.Check, "T21", "T22", "T23", "linear", "ttl")
	oneOf(c, "/severity", t.Severity, SeverityInfo, SeverityWarning, SeverityError)
	c.utc("/timestamp", t.Timestamp)
	return c.err()
}
