package manifest_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
)

// sound is a manifest without issues, as code writes it.
func sound() *manifest.Manifest {
	return &manifest.Manifest{
		ProtocolVersion: "0.2", LoopID: "acme.triage", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve},
			{ID: "pick", Kind: manifest.KindRoute},
			{ID: "reply", Kind: manifest.KindAct},
			{ID: "score", Kind: manifest.KindLearn},
			{ID: "tidy", Kind: manifest.KindConsolidate},
		},
		Closure:    manifest.Closure{FromPhase: "tidy", ToPhase: "read"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceEvent, Params: map[string]any{"trigger": "ticket"}},
		Substrates: manifest.Substrates{Memory: "m", Policy: "p", Audit: "a", Auth: "i"},
		Invariants: manifest.AllInvariants(),
	}
}

// TestClosedSets are the golden lists of OS-010 §16.1.
func TestClosedSets(t *testing.T) {
	spec.Covers(t, "P-16.1-1", "P-3.2-1", "P-3.3-1", "P-3.4-1", "P-4-9")
	require.Equal(t, []manifest.Kind{"retrieve", "route", "act", "learn", "consolidate", "custom"}, manifest.Kinds())
	require.Equal(t, []manifest.CadenceType{"event", "periodic", "streaming", "idle", "cross_loop_signal", "manual"}, manifest.CadenceTypes())
	require.Equal(t, []manifest.Slot{"memory", "policy", "audit", "auth", "transport", "time"}, manifest.Slots())
	require.Equal(t, []manifest.Invariant{
		"phase_atomicity", "feedback_immutability", "append_only_audit", "kappa_routing",
		"quorum_before_commit", "outcome_grounding", "trace_id_propagation",
	}, manifest.Invariants())
	require.Len(t, manifest.AllInvariants(), 7)
}

func TestCodeIsChecked(t *testing.T) {
	spec.Covers(t, "P-3.1-1", "P-4-14", "P-4-15", "P-4-33", "C-005")
	require.Empty(t, manifest.Validate(sound(), manifest.Options{}))
	for name, c := range map[string]struct {
		change  func(*manifest.Manifest)
		code    manifest.Code
		pointer string
	}{
		"empty":           {func(m *manifest.Manifest) { *m = manifest.Manifest{} }, manifest.CodeMissingMember, "/loop_id"},
		"no invariants":   {func(m *manifest.Manifest) { m.Invariants = nil }, manifest.CodeMissingMember, "/invariants"},
		"negative":        {func(m *manifest.Manifest) { m.Phases[1].TimeoutMS = -1 }, manifest.CodeBadNumber, "/phases/1/timeout_ms"},
		"beyond duration": {func(m *manifest.Manifest) { m.Phases[1].TimeoutMS = math.MaxInt }, manifest.CodeBadNumber, "/phases/1/timeout_ms"},
		"retries":         {func(m *manifest.Manifest) { m.Phases[1].MaxRetries = new(-2) }, manifest.CodeBadNumber, "/phases/1/max_retries"},
		"kind":            {func(m *manifest.Manifest) { m.Phases[2].Kind = "Act" }, manifest.CodeBadValue, "/phases/2/kind"},
		"slot": {func(m *manifest.Manifest) { m.Phases[2].Inputs.Substrates = []manifest.Slot{"memory", "disk"} },
			manifest.CodeBadValue, "/phases/2/inputs/substrates/1"},
		"fallback": {func(m *manifest.Manifest) { m.Cadence.Fallback = &manifest.Cadence{Type: "heartbeat"} },
			manifest.CodeBadValue, "/cadence/fallback/type"},
		"parameter that is no JSON": {func(m *manifest.Manifest) { m.Cadence.Params["x"] = func() {} }, manifest.CodeWrongType, "/cadence/params"},
		"refinement that is no JSON": {func(m *manifest.Manifest) { m.Phases[0].Refinements = map[string]any{"x": math.NaN()} },
			manifest.CodeWrongType, "/phases/0/refinements"},
		"extra": {func(m *manifest.Manifest) { m.Closure.Extra = manifest.Manifest{}.Extra; m.Closure.Via = "external" }, manifest.CodeEndpoint, "/closure/via"},
		"0.2 in a 0.1 manifest": {func(m *manifest.Manifest) { m.ProtocolVersion = "0.1"; m.Phases[3].Successors = []string{} },
			manifest.CodeNewerMember, "/phases/3/successors"},
	} {
		m := sound()
		c.change(m)
		var found []string
		for _, i := range manifest.Validate(m, manifest.Options{}).Errors() {
			require.Zero(t, i.Line, "%s: code has no lines", name)
			found = append(found, string(i.Code)+" "+i.Pointer)
		}
		require.Contains(t, found, string(c.code)+" "+c.pointer, name)
	}
}

