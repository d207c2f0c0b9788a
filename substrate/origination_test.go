package substrate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
)

func TestDedupeKey(t *testing.T) {
	spec.Covers(t, "C-040")
	o := substrate.Origination{
		Workspace: "acme", Loop: "acme.triage", Iteration: "it-1", Phase: "reply",
		Run: 2, Attempt: 1, Ordinal: 3, Signature: "blake3:00",
	}
	require.Equal(t, "acme/acme.triage/it-1/reply/2/3/blake3:00", o.DedupeKey())

	again := o
	again.Attempt, again.SpanID, again.Transaction, again.Unstable = 2, "span", "tx", true
	require.Equal(t, o.DedupeKey(), again.DedupeKey(), "another attempt is the same call")

	outside := o
	outside.Iteration = ""
	require.Empty(t, outside.DedupeKey(), "a call outside an iteration is not deduplicated")
}

// Different calls have different keys, whatever the texts contain.
func TestDedupeKeyIsInjective(t *testing.T) {
	spec.Covers(t, "C-040")
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab/%2F5")), 0, 4, -1)
	number := rapid.IntRange(0, 12)
	call := rapid.Custom(func(t *rapid.T) substrate.Origination {
		return substrate.Origination{
			Workspace: text.Draw(t, "workspace"), Loop: text.Draw(t, "loop"),
			Iteration: "i" + text.Draw(t, "iteration"), Phase: text.Draw(t, "phase"),
			Run: number.Draw(t, "run"), Ordinal: number.Draw(t, "ordinal"),
			Signature: signature.Digest(text.Draw(t, "signature")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := call.Draw(t, "a"), call.Draw(t, "b")
		if (a == b) != (a.DedupeKey() == b.DedupeKey()) {
			t.Fatalf("keys %q and %q of\n%+v\n%+v", a.DedupeKey(), b.DedupeKey(), a, b)
		}
	})
}

// The call context of a request stands beside its arguments in JSON.
func TestRequestJSON(t *testing.T) {
	spec.Covers(t, "C-040", "C-095")
	req := substrate.QueryByTraceRequest{
		Origination: substrate.Origination{Workspace: "acme", TraceID: "caller", Engine: true, Origin: substrate.Origin{Kind: substrate.OriginManual}},
		TraceID:     "asked",
	}
	data, err := json.Marshal(req)
	require.NoError(t, err)
	require.JSONEq(t, `{"workspace_id":"acme","trace_id":"caller","origin":{"kind":"manual"},"engine":true,"queried_trace_id":"asked"}`, string(data))
	var back substrate.QueryByTraceRequest
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, req, back)
}

func TestOriginValidate(t *testing.T) {
	spec.Covers(t, "C-164", "C-159")
	for _, kind := range []substrate.OriginKind{"manual", "cadence", "signal", "replay"} {
		require.NoError(t, substrate.Origin{Kind: kind}.Validate())
	}
	wake := substrate.Origin{Kind: "wake", SourceEventID: "s", WakeDecisionID: "d", PulseEventID: "p"}
	require.NoError(t, wake.Validate())
	for _, bad := range []substrate.Origin{
		{}, {Kind: "unknown"}, {Kind: "wake"},
		{Kind: "wake", SourceEventID: "s", WakeDecisionID: "d"},
		{SourceEventID: "s", WakeDecisionID: "d", PulseEventID: "p"},
	} {
		require.Error(t, bad.Validate(), "%+v", bad)
	}
}
