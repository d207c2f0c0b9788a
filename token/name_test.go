package token_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

func TestCanonicalNames(t *testing.T) {
	spec.Covers(t, "P-6-1", "T-C-3", "C-002")
	six := []token.Name{
		"TopologyContext", "DeliberationResult", "OutcomeSignal", "ReputationUpdate", "ConsolidationEvent", "SurpriseSignal",
	}
	require.Equal(t, six, token.Canonical(0))
	require.Equal(t, six, token.Canonical(1))
	require.Equal(t, append(six, "DeliberationRequest", "SessionFidelityViolation"), token.Canonical(2))
	require.Equal(t, token.Canonical(2), token.Canonical(3))
	for _, n := range token.Canonical(2) {
		got, err := token.ParseName(string(n))
		require.NoError(t, err)
		require.Equal(t, n, got)
		require.True(t, n.Canonical())
		_, _, _, vendor := n.Vendor()
		require.False(t, vendor, n)
	}
}

func TestVendorNames(t *testing.T) {
	spec.Covers(t, "P-6-2", "P-6.7-1", "P-6.7-2", "P-6.7-4", "C-064", "C-076")
	for _, c := range []struct {
		name, vendor string
		version      int
		token, event string
	}{
		{"scope.v1.SpatialClaim", "scope", 1, "SpatialClaim", "scope.spatial_claim.v1"},
		{"oslo.v1.X", "oslo", 1, "X", "oslo.x.v1"},
		{"pulse_two.v0.Ab", "pulse_two", 0, "Ab", "pulse_two.ab.v0"},
		{"a9_.v12.HTTPEvent", "a9_", 12, "HTTPEvent", "a9_.http_event.v12"},
		{"a.v007.EventV2HTTP", "a", 7, "EventV2HTTP", "a.event_v2_http.v007"},
		{"a.v1.ABC", "a", 1, "ABC", "a.abc.v1"},
		{"a.v1.A1B2c", "a", 1, "A1B2c", "a.a1_b2c.v1"},
		{"a.v1.ABc", "a", 1, "ABc", "a.a_bc.v1"},
	} {
		n, err := token.ParseName(c.name)
		require.NoError(t, err)
		require.False(t, n.Canonical(), n)
		vendor, version, tok, ok := n.Vendor()
		require.True(t, ok, n)
		require.Equal(t, c.vendor, vendor)
		require.Equal(t, c.version, version)
		require.Equal(t, c.token, tok)
		require.Equal(t, c.event, n.EventType())
	}
}

func TestReservedVendors(t *testing.T) {
	spec.Covers(t, "P-6.7-3", "C-076")
	for _, s := range []string{"os.v1.X", "pulse.v1.X", "opensentience.v2.Claim"} {
		_, err := token.ParseName(s)
		var fault *token.NameError
		require.ErrorAs(t, err, &fault, s)
		require.Contains(t, fault.Problem, "reserved")
		_, _, _, ok := token.Name(s).Vendor()
		require.False(t, ok, s)
		require.Empty(t, token.Name(s).EventType())
	}
	for _, s := range []string{"os_.v1.X", "pulses.v1.X", "opensentience2.v1.X", "oslo.v1.X"} {
		_, err := token.ParseName(s)
		require.NoError(t, err, s)
	}
}

func TestBadNamesSayTheCure(t *testing.T) {
	spec.Covers(t, "P-6.7-2")
	for s, says := range map[string]string{
		"":                                "want a canonical token",
		"outcomesignal":                   "did you mean OutcomeSignal?",
		"OutcomeSignals":                  "did you mean OutcomeSignal?",
		"TopologyContxt":                  "did you mean TopologyContext?",
		"SpatialClaim":                    "<vendor>.v<N>.<TokenName>",
		"Scope.v1.SpatialClaim":           "<vendor>.v<N>.<TokenName>",
		"scope.1.SpatialClaim":            "<vendor>.v<N>.<TokenName>",
		"scope.v1.spatialClaim":           "<vendor>.v<N>.<TokenName>",
		"scope.v1.Spatial_Claim":          "<vendor>.v<N>.<TokenName>",
		"scope.v1.SpatialClaim\n":         "<vendor>.v<N>.<TokenName>",
		"scope.v1.A.B":                    "<vendor>.v<N>.<TokenName>",
		"scope.v.A":                       "<vendor>.v<N>.<TokenName>",
		"scope.v99999999999999999999.Far": "out of range",
	} {
		n, err := token.ParseName(s)
		require.Empty(t, n)
		var fault *token.NameError
		require.ErrorAs(t, err, &fault, s)
		require.Equal(t, s, fault.Name)
		require.Contains(t, err.Error(), says)
		require.Empty(t, token.Name(s).EventType())
	}
}

func TestEventTypesOfCanonicalTokens(t *testing.T) {
	spec.Covers(t, "P-10.1-2", "C-064")
	for _, n := range token.Canonical(2) {
		require.Equal(t, "org.opensentience.pulse."+string(n), n.EventType())
	}
}
