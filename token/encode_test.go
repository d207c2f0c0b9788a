package token_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

var update = flag.Bool("update", false, "write the golden envelopes anew")

func envelope() token.Envelope {
	return token.Envelope{
		Loop: "graphonomous.continual_learning", Phase: "learn_outcome", TraceID: "abc123", ID: "evt_xyz789", Time: noon,
		Signature: "blake3:0a", Workspace: "acme", Iteration: "it_1", Connection: "outcome_to_prism", Ordinal: 1,
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", TraceState: "a=b",
	}
}

func TestGoldenEnvelopes(t *testing.T) {
	spec.Covers(t, "P-10.1-1", "P-10.1-2", "P-10.1-3", "P-10.1-4", "P-5.6-3", "B-8.2-1", "P-6.6-1", "P-0-5", "C-063", "C-064", "C-065", "C-070", "C-111")
	for _, s := range samples() {
		t.Run(string(s.TokenName()), func(t *testing.T) {
			e, err := token.Encode(s, envelope())
			require.NoError(t, err)
			require.NoError(t, e.Validate())
			got, err := json.MarshalIndent(e, "", "  ")
			require.NoError(t, err)
			file := filepath.Join("testdata", string(s.TokenName())+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
			wire, err := json.Marshal(e)
			require.NoError(t, err)
			require.Contains(t, string(wire), `"data":`+string(e.Data()), "the payload is an object of the event, not binary")
		})
	}
}

// roundTrip encodes a token and reads the payload back into its type.
func roundTrip(t testing.TB, s token.Token) token.Token {
	t.Helper()
	e, err := token.Encode(s, envelope())
	require.NoError(t, err)
	back := reflect.New(reflect.TypeOf(s))
	require.NoError(t, json.Unmarshal(e.Data(), back.Interface()))
	return back.Elem().Interface().(token.Token)
}

func TestPayloadsRoundTrip(t *testing.T) {
	spec.Covers(t, "P-10.1-4", "P-6.4-4")
	for _, s := range samples() {
		once := roundTrip(t, s)
		require.NoError(t, once.Validate())
		require.Equal(t, once, roundTrip(t, once), "a token that has its header stays")
		want, err := json.Marshal(s)
		require.NoError(t, err)
		got, err := json.Marshal(once)
		require.NoError(t, err)
		var a, b map[string]any
		require.NoError(t, json.Unmarshal(want, &a))
		require.NoError(t, json.Unmarshal(got, &b))
		require.Equal(t, map[string]any{"token": string(s.TokenName()), "version": "0.1", "trace_id": "abc123"},
			map[string]any{"token": b["token"], "version": b["version"], "trace_id": b["trace_id"]})
		for _, m := range []map[string]any{a, b} {
			for _, member := range []string{"token", "version", "trace_id"} {
				delete(m, member)
				if inner, ok := m["topology"].(map[string]any); ok {
					delete(inner, member)
				}
			}
		}
		require.Equal(t, a, b)
	}
}

func TestMembersInTheOrderOfTheSpecification(t *testing.T) {
	spec.Covers(t, "P-6.1-2", "P-6.2-3", "P-6.3-3", "P-6.4-4", "P-6.5-3", "B-8.2-1")
	for _, c := range []struct {
		token   token.Token
		members []string
	}{
		{topology(), []string{"nodes", "edges", "sccs", "max_kappa", "routing"}},
		{deliberation(), []string{"verdict", "confidence", "consensus_type", "reasoning_path", "dissents", "evidence_chain_merkle_root"}},
		{outcome(), []string{"action_id", "status", "causal_parent_ids", "evidence", "timestamp"}},
		{reputation(), []string{"subject_id", "subject_type", "domain", "delta", "calibration_adjustment", "source_loop", "evidence_ref", "absolute", "sequence"}},
		{consolidation(), []string{"timescale", "affected_node_ids", "merged_into_ids", "convergence_status", "metric_deltas"}},
		{surprise(), []string{"edge_id", "body_subtype", "action_type", "predicted_state_hash", "actual_state_hash", "surprise_magnitude", "surprise_kind", "evidence", "timestamp", "provenance"}},
		{request(), []string{"request_id", "topology", "question", "quorum_threshold", "deadline"}},
		{violation(), []string{"loop_id", "iteration_id", "phase_id", "check", "expected", "observed", "severity", "timestamp"}},
	} {
		raw, err := json.Marshal(c.token)
		require.NoError(t, err)
		require.Equal(t, append([]string{"token", "version", "trace_id"}, c.members...), members(t, raw))
	}
}

// members gives the names of an object in the order of its text.
func members(t testing.TB, raw []byte) []string {
	t.Helper()
	var names []string
	var object map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &object))
	for rest := raw[1:]; len(names) < len(object); {
		var name string
		require.Equal(t, byte('"'), rest[0])
		end := 1
		for rest[end] != '"' {
			end++
		}
		name, rest = string(rest[1:end]), rest[end+2:]
		names = append(names, name)
		rest = rest[len(object[name])+1:]
	}
	return names
}

