package token_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

func TestSamplesAreValid(t *testing.T) {
	for _, s := range samples() {
		require.NoError(t, s.Validate(), s.TokenName())
	}
}

// with gives a good token after a change.
func with[T token.Token](good T, change func(*T)) token.Token {
	change(&good)
	return good
}

func TestValidate(t *testing.T) {
	spec.Covers(t, "P-6.1-2", "P-6.1-3", "P-6.2-2", "P-6.2-3", "P-6.3-2", "P-6.3-3", "P-6.4-3", "P-6.4-4", "P-6.5-2", "P-6.5-3",
		"B-8.2-2", "B-8.2-3", "B-8.2-4", "C-075", "C-077", "C-082")
	type (
		tc = token.TopologyContext
		dr = token.DeliberationResult
		os = token.OutcomeSignal
		ru = token.ReputationUpdate
		ce = token.ConsolidationEvent
		ss = token.SurpriseSignal
		rq = token.DeliberationRequest
		sv = token.SessionFidelityViolation
	)
	for _, c := range []struct {
		path  string
		token token.Token
	}{
		{"/token", with(topology(), func(t *tc) { t.Token = "OutcomeSignal" })},
		{"/version", with(topology(), func(t *tc) { t.Version = "0.2" })},
		{"/nodes/1/id", with(topology(), func(t *tc) { t.Nodes[1].ID = "" })},
		{"/nodes/0/confidence", with(topology(), func(t *tc) { t.Nodes[0].Confidence = 1.01 })},
		{"/edges/0/src", with(topology(), func(t *tc) { t.Edges[0].Src = "" })},
		{"/edges/0/dst", with(topology(), func(t *tc) { t.Edges[0].Dst = "" })},
		{"/sccs/0/id", with(topology(), func(t *tc) { t.SCCs[0].ID = "" })},
		{"/sccs/0/routing", with(topology(), func(t *tc) { t.SCCs[0].Routing = token.RoutingFast })},
		{"/sccs/0/budget/max_iterations", with(topology(), func(t *tc) { t.SCCs[0].Budget.MaxIterations = -1 })},
		{"/max_kappa", with(topology(), func(t *tc) { t.MaxKappa = math.Inf(1) })},
		{"/routing", with(topology(), func(t *tc) { t.Routing = token.RoutingFast })},
		{"/routing", with(topology(), func(t *tc) { t.MaxKappa = 0 })},
		{"/verdict", with(deliberation(), func(t *dr) { t.Verdict = "" })},
		{"/confidence", with(deliberation(), func(t *dr) { t.Confidence = nan() })},
		{"/confidence", with(deliberation(), func(t *dr) { t.Confidence = -0.1 })},
		{"/consensus_type", with(deliberation(), func(t *dr) { t.ConsensusType = "vote" })},
		{"/dissents/0/agent_id", with(deliberation(), func(t *dr) { t.Dissents[0].AgentID = "" })},
		{"/dissents/0/weight", with(deliberation(), func(t *dr) { t.Dissents[0].Weight = 2 })},
		{"/action_id", with(outcome(), func(t *os) { t.ActionID = "" })},
		{"/status", with(outcome(), func(t *os) { t.Status = "blocked" })},
		{"/causal_parent_ids/1", with(outcome(), func(t *os) { t.CausalParentIDs[1] = "" })},
		{"/evidence", with(outcome(), func(t *os) { t.Evidence = json.RawMessage(`[1]`) })},
		{"/evidence", with(outcome(), func(t *os) { t.Evidence = json.RawMessage(`null`) })},
		{"/evidence", with(outcome(), func(t *os) { t.Evidence = json.RawMessage(`{`) })},
		{"/timestamp", with(outcome(), func(t *os) { t.Timestamp = time.Time{} })},
		{"/timestamp", with(outcome(), func(t *os) { t.Timestamp = noon.In(time.FixedZone("", 3600)) })},
		{"/timestamp", with(outcome(), func(t *os) { t.Timestamp = noon.AddDate(9000, 0, 0) })},
		{"/subject_id", with(reputation(), func(t *ru) { t.SubjectID = "" })},
		{"/subject_type", with(reputation(), func(t *ru) { t.SubjectType = "team" })},
		{"/domain", with(reputation(), func(t *ru) { t.Domain = "" })},
		{"/delta", with(reputation(), func(t *ru) { t.Delta = math.Inf(-1) })},
		{"/calibration_adjustment", with(reputation(), func(t *ru) { t.CalibrationAdjustment = nan() })},
		{"/source_loop", with(reputation(), func(t *ru) { t.SourceLoop = "" })},
		{"/absolute", with(reputation(), func(t *ru) { t.Absolute = new(nan()) })},
		{"/sequence", with(reputation(), func(t *ru) { t.Sequence = new(int64(-1)) })},
		{"/sequence", with(reputation(), func(t *ru) { t.Sequence = new(int64(1 << 53)) })},
		{"/timescale", with(consolidation(), func(t *ce) { t.Timescale = "hourly" })},
		{"/convergence_status", with(consolidation(), func(t *ce) { t.ConvergenceStatus = "" })},
		{"/metric_deltas/a~1b~0", with(consolidation(), func(t *ce) { t.MetricDeltas["a/b~"] = nan() })},
		{"/edge_id", with(surprise(), func(t *ss) { t.EdgeID = 0 })},
		{"/body_subtype", with(surprise(), func(t *ss) { t.BodySubtype = "plant" })},
		{"/action_type", with(surprise(), func(t *ss) { t.ActionType = "" })},
		{"/predicted_state_hash", with(surprise(), func(t *ss) { t.PredictedStateHash = "" })},
		{"/actual_state_hash", with(surprise(), func(t *ss) { t.ActualStateHash = "" })},
		{"/surprise_magnitude", with(surprise(), func(t *ss) { t.SurpriseMagnitude = 1.5 })},
		{"/surprise_kind", with(surprise(), func(t *ss) { t.SurpriseKind = "odd" })},
		{"/evidence/reason", with(surprise(), func(t *ss) { t.SurpriseKind = token.SurpriseOther })},
		{"/timestamp", with(surprise(), func(t *ss) { t.Timestamp = time.Time{} })},
		{"/provenance/provider", with(surprise(), func(t *ss) { t.Provenance.Provider = "" })},
		{"/provenance/capability", with(surprise(), func(t *ss) { t.Provenance.Capability = "" })},
		{"/provenance/operation", with(surprise(), func(t *ss) { t.Provenance.Operation = "" })},
		{"/provenance/agent_id", with(surprise(), func(t *ss) { t.Provenance.AgentID = "" })},
		{"/provenance/timestamp", with(surprise(), func(t *ss) { t.Provenance.Timestamp = time.Time{} })},
		{"/request_id", with(request(), func(t *rq) { t.RequestID = "" })},
		{"/topology/token", with(request(), func(t *rq) { t.Topology.Token = "DeliberationRequest" })},
		{"/topology/nodes/0/id", with(request(), func(t *rq) { t.Topology.Nodes[0].ID = "" })},
		{"/quorum_threshold", with(request(), func(t *rq) { t.QuorumThreshold = new(0.0) })},
		{"/deadline", with(request(), func(t *rq) { t.Deadline = new(time.Time) })},
		{"/loop_id", with(violation(), func(t *sv) { t.LoopID = "" })},
		{"/iteration_id", with(violation(), func(t *sv) { t.IterationID = "" })},
		{"/check", with(violation(), func(t *sv) { t.Check = "T99" })},
		{"/severity", with(violation(), func(t *sv) { t.Severity = "fatal" })},
		{"/timestamp", with(violation(), func(t *sv) { t.Timestamp = time.Time{} })},
	} {
		t.Run(string(c.token.TokenName())+c.path, func(t *testing.T) {
			err := c.token.Validate()
			var fault *token.FieldError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.path, fault.Path)
			require.Equal(t, c.token.TokenName(), fault.Token)
			require.Len(t, faults(err), 1, "one change, one fault: %v", err)
		})
	}
}

