package token_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

func TestRegistryHoldsTheEightCanonicalTokens(t *testing.T) {
	spec.Covers(t, "T-1-3", "T-1-4", "T-1-5", "T-1-6", "T-1-7", "T-1-8", "T-1-9", "T-1-10", "T-C-1", "T-C-2", "C-071")
	built, err := token.NewRegistry()
	require.NoError(t, err)
	for _, r := range []*token.Registry{nil, built} {
		for _, want := range []struct {
			name      token.Name
			linearity token.Linearity
			variance  token.Variance
			ttl       int // ms
		}{
			{"TopologyContext", "linear", "covariant", 60000},
			{"DeliberationRequest", "linear", "invariant", 300000},
			{"DeliberationResult", "linear", "invariant", 300000},
			{"OutcomeSignal", "linear", "covariant", 3600000},
			{"ReputationUpdate", "affine", "covariant", 86400000},
			{"ConsolidationEvent", "affine", "covariant", 3600000},
			{"SurpriseSignal", "linear", "invariant", 60000},
			{"SessionFidelityViolation", "linear", "invariant", 86400000},
		} {
			e, known := r.Lookup(want.name)
			require.True(t, known, want.name)
			require.Equal(t, want.name, e.Name)
			require.Equal(t, want.linearity, e.Linearity, want.name)
			require.Equal(t, want.variance, e.Variance, want.name)
			require.Equal(t, time.Duration(want.ttl)*time.Millisecond, e.TTL, want.name)
			require.Equal(t, e.Linearity == token.Affine, e.Reason != "", want.name)
		}
		require.Len(t, r.Entries(), 8)
	}
}

func TestLookupOfWhatTheRegistryDoesNotKnow(t *testing.T) {
	spec.Covers(t, "C-071", "C-076")
	r, err := token.NewRegistry()
	require.NoError(t, err)
	for _, r := range []*token.Registry{nil, r} {
		e, known := r.Lookup("scope.v1.SpatialClaim")
		require.False(t, known)
		require.Equal(t, token.Entry{Name: "scope.v1.SpatialClaim", Linearity: token.Unrestricted, Variance: token.Invariant}, e)
		for _, n := range []token.Name{"FutureToken", "os.v1.X"} {
			e, known = r.Lookup(n)
			require.False(t, known)
			require.Equal(t, token.Entry{Name: n, Linearity: token.Linear, Variance: token.Invariant}, e)
		}
	}
}

func TestVendorEntries(t *testing.T) {
	spec.Covers(t, "T-1-11", "T-1-12", "T-1-25")
	r, err := token.NewRegistry(
		token.Entry{Name: "scope.v1.SpatialClaim"},
		token.Entry{Name: "scope.v1.Sample", Linearity: token.Affine, Variance: token.Covariant, TTL: time.Second, Reason: "telemetry"},
	)
	require.NoError(t, err)
	e, known := r.Lookup("scope.v1.SpatialClaim")
	require.True(t, known)
	require.Equal(t, token.Entry{Name: "scope.v1.SpatialClaim", Linearity: token.Linear, Variance: token.Invariant}, e)
	e, known = r.Lookup("scope.v1.Sample")
	require.True(t, known)
	require.Equal(t, token.Affine, e.Linearity)

	entries := r.Entries()
	require.Len(t, entries, 10)
	entries[0].Linearity = token.Unrestricted
	e, _ = r.Lookup(entries[0].Name)
	require.NotEqual(t, token.Unrestricted, e.Linearity, "what Entries gives is a copy")
}

func TestFaultsOfVendorEntries(t *testing.T) {
	spec.Covers(t, "T-1-12", "T-1-25", "P-6.7-3", "C-076")
	r, err := token.NewRegistry(
		token.Entry{Name: "scope.v1.A", Linearity: token.Affine},
		token.Entry{Name: "os.v1.B"},
		token.Entry{Name: "OutcomeSignal", Linearity: token.Unrestricted},
		token.Entry{Name: "scope.v1.C"}, token.Entry{Name: "scope.v1.C"},
		token.Entry{Name: "scope.v1.D", Linearity: "once"},
		token.Entry{Name: "scope.v1.E", Variance: "bivariant"},
		token.Entry{Name: "scope.v1.F", TTL: -1},
		token.Entry{Name: "nonsense"},
	)
	require.Nil(t, r)
	for _, says := range []string{
		"scope.v1.A: an affine token needs a reason", `"os" is reserved`, "OutcomeSignal: a canonical token cannot be registered anew",
		"scope.v1.C: it is registered twice", `scope.v1.D: linearity "once" is none of`, `scope.v1.E: variance "bivariant" is none of`,
		"scope.v1.F: the ttl -1ns is negative", "nonsense: ",
	} {
		require.ErrorContains(t, err, says)
	}
	var fault *token.NameError
	require.ErrorAs(t, err, &fault)
}
