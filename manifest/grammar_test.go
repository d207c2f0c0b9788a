package manifest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

func TestEndpoints(t *testing.T) {
	spec.Covers(t, "P-4-10", "P-4-11", "P-4-20", "C-021")
	for in, want := range map[string][]manifest.Endpoint{
		"":         nil,
		"external": {{Kind: manifest.EndpointExternal}},
		"phase:a":  {{Kind: manifest.EndpointPhase, Name: "a"}},
		"substrate:memory|signal:acme.v1.X": {
			{Kind: manifest.EndpointSubstrate, Name: "memory"}, {Kind: manifest.EndpointSignal, Name: "acme.v1.X"},
		},
		"  external  |external": {{Kind: manifest.EndpointExternal}, {Kind: manifest.EndpointExternal}},
	} {
		got, err := manifest.ParseEndpoints(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{
		"|", "external|", "|external", "Phase:a", "phase", "phase:", "phase: a", "phase:a b", "phase:a:b", "external:x",
		"memory", "substrate", "phase:a,phase:b", "phase:a\n", " ",
	} {
		_, err := manifest.ParseEndpoints(in)
		var e *manifest.EndpointError
		require.ErrorAs(t, err, &e, "%q", in)
		require.Equal(t, in, e.Source)
		require.NotEmpty(t, e.Problem)
	}
}

func TestEndpointsRoundTrip(t *testing.T) {
	spec.Covers(t, "C-021")
	rapid.Check(t, func(t *rapid.T) {
		kinds := []manifest.EndpointKind{manifest.EndpointExternal, manifest.EndpointPhase, manifest.EndpointSubstrate, manifest.EndpointSignal}
		var want []manifest.Endpoint
		var texts []string
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			e := manifest.Endpoint{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
			if e.Kind != manifest.EndpointExternal {
				e.Name = rapid.StringMatching(`[A-Za-z0-9_.-]{1,10}`).Draw(t, "name")
			}
			want = append(want, e)
			texts = append(texts, e.String())
		}
		got, err := manifest.ParseEndpoints(strings.Join(texts, rapid.SampledFrom([]string{"|", " | ", "| "}).Draw(t, "bar")))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestTriggers(t *testing.T) {
	spec.Covers(t, "C-058")
	for in, want := range map[string]manifest.Trigger{
		"phase:a":                   {Phase: "a"},
		" phase:a ":                 {Phase: "a"},
		"phase:a when kappa > 0":    {Phase: "a", When: "kappa > 0"},
		"phase:a  when  x == 'y' ":  {Phase: "a", When: "x == 'y'"},
		"phase:a when when == true": {Phase: "a", When: "when == true"},
	} {
		got, err := manifest.ParseTrigger(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
		again, err := manifest.ParseTrigger(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for _, in := range []string{"", "a", "phase:", "phase:A", "phase:a whenever x", "phase:a when", "phase:a if x > 0"} {
		_, err := manifest.ParseTrigger(in)
		require.Error(t, err, in)
	}
	_, err := manifest.ParseTrigger("phase:a when x >")
	var syntax *expr.SyntaxError
	require.ErrorAs(t, err, &syntax)
}

func TestIntervals(t *testing.T) {
	spec.Covers(t, "P-8.2-1", "C-055")
	for in, want := range map[string]manifest.Interval{
		"hourly": {Fixed: time.Hour}, "daily": {Fixed: 24 * time.Hour}, "weekly": {Fixed: 168 * time.Hour}, "monthly": {Months: 1},
		"1h": {Fixed: time.Hour}, "90s": {Fixed: 90 * time.Second}, "1h30m": {Fixed: 90 * time.Minute}, "1.5ms": {Fixed: 1500 * time.Microsecond},
	} {
		got, err := manifest.ParseInterval(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "0s", "0", "-1h", "1", "1d", "1 h", "Weekly", "yearly", "1h ", "99999999h99999999h"} {
		_, err := manifest.ParseInterval(in)
		require.ErrorContains(t, err, "write a positive duration", in)
	}
	for in, want := range map[string]time.Duration{"0s": 0, "0": 0, "15m": 15 * time.Minute} {
		got, err := manifest.ParseOffset(in)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"", "-1s", "weekly"} {
		_, err := manifest.ParseOffset(in)
		require.Error(t, err, in)
	}
}

func TestRates(t *testing.T) {
	spec.Covers(t, "P-8.6-1", "C-055")
	for in, want := range map[string]manifest.Rate{
		"10/min": {N: 10, Per: time.Minute}, "1/s": {N: 1, Per: time.Second}, "2/sec": {N: 2, Per: time.Second},
		"999/h": {N: 999, Per: time.Hour}, "5/day": {N: 5, Per: 24 * time.Hour},
	} {
		got, err := manifest.ParseRate(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "10", "/min", "0/min", "-1/min", "+1/min", "01/min", "1.5/min", "10/minute", "10 / min", "10/min/h", "99999999999/s"} {
		_, err := manifest.ParseRate(in)
		require.Error(t, err, in)
	}
}

func TestProtocolVersions(t *testing.T) {
	spec.Covers(t, "P-16-6", "P-16-7", "C-001", "C-004")
	for in, want := range map[string]struct {
		version   manifest.Protocol
		supported bool
	}{
		"0.1":   {manifest.Protocol{0, 1, 0}, true},
		"0.1.0": {manifest.Protocol{0, 1, 0}, true},
		"0.1.1": {manifest.Protocol{0, 1, 1}, true},
		"0.1.9": {manifest.Protocol{0, 1, 9}, true},
		"0.0":   {manifest.Protocol{0, 0, 0}, true},
		"0.2":   {manifest.Protocol{0, 2, 0}, true},
		"0.2.3": {manifest.Protocol{0, 2, 3}, true},
		"0.3":   {manifest.Protocol{0, 3, 0}, false},
		"0.10":  {manifest.Protocol{0, 10, 0}, false},
		"1.0":   {manifest.Protocol{1, 0, 0}, false},
		"1.1.2": {manifest.Protocol{1, 1, 2}, false},
	} {
		got, err := manifest.ParseProtocol(in)
		require.NoError(t, err, in)
		require.Equal(t, want.version, got, in)
		require.Equal(t, want.supported, got.Supported(), in)
	}
	for _, in := range []string{"", "0", "0.1.2.3", "v0.1", "0.01", "0.1-rc", "0.-1", "0. 1", "0.1.", "0.99999999999"} {
		_, err := manifest.ParseProtocol(in)
		require.Error(t, err, in)
	}
	require.Negative(t, manifest.Protocol{0, 1, 9}.Compare(manifest.Protocol{0, 2, 0}))
	printed, err := manifest.ParseProtocol("0.1.2")
	require.NoError(t, err)
	require.Zero(t, printed.Compare(manifest.Protocol{0, 1, 2}))
	require.Equal(t, "0.1.2", printed.String())
	level, err := manifest.ParseProtocol(manifest.TextLevel)
	require.NoError(t, err)
	require.True(t, level.Supported())
}

// TestNames runs the forms of names through documents.
func TestNames(t *testing.T) {
	spec.Covers(t, "P-4-5", "P-4-6", "P-4-13", "C-021", "C-027", "C-032")
	base := fixtures(t, "findings")[0].document
	for _, c := range []struct {
		from, to  string // replaced, %s being the name
		code      manifest.Code
		good, bad []string
	}{
		{`"loop_id": "acme.triage"`, `"loop_id": "%s"`, manifest.CodeLoopID,
			[]string{"a.b", "os-011.embodiment", "a.b.c", "a_1.2-x"},
			[]string{"a", "a.", ".a", "1.b", "A.b", "a..b", "a.b c", "a.ü", "-a.b"}},
		{`"version": "1.0.0"`, `"version": "%s"`, manifest.CodeLoopVersion,
			[]string{"0.0.0", "1.2.3-rc.1", "1.2.3+b.01", "1.0.0-0a.b-c+x"},
			[]string{"1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", "1.2.x"}},
		{`"id": "reply", "kind": "act"`, `"id": "%s", "kind": "act"`, manifest.CodePhaseID,
			[]string{"a", "0", "_", "act_store_2"}, []string{"A", "a-b", "a b", "a.b", "é"}},
		{`"kind": "act"`, `"kind": "act", "inputs": {"schema": "%s"}`, manifest.CodeSchemaName,
			[]string{"Transcript", "Transcript[]", "pkg.Type", "Ωmega"}, []string{"[]", "a b", "A[]B", "A[][]", "[]A", " A"}},
		{`"kind": "act"`, `"kind": "act", "signature": "%s"`, manifest.CodeSignature,
			[]string{"hash(query, workspace_id, k)", "key()", "a.b(c.d)", "f( x )", "f(x ,y)"},
			[]string{"hash", "hash(", "hash(a", "(a)", "hash(a,)", "hash(a))", "hash(a b)", "1f(a)", "f(1)", "hash(a) "}},
	} {
		require.Contains(t, base, c.from)
		parse := func(name string) error {
			_, err := manifest.Parse([]byte(strings.Replace(base, c.from, strings.Replace(c.to, "%s", name, 1), 1)))
			return err
		}
		for _, name := range c.good {
			require.NoError(t, parse(name), "%s: %q", c.code, name)
		}
		for _, name := range c.bad {
			var issues manifest.Issues
			require.True(t, errors.As(parse(name), &issues), "%s: %q is accepted", c.code, name)
			require.NotZero(t, codes(issues)[c.code], "%q: %v", name, issues)
		}
	}
}
