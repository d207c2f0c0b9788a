package substrate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/substrate"
)

func TestAuditEventJSON(t *testing.T) {
	spec.Covers(t, "C-088", "P-7.3-4")
	event := substrate.AuditEvent{
		EventID: "e1", Class: substrate.ClassTransition, EventType: "phase.routed", Name: "ticket.routed",
		WorkspaceID: "acme", LoopID: "acme.triage", LoopVersion: "1.2.0", IterationID: "it-1", PhaseID: "pick",
		Attempt: 2, TraceID: "trace", SpanID: "span", Timestamp: time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC),
		Signature: "blake3:00", CausalParentIDs: []string{"node_5"}, Outcome: "success",
		Attributes: substrate.Attributes{{Name: "to", Value: "reply"}},
		Origin:     substrate.Origin{Kind: substrate.OriginCadence},
	}
	data, err := json.Marshal(event)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"event_id":"e1","class":"transition","event_type":"phase.routed","name":"ticket.routed",
		"workspace_id":"acme","loop_id":"acme.triage","loop_version":"1.2.0","iteration_id":"it-1","phase_id":"pick",
		"attempt":2,"trace_id":"trace","span_id":"span","timestamp":"2026-04-10T12:00:00Z",
		"signature":"blake3:00","causal_parent_ids":["node_5"],"outcome":"success",
		"attributes":{"to":"reply"},"origin":{"kind":"cadence"}}`, string(data))
	var back substrate.AuditEvent
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, event, back)
}

// The four members of OS-010 §7.3 are on the wire even if nothing else is.
func TestAuditEventMandatoryMembers(t *testing.T) {
	spec.Covers(t, "P-7.3-4", "C-088")
	data, err := json.Marshal(substrate.AuditEvent{})
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(data, &members))
	require.Len(t, members, 4)
	for _, name := range []string{"trace_id", "phase_id", "timestamp", "signature"} {
		require.Contains(t, members, name)
	}
}

func TestAttributes(t *testing.T) {
	spec.Covers(t, "C-088")
	for text, want := range map[string]substrate.Attributes{
		`null`:                          nil,
		`{}`:                            {},
		`{"b":"1","a":"\u00e9"}`:        {{Name: "b", Value: "1"}, {Name: "a", Value: "é"}},
		`{"n": 1.50, "o": {"x": [1]} }`: {{Name: "n", Value: "1.50"}, {Name: "o", Value: `{"x": [1]}`}},
	} {
		var got substrate.Attributes
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
	value, ok := substrate.Attributes{{Name: "a", Value: "1"}}.Lookup("a")
	require.True(t, ok)
	require.Equal(t, "1", value)
	_, ok = substrate.Attributes(nil).Lookup("a")
	require.False(t, ok)

	data, err := json.Marshal(substrate.Attributes{{Name: "z", Value: `"`}, {Name: "a", Value: ""}})
	require.NoError(t, err)
	require.Equal(t, `{"z":"\"","a":""}`, string(data))
}

func TestAttributesLoseNothing(t *testing.T) {
	var a substrate.Attributes
	require.ErrorContains(t, json.Unmarshal([]byte(`{"a":"1","a":"2"}`), &a), `"a" is given twice`)
	require.ErrorContains(t, json.Unmarshal([]byte(`["a"]`), &a), "must be a JSON object")
	_, err := json.Marshal(substrate.Attributes{{Name: "a"}, {Name: "a"}})
	require.ErrorContains(t, err, `"a" is given twice`)
}

func FuzzAttributes(f *testing.F) {
	f.Add([]byte(`{"a":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, back substrate.Attributes
		if err := a.UnmarshalJSON(data); err != nil {
			return
		}
		text, err := json.Marshal(a)
		require.NoError(t, err, "what was read can be written")
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, a, back)
	})
}
