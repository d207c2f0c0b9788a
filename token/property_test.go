package token_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

// tokens draws good tokens of the types that hold numbers, lists and maps.
func tokens() *rapid.Generator[token.Token] {
	text := rapid.StringN(1, 20, -1)
	unit := rapid.Float64Range(0, 1)
	finite := rapid.Float64()
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-60e9, 250e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	})
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) token.Token {
			s := token.TopologyContext{MaxKappa: rapid.Float64Range(0, 5).Draw(t, "kappa"), Routing: token.RoutingFast}
			if s.MaxKappa > 0 {
				s.Routing = token.RoutingDeliberate
			}
			for _, id := range rapid.SliceOf(text).Draw(t, "nodes") {
				s.Nodes = append(s.Nodes, token.TopologyNode{ID: id, Confidence: unit.Draw(t, "confidence")})
			}
			return s
		}),
		rapid.Custom(func(t *rapid.T) token.Token {
			return token.OutcomeSignal{
				ActionID: text.Draw(t, "action"), Status: token.StatusPartial, CausalParentIDs: rapid.SliceOf(text).Draw(t, "parents"),
				Timestamp: instant.Draw(t, "timestamp"),
			}
		}),
		rapid.Custom(func(t *rapid.T) token.Token {
			return token.ReputationUpdate{
				SubjectID: text.Draw(t, "subject"), SubjectType: token.SubjectNode, Domain: text.Draw(t, "domain"), SourceLoop: "a.b",
				Delta: finite.Draw(t, "delta"), CalibrationAdjustment: finite.Draw(t, "adjustment"),
				Sequence: rapid.Ptr(rapid.Int64Range(0, 1<<53-1), true).Draw(t, "sequence"),
			}
		}),
		rapid.Custom(func(t *rapid.T) token.Token {
			return token.ConsolidationEvent{
				Timescale: token.TimescaleSlow, ConvergenceStatus: token.ConvergenceDiverged,
				MetricDeltas: rapid.MapOf(text, finite).Draw(t, "deltas"),
			}
		}),
	)
}

func TestEveryGoodTokenRoundTripsInCanonicalForm(t *testing.T) {
	spec.Covers(t, "P-10.1-4", "P-6.4-4")
	rapid.Check(t, func(rt *rapid.T) {
		e, err := token.Encode(tokens().Draw(rt, "token"), envelope())
		require.NoError(rt, err)
		canonical, err := jcs.Transform(e.Data())
		require.NoError(rt, err)
		require.Equal(rt, string(canonical), string(e.Data()))

		back := roundTrip(t, tokenOf(rt, e.Type(), e.Data()))
		require.NoError(rt, back.Validate())
		again, err := token.Encode(back, envelope())
		require.NoError(rt, err)
		require.Equal(rt, string(e.Data()), string(again.Data()))
	})
}

// tokenOf reads the payload of an event into the struct of its type.
func tokenOf(t require.TestingT, eventType string, data []byte) token.Token {
	read := func(into any) {
		require.NoError(t, json.Unmarshal(data, into))
	}
	switch eventType {
	case token.TopologyContextName.EventType():
		var s token.TopologyContext
		read(&s)
		return s
	case token.OutcomeSignalName.EventType():
		var s token.OutcomeSignal
		read(&s)
		return s
	case token.ReputationUpdateName.EventType():
		var s token.ReputationUpdate
		read(&s)
		return s
	}
	var s token.ConsolidationEvent
	read(&s)
	return s
}

// TestEnvelopesAreWrittenOrRefused: whatever stands in an envelope, either there
// is an error or an event that says exactly that.
func TestEnvelopesAreWrittenOrRefused(t *testing.T) {
	spec.Covers(t, "P-10.1-3", "C-065")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-z.:%?#\x00-\x20\x7f]{0,5}`), rapid.StringN(0, 5, -1), rapid.Just("\xff"))
		env := envelope()
		for _, field := range []*string{&env.Loop, &env.Phase, &env.TraceID, &env.ID, &env.Workspace, &env.Iteration, &env.Connection, &env.TraceState} {
			if rapid.Bool().Draw(t, "change") {
				*field = text.Draw(t, "text")
			}
		}
		e, err := token.Encode(outcome(), env)
		if err != nil {
			return
		}
		wire, err := json.Marshal(e)
		require.NoError(t, err)
		var said map[string]any
		require.NoError(t, json.Unmarshal(wire, &said))
		require.Equal(t, token.Source(env.Loop, env.Phase), said["source"])
		require.Equal(t, "trace_id:"+env.TraceID, said["subject"])
		require.Equal(t, env.ID, said["id"])
		for name, want := range map[string]string{"pulseworkspace": env.Workspace, "pulseiteration": env.Iteration, "pulseconnection": env.Connection, "tracestate": env.TraceState} {
			if want != "" {
				require.Equal(t, want, said[name], name)
			}
		}
	})
}
