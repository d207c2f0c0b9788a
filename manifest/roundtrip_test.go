package manifest_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

func marshal(t require.TestingT, m *manifest.Manifest) []byte {
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return text
}

// TestRoundTripOfDocuments: a document that is read and written means the same JSON,
// down to nulls, empty lists and members written with their default; the manifest
// read again says the same and was written the same.
func TestRoundTripOfDocuments(t *testing.T) {
	spec.Covers(t, "P-4-8", "C-023", "C-026", "C-030", "C-035", "P-10.3-1")
	var documents [][]byte
	for _, name := range manifest.References() {
		text, err := manifest.ReferenceText(name)
		require.NoError(t, err)
		documents = append(documents, text)
	}
	documents = append(documents, []byte(everything))
	for _, f := range fixtures(t, "findings") {
		documents = append(documents, []byte(f.document))
	}
	for _, text := range documents {
		m, err := manifest.Parse(text)
		require.NoError(t, err)
		written := marshal(t, m)
		require.JSONEq(t, string(text), string(written))
		again, err := manifest.Parse(written)
		require.NoError(t, err)
		require.Equal(t, exportedValue(*m), exportedValue(*again))
		require.Equal(t, string(written), string(marshal(t, again)))
		require.Len(t, manifest.Validate(again, manifest.Options{}), len(manifest.Validate(m, manifest.Options{})), "no finding is lost or added")
	}
}

// everything holds every member of protocol 0.2, each with a value that a careless
// reader would lose.
const everything = `{
  "$schema": "https://opensentience.org/schemas/pulse-loop-manifest.v0.2.json",
  "pulse_protocol_version": "0.2.7", "loop_id": "acme.all", "loop_name": "", "version": "0.1.0-rc.1", "owner": "",
  "workspace_scope": "global", "description": "",
  "phases": [
    {"id": "a", "kind": "retrieve", "description": "", "idempotent": false, "parallel": false, "max_retries": 0, "on_failure": "retry",
     "inputs": {"from": "external", "schema": "T", "tokens": [], "substrates": []}, "outputs": {"to": "phase:b", "schema": "U[]", "tokens": []},
     "effects": {"calls": [], "mutates": [], "may_emit": [], "external": []}, "successors": [], "refinements": {}, "signature": "f()", "timeout_ms": 1},
    {"id": "b", "kind": "act", "inputs": {}, "outputs": {}, "effects": {}, "successors": ["c"], "refinements": {"x": 1e3, "y": 12345678901234567890, "z": {"w": null}},
     "policy_check": "p", "audit_event": "e", "x_member": [1.50, {"deep": null}]},
    {"id": "c", "kind": "custom", "custom_kind": "x", "invariant": "phase_atomicity"},
    {"id": "d", "kind": "learn"}
  ],
  "closure": {"from_phase": "d", "to_phase": "a", "x": 1},
  "cadence": {"type": "manual", "params": {}, "fallback": {"type": "idle", "params": {"min_idle_ms": 0}, "x": 2}},
  "nesting": {"parent_loop": null, "inner_loops": [], "x": 3},
  "substrates": {"memory": "m", "policy": "p", "audit": "a", "auth": "i", "transport": null, "time": null},
  "invariants": {"trace_id_propagation": false, "phase_atomicity": true, "x_new": true},
  "connections": [], "telemetry": {}, "x_top": "\u0001"
}`

// TestRoundTripOfCode: what Go code writes is read back as it was, from JSON and,
// since JSON is YAML, from YAML; and the published schema accepts it.
func TestRoundTripOfCode(t *testing.T) {
	spec.Covers(t, "P-3.2-7", "P-4-1", "P-4-2", "P-4-12", "T-2-1", "T-2-2", "T-M-1", "C-020", "C-025")
	schema := loopSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		m := drawManifest(t)
		require.NoError(t, manifest.Validate(m, manifest.Options{}).Err())
		text := marshal(t, m)

		read, err := manifest.Parse(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, *m, exportedValue(*read))
		require.Equal(t, string(text), string(marshal(t, read)))

		read, err = manifest.ParseYAML(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, *m, exportedValue(*read))

		if m.ProtocolVersion != "0.2" {
			doc, err := unmarshal(text)
			require.NoError(t, err)
			require.NoError(t, schema.Validate(doc))
		}
	})
}

func unmarshal(text []byte) (doc any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&doc)
	return doc, err
}

// TestYAMLEqualsJSON: a hand-written YAML document gives the manifest that its JSON
// form gives.
func TestYAMLEqualsJSON(t *testing.T) {
	spec.Covers(t, "P-4-1", "C-025")
	fromYAML, err := manifest.ParseFile("testdata/triage.yaml")
	require.NoError(t, err)
	fromJSON, err := manifest.Parse(marshal(t, fromYAML))
	require.NoError(t, err)
	require.Equal(t, exportedValue(*fromYAML), exportedValue(*fromJSON))
	require.Equal(t, "acme.triage", fromYAML.LoopID)
	require.True(t, fromYAML.Invariants[manifest.KappaRouting])
	require.True(t, fromYAML.Phases[0].Idempotent)
}

