package token_test

import (
	"encoding/json"
	"math"
	"time"

	"github.com/opensentience/pulse-go/token"
)

// noon is the time of every sample.
var noon = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

func topology() token.TopologyContext {
	return token.TopologyContext{
		Nodes: []token.TopologyNode{{ID: "node_1", Type: "belief", Confidence: 0.83}, {ID: "node_2", Type: "belief", Confidence: 1}},
		Edges: []token.TopologyEdge{{Src: "node_1", Dst: "node_2", Type: "causal"}},
		SCCs: []token.SCC{{
			ID: "scc_001", Members: []string{"node_1", "node_2"}, Kappa: 1,
			Routing: token.RoutingDeliberate, Budget: token.Budget{MaxIterations: 2},
		}},
		MaxKappa: 1, Routing: token.RoutingDeliberate,
	}
}

func deliberation() token.DeliberationResult {
	return token.DeliberationResult{
		Verdict: token.VerdictApprove, Confidence: 0.87, ConsensusType: token.ConsensusFastPath,
		ReasoningPath: []string{"node_1", "node_5", "node_12"},
		Dissents:      []token.Dissent{{AgentID: "agent_b", Position: "wait", Weight: 0.12}},
		EvidenceRoot:  "blake3:00ff",
	}
}

func outcome() token.OutcomeSignal {
	return token.OutcomeSignal{
		ActionID: "act_42", Status: token.StatusSuccess, CausalParentIDs: []string{"node_5", "node_12"},
		Evidence: json.RawMessage(`{"metric":"recall","value":0.94}`), Timestamp: noon,
	}
}

func reputation() token.ReputationUpdate {
	absolute, sequence := 0.71, int64(12)
	return token.ReputationUpdate{
		SubjectID: "agent_a7", SubjectType: token.SubjectAgent, Domain: "code", Delta: 0.04, CalibrationAdjustment: -0.01,
		SourceLoop: "deliberatic.argumentation", EvidenceRef: "trace_id:abc123", Absolute: &absolute, Sequence: &sequence,
	}
}

func consolidation() token.ConsolidationEvent {
	return token.ConsolidationEvent{
		Timescale: token.TimescaleMedium, AffectedNodeIDs: []string{"node_1"}, MergedIntoIDs: []string{"node_2"},
		ConvergenceStatus: token.ConvergenceStable, MetricDeltas: map[string]float64{"graph_size": -12, "avg_confidence": 0.02},
	}
}

func surprise() token.SurpriseSignal {
	return token.SurpriseSignal{
		EdgeID: 12, BodySubtype: token.BodyBrowser, ActionType: "click",
		PredictedStateHash: "sha256:aa", ActualStateHash: "sha256:bb", SurpriseMagnitude: 0.73, SurpriseKind: token.SurpriseNavigation,
		Evidence: json.RawMessage(`{"actual_url":"https://b.example","predicted_url":"https://a.example"}`), Timestamp: noon,
		Provenance: &token.Provenance{Provider: "browser", Capability: "body.browser", Operation: "act", Timestamp: noon, AgentID: "agent_a7"},
	}
}

func request() token.DeliberationRequest {
	quorum, deadline := 0.6, noon.Add(time.Minute)
	return token.DeliberationRequest{
		RequestID: "req_1", Topology: topology(), Question: "release?", QuorumThreshold: &quorum, Deadline: &deadline,
	}
}

func violation() token.SessionFidelityViolation {
	return token.SessionFidelityViolation{
		LoopID: "prism.benchmark", IterationID: "it_1", PhaseID: "observe", Check: "T21",
		Expected: "OutcomeSignal", Observed: "nothing", Severity: token.SeverityError, Timestamp: noon,
	}
}

// samples gives a good token of every canonical type.
func samples() []token.Token {
	return []token.Token{
		topology(), deliberation(), outcome(), reputation(), consolidation(), surprise(), request(), violation(),
	}
}

// claim is a vendor's token with a payload of its own.
type claim struct {
	Anything any
}

func (claim) TokenName() token.Name { return "scope.v1.SpatialClaim" }
func (claim) Validate() error       { return nil }

func nan() float64 { return math.NaN() }