// faults takes a joined error apart.
func faults(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

func TestValidateGivesEveryFault(t *testing.T) {
	for _, c := range []struct {
		token token.Token
		paths []string
	}{
		{token.TopologyContext{}, []string{"/routing"}},
		{token.DeliberationResult{}, []string{"/verdict", "/consensus_type"}},
		{token.OutcomeSignal{}, []string{"/action_id", "/status", "/timestamp"}},
		{token.ReputationUpdate{}, []string{"/subject_id", "/subject_type", "/domain", "/source_loop"}},
		{token.ConsolidationEvent{MetricDeltas: map[string]float64{"b": nan(), "a": nan()}},
			[]string{"/timescale", "/convergence_status", "/metric_deltas/a", "/metric_deltas/b"}},
		{token.SessionFidelityViolation{}, []string{"/loop_id", "/iteration_id", "/check", "/severity", "/timestamp"}},
	} {
		var paths []string
		for _, err := range faults(c.token.Validate()) {
			var fault *token.FieldError
			require.ErrorAs(t, err, &fault)
			require.NotEmpty(t, fault.Problem)
			paths = append(paths, fault.Path)
		}
		require.Equal(t, c.paths, paths, c.token.TokenName())
	}
}

func TestClosedAndOpenLists(t *testing.T) {
	spec.Covers(t, "P-6.1-3", "P-6.2-2", "P-6.3-2", "P-6.4-3", "P-6.5-2", "B-8.2-3", "B-8.2-4", "C-077", "C-082")
	good := []token.Token{
		with(topology(), func(t *token.TopologyContext) {
			t.SCCs, t.MaxKappa, t.Routing = nil, 0, token.RoutingFast
			t.Nodes[0].Type, t.Edges[0].Type = "", "anything"
		}),
		with(deliberation(), func(t *token.DeliberationResult) { t.Verdict, t.ConsensusType = "defer", token.ConsensusConflictPath }),
		with(surprise(), func(t *token.SurpriseSignal) {
			t.SurpriseKind, t.Evidence = token.SurpriseOther, json.RawMessage(`{"reason":"white space"}`)
		}),
		with(reputation(), func(t *token.ReputationUpdate) { t.Domain, t.Delta = "chess", -2 }),
	}
	for _, s := range []token.Status{"success", "partial", "failure", "timeout"} {
		good = append(good, with(outcome(), func(t *token.OutcomeSignal) { t.Status = s }))
	}
	for _, s := range []token.SubjectType{"agent", "node", "model", "scenario"} {
		good = append(good, with(reputation(), func(t *token.ReputationUpdate) { t.SubjectType = s }))
	}
	for _, s := range []token.Timescale{"fast", "medium", "slow", "glacial"} {
		good = append(good, with(consolidation(), func(t *token.ConsolidationEvent) { t.Timescale = s }))
	}
	for _, s := range []token.Convergence{"stable", "unstable", "diverged"} {
		good = append(good, with(consolidation(), func(t *token.ConsolidationEvent) { t.ConvergenceStatus = s }))
	}
	for _, s := range []token.SurpriseKind{
		"unexpected_navigation", "unexpected_unchanged", "unexpected_structure", "unexpected_error", "unexpected_permission", "unexpected_latency",
	} {
		good = append(good, with(surprise(), func(t *token.SurpriseSignal) { t.SurpriseKind = s }))
	}
	for _, g := range good {
		require.NoError(t, g.Validate(), "%+v", g)
	}
}