// TestVendorLinearity: a registry tells what may be lost.
func TestVendorLinearity(t *testing.T) {
	spec.Covers(t, "C-066", "C-076")
	m := sound()
	m.Connections = []manifest.Connection{{
		ID: "x", EmitPhase: "reply", Token: "acme.v1.Receipt", ToLoop: "acme.other",
		Delivery: manifest.DeliveryAtMostOnce, MaxInflight: 1, OverflowPolicy: manifest.OverflowDropOldest,
	}}
	require.NoError(t, manifest.Validate(m, manifest.Options{}).Err(), "an unregistered vendor token is unrestricted")
	registry, err := token.NewRegistry(token.Entry{Name: "acme.v1.Receipt", Linearity: token.Relevant})
	require.NoError(t, err)
	errs := manifest.Validate(m, manifest.Options{Tokens: registry}).Errors()
	require.Equal(t, map[manifest.Code]int{manifest.CodeDelivery: 2}, codes(errs))
}

// TestAliasesDecideRoles: with all custom kinds aliased a breach is an error.
func TestAliasesDecideRoles(t *testing.T) {
	spec.Covers(t, "P-3.2-8", "P-3.2-9", "P-3.2-10", "P-3.2-12", "C-016", "C-093")
	m := sound()
	m.Phases[0] = manifest.Phase{ID: "read", Kind: manifest.KindCustom, CustomKind: "fetch"}
	require.Equal(t, map[manifest.Code]int{manifest.CodeMissingRole: 1, manifest.CodeClosureRole: 1}, codes(manifest.Validate(m, manifest.Options{}).Warnings()))
	require.Empty(t, manifest.Validate(m, manifest.Options{Aliases: manifest.Aliases{"fetch": manifest.RoleRetrieve}}))
	require.Equal(t, map[manifest.Code]int{manifest.CodeMissingRole: 1, manifest.CodeClosureRole: 1},
		codes(manifest.Validate(m, manifest.Options{Aliases: manifest.Aliases{"fetch": manifest.RoleDeliberate}}).Errors()))
	require.Equal(t, manifest.RoleNone, m.Role("none", nil))
}

func TestFlow(t *testing.T) {
	spec.Covers(t, "C-045", "C-134", "T-2-2")
	m := sound()
	require.Equal(t, []string{"read"}, ids(m.Entries(nil)))
	require.Equal(t, []string{"tidy"}, ids(m.Exits(nil)))
	m.Cadence.Fallback = &manifest.Cadence{Type: manifest.CadenceIdle}
	require.True(t, m.IdleArmed())
	require.Equal(t, []string{"read", "tidy"}, ids(m.Entries(nil)))
	require.Equal(t, []string{"score", "tidy"}, ids(m.Exits(nil)))
	require.Len(t, m.Cadences(), 2)

	m.Phases[1].Outputs.To = "phase:reply | phase:score|external"
	require.Equal(t, []string{"reply", "score"}, m.Successors("pick"))
	m.Phases[1].Successors = []string{"acme.debate", "reply"}
	require.Equal(t, []string{"acme.debate", "reply"}, m.Successors("pick"))
	m.Phases[2].Successors = []string{}
	require.NotNil(t, m.Successors("reply"))
	require.Empty(t, m.Successors("reply"), "a stuck state, not an exit")
	require.Nil(t, m.Successors("none"))
	require.Equal(t, []string{"score", "tidy"}, ids(m.Exits(nil)))

	m.Closure.ToPhase = ""
	require.Equal(t, "read", m.ClosureTarget().ID)
	require.Same(t, &m.Phases[4], m.FirstConsolidate(nil))
	require.Equal(t, 2, m.Index("reply"))
	require.Equal(t, -1, m.Index("none"))
	var none manifest.Manifest
	require.Nil(t, none.ClosureTarget())
	require.Empty(t, none.Entries(nil))
	require.Empty(t, none.Exits(nil))
}

func TestSubstrateReferences(t *testing.T) {
	spec.Covers(t, "C-030")
	s := manifest.Substrates{Memory: "g://{ws_id}/{ws_id}", Policy: "p", Time: "clock"}
	require.Equal(t, manifest.Substrates{Memory: "g://acme/acme", Policy: "p", Time: "clock"}, s.Expand("acme"))
	require.Equal(t, "g://{ws_id}/{ws_id}", s.Memory, "the template is left as it was")
	require.Equal(t, "clock", s.Ref(manifest.SlotTime))
	require.Empty(t, s.Ref(manifest.SlotAuth))
	require.Empty(t, s.Ref("disk"))
}