// TestExtra: unknown members of a higher patch are kept; a manifest of a known
// patch cannot carry them.
func TestExtra(t *testing.T) {
	spec.Covers(t, "C-023", "P-16-3")
	m, err := manifest.Parse([]byte(everything))
	require.NoError(t, err)
	require.JSONEq(t, `"\u0001"`, string(m.Extra["x_top"]))
	require.JSONEq(t, `[1.5, {"deep": null}]`, string(m.Phases[1].Extra["x_member"]))
	require.Equal(t, "1", string(m.Closure.Extra["x"]))

	m.ProtocolVersion = "0.2"
	require.Error(t, manifest.Validate(m, manifest.Options{}).Err())
	_, err = json.Marshal(m)
	require.ErrorContains(t, err, "unknown member")
}

func TestDefaultsOfAbsentMembers(t *testing.T) {
	spec.Covers(t, "T-M-2", "P-4-12", "P-16-4", "C-005", "C-020", "C-031", "C-038", "C-042", "C-047", "C-081", "C-085")
	m, err := manifest.Parse([]byte(fixtures(t, "findings")[0].document))
	require.NoError(t, err)
	p := m.Phases[0]
	require.Empty(t, p.Inputs.Tokens)
	require.Empty(t, p.Inputs.Substrates)
	require.Empty(t, p.Outputs.Tokens)
	require.Nil(t, p.Effects, "not declared, which is not the same as none")
	require.Empty(t, p.Refinements)
	require.Nil(t, p.Successors)
	require.Equal(t, manifest.FailAbortLoop, p.OnFailure.OrDefault())
	require.Equal(t, 3, p.Retries())
	require.Equal(t, manifest.ScopeRequired, m.WorkspaceScope.OrDefault())
	require.Equal(t, "substrate:memory", m.Closure.Channel())
	require.Equal(t, manifest.GuaranteeEventual, m.Closure.Guarantee.OrDefault())
	require.Equal(t, manifest.WaitUntilStable, manifest.InnerLoop{}.Wait.OrDefault())
	k := manifest.Connection{}
	require.Equal(t, manifest.ConnectionAsync, k.Cadence.OrDefault())
	require.Equal(t, manifest.DeliveryAtLeastOnce, k.Delivery.OrDefault())
	require.Equal(t, manifest.OverflowBlock, k.OverflowPolicy.OrDefault())
	require.False(t, m.Invariants[manifest.QuorumBeforeCommit], "absent is off")

	empty, err := manifest.Parse([]byte(everything))
	require.NoError(t, err)
	require.NotNil(t, empty.Phases[0].Successors)
	require.Empty(t, empty.Phases[0].Successors)
	require.NotNil(t, empty.Phases[0].Effects)
}

// TestUnmarshalJSON reads without checking what the members say.
func TestUnmarshalJSON(t *testing.T) {
	var holder struct{ Loop manifest.Manifest }
	require.NoError(t, json.Unmarshal([]byte(`{"Loop": {"loop_id": "Not One", "phases": []}}`), &holder))
	require.Equal(t, "Not One", holder.Loop.LoopID)
	err := json.Unmarshal([]byte(`{"Loop": {"loop_id": 5, "loop_id": "a.b", "phases": {}}}`), &holder)
	var issues manifest.Issues
	require.ErrorAs(t, err, &issues)
	require.Len(t, issues, 3)
	require.Equal(t, "Not One", holder.Loop.LoopID, "left as it was")
}

// TestChangedManifest: what is taken out of a manifest that was read is gone when it
// is written, and what is checked is what it holds now.
func TestChangedManifest(t *testing.T) {
	spec.Covers(t, "C-023")
	m, err := manifest.Parse([]byte(everything))
	require.NoError(t, err)
	p := &m.Phases[0]
	p.Effects, p.MaxRetries, p.Successors, p.Refinements = nil, nil, nil, nil
	p.TimeoutMS, p.OnFailure, p.Signature, p.Inputs = 0, "", "", manifest.Inputs{}
	m.Cadence.Fallback, m.WorkspaceScope, m.Connections = nil, "", nil
	require.NoError(t, manifest.Validate(m, manifest.Options{}).Err())
	again, err := manifest.Parse(marshal(t, m))
	require.NoError(t, err)
	require.Equal(t, exportedValue(*m), exportedValue(*again))

	m.Phases = append(m.Phases, manifest.Phase{ID: "late", Kind: "acts"})
	issues := manifest.Validate(m, manifest.Options{}).Errors()
	require.Len(t, issues, 1)
	require.Equal(t, "/phases/4/kind", issues[0].Pointer)
	require.Equal(t, 5, issues[0].Line, "where the phases stand")
	require.Error(t, manifest.Validate(nil, manifest.Options{}).Err())
}