func TestEmptyListsAreWrittenAsLists(t *testing.T) {
	for _, c := range []struct {
		token token.Token
		want  string
	}{
		{token.TopologyContext{Routing: token.RoutingFast},
			`{"edges":[],"max_kappa":0,"nodes":[],"routing":"fast","sccs":[],"token":"TopologyContext","trace_id":"abc123","version":"0.1"}`},
		{token.OutcomeSignal{ActionID: "a", Status: token.StatusTimeout, Timestamp: noon},
			`{"action_id":"a","causal_parent_ids":[],"evidence":{},"status":"timeout","timestamp":"2026-04-10T12:00:00Z","token":"OutcomeSignal","trace_id":"abc123","version":"0.1"}`},
		{token.ConsolidationEvent{Timescale: token.TimescaleFast, ConvergenceStatus: token.ConvergenceStable},
			`{"affected_node_ids":[],"convergence_status":"stable","merged_into_ids":[],"metric_deltas":{},"timescale":"fast","token":"ConsolidationEvent","trace_id":"abc123","version":"0.1"}`},
		{token.DeliberationResult{Verdict: token.VerdictReject, ConsensusType: token.ConsensusFastPath},
			`{"confidence":0,"consensus_type":"fast_path","dissents":[],"evidence_chain_merkle_root":"","reasoning_path":[],"token":"DeliberationResult","trace_id":"abc123","verdict":"reject","version":"0.1"}`},
	} {
		e, err := token.Encode(c.token, envelope())
		require.NoError(t, err)
		require.Equal(t, c.want, string(e.Data()), "the members are sorted: RFC 8785")
	}
	given := token.TopologyContext{MaxKappa: 1, Routing: token.RoutingDeliberate, SCCs: []token.SCC{{ID: "s", Kappa: 1, Routing: token.RoutingDeliberate}}}
	_, err := token.Encode(given, envelope())
	require.NoError(t, err)
	require.Nil(t, given.SCCs[0].Members, "Encode does not write into what it is given")
}

func TestEnvelopeWithoutExtensions(t *testing.T) {
	e, err := token.Encode(outcome(), token.Envelope{Loop: "l.a", Phase: "p", TraceID: "t", ID: "1", Time: noon.In(time.FixedZone("", 7200))})
	require.NoError(t, err)
	require.Empty(t, e.Extensions())
	require.Equal(t, "loop:l.a/phase:p", e.Source())
	require.Equal(t, "trace_id:t", e.Subject())
	require.Equal(t, noon, e.Time(), "in UTC")
}

func TestEncodeGivesEveryFault(t *testing.T) {
	bad := with(outcome(), func(t *token.OutcomeSignal) { t.ActionID, t.Status = "", "" })
	_, err := token.Encode(bad, token.Envelope{Phase: "a/phase:b", TraceID: "t", Ordinal: -1, Time: noon.AddDate(9000, 0, 0)})
	for _, says := range []string{"OutcomeSignal/action_id: ", "OutcomeSignal/status: ",
		"envelope: Loop: it is required", "envelope: ID: it is required", "envelope: Phase: ", "envelope: Ordinal: ", "envelope: Time: ",
	} {
		require.ErrorContains(t, err, says)
	}
	var fault *token.EnvelopeError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, token.OutcomeSignalName, fault.Token)
}

func TestEncodeRefuses(t *testing.T) {
	spec.Covers(t, "C-063")
	var none *token.OutcomeSignal
	_, err := token.Encode(none, envelope())
	require.ErrorContains(t, err, "it is nil")
	_, err = token.Encode[token.Token](nil, envelope())
	require.ErrorContains(t, err, "it is nil")

	_, err = token.Encode(with(outcome(), func(t *token.OutcomeSignal) { t.TraceID = "other" }), envelope())
	var fault *token.EnvelopeError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, "TraceID", fault.Field)

	_, err = token.Encode(nameless{}, envelope())
	var name *token.NameError
	require.ErrorAs(t, err, &name)

	_, err = token.Encode(claim{make(chan int)}, envelope())
	require.ErrorContains(t, err, "scope.v1.SpatialClaim")
}

// nameless is a token whose name is none.
type nameless struct{}

func (nameless) TokenName() token.Name { return "SpatialClaim" }
func (nameless) Validate() error       { return nil }

func TestVendorTokensAreWrittenAsTheyAre(t *testing.T) {
	spec.Covers(t, "P-6.7-4", "P-6.7-5")
	for _, payload := range []any{nil, 1.5, "text", map[string]any{"token": 7.0}} {
		e, err := token.Encode(claim{payload}, envelope())
		require.NoError(t, err)
		require.Equal(t, "scope.spatial_claim.v1", e.Type())
		var back claim
		require.NoError(t, json.Unmarshal(e.Data(), &back))
		require.Equal(t, payload, back.Anything)
	}
}