func TestCadenceParams(t *testing.T) {
	spec.Covers(t, "P-4-22", "P-8.1-1", "P-8.2-1", "P-8.3-1", "P-8.4-1", "P-8.5-1", "P-8.6-1", "C-056", "C-062")
	event, err := (&manifest.Cadence{Type: "event", Params: map[string]any{"trigger": "t", "filter": "x > 1"}}).Event()
	require.NoError(t, err)
	require.Equal(t, manifest.EventParams{Trigger: "t", Filter: "x > 1"}, event)
	periodic, err := (&manifest.Cadence{Type: "periodic", Params: map[string]any{"interval": "1h", "phase_offset": "5m"}}).Periodic()
	require.NoError(t, err)
	require.Equal(t, manifest.PeriodicParams{Interval: manifest.Interval{Fixed: time.Hour}, PhaseOffset: 5 * time.Minute}, periodic)
	streaming, err := (&manifest.Cadence{Type: "streaming", Params: map[string]any{"stream": "s"}}).Streaming()
	require.NoError(t, err)
	require.Equal(t, manifest.StreamingParams{Stream: "s", BatchSize: 1}, streaming)
	signal, err := (&manifest.Cadence{Type: "cross_loop_signal", Params: map[string]any{"from_loop": "a.b", "from_phase": "c", "token": "OutcomeSignal"}}).Signal()
	require.NoError(t, err)
	require.Equal(t, manifest.SignalParams{FromLoop: "a.b", FromPhase: "c", Token: "OutcomeSignal"}, signal)
	manual, err := (&manifest.Cadence{Type: "manual", Params: map[string]any{"interface": "mcp:x", "rate_limit": "10/min"}}).Manual()
	require.NoError(t, err)
	require.Equal(t, manifest.ManualParams{Interface: "mcp:x", RateLimit: manifest.Rate{N: 10, Per: time.Minute}}, manual)

	for _, n := range []any{60000, int64(60000), 60000.0} { // what Go code may write
		idle, err := (&manifest.Cadence{Type: "idle", Params: map[string]any{"min_idle_ms": n, "max_iteration_per_idle": 2}}).Idle()
		require.NoError(t, err)
		require.Equal(t, manifest.IdleParams{MinIdle: time.Minute, MaxPerIdle: 2}, idle)
	}
	for _, bad := range []any{"60s", 1.5, -1, nil, math.Inf(1), int64(math.MaxInt64)} {
		_, err := (&manifest.Cadence{Type: "idle", Params: map[string]any{"min_idle_ms": bad}}).Idle()
		var param *manifest.ParamError
		require.ErrorAs(t, err, &param, "%v", bad)
		require.Equal(t, "min_idle_ms", param.Param)
	}
	_, err = (&manifest.Cadence{Type: "idle"}).Event()
	require.ErrorContains(t, err, "of type idle has no parameters of type event")
}

func TestParseFile(t *testing.T) {
	spec.Covers(t, "P-4-1", "C-025", "I01")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	text, err := manifest.ReferenceText("prism")
	require.NoError(t, err)
	m, err := manifest.ParseFile(write("prism.json", string(text)))
	require.NoError(t, err)
	require.Equal(t, "prism.benchmark", m.LoopID)
	warnings := manifest.Validate(m, manifest.Options{}).Warnings()
	require.True(t, strings.HasPrefix(warnings[0].String(), filepath.Join(dir, "prism.json")+":10:13: warning: /phases:"), warnings[0])

	for _, name := range []string{"a.yml", "a.YAML"} {
		_, err = manifest.ParseFile(write(name, "loop_id: [a"))
		require.ErrorContains(t, err, name+":1:")
		require.ErrorContains(t, err, "this is no YAML")
	}
	_, err = manifest.ParseFile(write("delta.json", "{\n  \"delta\": +0.04 // change\n}"))
	require.ErrorContains(t, err, "delta.json:2:12: a JSON number has no plus sign")
	require.ErrorContains(t, err, "delta.json:2:18: JSON has no comments")
	_, err = manifest.ParseFile(filepath.Join(dir, "none.json"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestIssues(t *testing.T) {
	is := manifest.Issues{
		{Code: "a", Severity: manifest.SeverityNote, Message: "note"},
		{Code: "b", Severity: manifest.SeverityWarning, Message: "warning", Pointer: "/x", File: "f", Line: 3, Column: 4},
	}
	require.NoError(t, is.Err())
	require.Equal(t, "f:3:4: warning: /x: warning [b]", is[1].String())
	require.Equal(t, "note: note [a]", is[0].String())
	is = append(is, manifest.Issue{Code: "c", Severity: manifest.SeverityError, Message: "wrong; mend it", Line: 1, Column: 2})
	require.EqualError(t, is.Err(), "manifest: 1:2: wrong; mend it [c]")
	var all manifest.Issues
	require.True(t, errors.As(is.Err(), &all))
	require.Len(t, all, 3)
	require.Len(t, all.Errors(), 1)
	require.Len(t, all.Warnings(), 1)
	require.Len(t, all.Notes(), 1)
}
