package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

func reference(t testing.TB, name string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Reference(name)
	require.NoError(t, err)
	return m
}

func on(m *manifest.Manifest) (names []manifest.Invariant) {
	for _, i := range manifest.Invariants() {
		if m.Invariants[i] {
			names = append(names, i)
		}
	}
	return names
}

func ids(phases []*manifest.Phase) (ids []string) {
	for _, p := range phases {
		ids = append(ids, p.ID)
	}
	return ids
}

func kinds(m *manifest.Manifest) (kinds []manifest.Kind) {
	for _, p := range m.Phases {
		kinds = append(kinds, p.Kind)
	}
	return kinds
}

func TestGraphonomous(t *testing.T) {
	spec.Covers(t, "P-15.1-1", "P-4-1", "P-4-8", "P-4-14", "P-4-15", "P-4-16", "P-4-17", "P-4-18", "P-4-22", "P-4-32", "C-033", "C-134")
	m := reference(t, "graphonomous")
	require.Equal(t, "graphonomous.continual_learning", m.LoopID)
	require.Equal(t, manifest.ScopeRequired, m.WorkspaceScope)
	require.Equal(t, []manifest.Kind{"retrieve", "route", "act", "learn", "consolidate"}, kinds(m))
	require.Len(t, on(m), 6, "six of seven by the manifest (C-033)")
	require.False(t, m.Invariants[manifest.QuorumBeforeCommit])

	read := m.Phase("retrieve_ctx")
	require.Equal(t, 500, read.TimeoutMS)
	require.Equal(t, manifest.FailRetry, read.OnFailure)
	require.Equal(t, 2, read.Retries())
	require.True(t, read.Idempotent)
	require.Equal(t, "hash(query, workspace_id, k)", read.Signature)
	require.Equal(t, manifest.KappaRouting, m.Phase("route_topology").Invariant)
	act := m.Phase("act_store")
	require.Equal(t, "delegatic.check_policy", act.PolicyCheck)
	require.Equal(t, "node.created", act.AuditEvent)
	require.Equal(t, manifest.FailAbortLoop, act.OnFailure.OrDefault())
	require.Equal(t, manifest.DefaultMaxRetries, act.Retries())

	event, err := m.Cadence.Event()
	require.NoError(t, err)
	require.Equal(t, manifest.EventParams{Trigger: "agent_query"}, event)
	require.True(t, m.IdleArmed())
	idle, err := m.Cadence.Fallback.Idle()
	require.NoError(t, err)
	require.Equal(t, "1m0s", idle.MinIdle.String())
	require.Equal(t, 1, idle.MaxPerIdle)

	require.Equal(t, []manifest.InnerLoop{{LoopID: "graphonomous.deliberate", Trigger: "phase:route_topology when kappa > 0", Wait: manifest.WaitUntilStable}}, exported(m.Nesting.InnerLoops))
	require.Equal(t, "prism.benchmark", m.Connections[0].ToLoop)
	require.Equal(t, "OutcomeSignal", m.Connections[0].Token)
	require.Equal(t, manifest.Telemetry{
		Namespace:    "graphonomous",
		PhaseMetrics: []string{"duration_ms", "input_size", "output_size", "status"},
		LoopMetrics:  []string{"closure_rate", "iteration_count", "kappa_distribution"},
	}, exportedValue(m.Telemetry))

	require.Equal(t, []string{"retrieve_ctx", "consolidate_idle"}, ids(m.Entries(nil)))
	require.Equal(t, []string{"learn_outcome", "consolidate_idle"}, ids(m.Exits(nil)), "idle is armed (C-045)")
	require.Equal(t, []string{"act_store"}, m.Successors("route_topology"))
	require.Equal(t, []string{"learn_outcome"}, m.Successors("act_store"), "the next in order")
	require.Nil(t, m.Successors("consolidate_idle"))
}

func TestPrism(t *testing.T) {
	spec.Covers(t, "P-15.2-1", "P-3.2-12", "C-016")
	m := reference(t, "prism")
	require.Equal(t, []manifest.Kind{"custom", "custom", "custom", "custom", "custom"}, kinds(m))
	require.Equal(t, manifest.ScopeOptional, m.WorkspaceScope)
	periodic, err := m.Cadence.Periodic()
	require.NoError(t, err)
	require.Equal(t, "168h0m0s", periodic.Interval.String())
	manual, err := m.Cadence.Fallback.Manual()
	require.NoError(t, err)
	require.Equal(t, manifest.ManualParams{Interface: "mcp:prism_benchmark"}, manual)
	require.Equal(t, manifest.Closure{FromPhase: "diagnose", ToPhase: "compose", Via: "substrate:memory", Guarantee: manifest.GuaranteeNextTick}, exportedValue(m.Closure))
	require.Equal(t, "graphonomous.continual_learning", m.Nesting.InnerLoops[0].LoopID)
	require.Equal(t, manifest.WaitUntilStable, m.Nesting.InnerLoops[0].Wait)

	require.Len(t, manifest.Validate(m, manifest.Options{}).Warnings(), 4)
	aliases := manifest.ReferenceAliases(m.LoopID)
	require.Empty(t, manifest.Validate(m, manifest.Options{Aliases: aliases}))
	require.Equal(t, manifest.RoleRetrieve, m.Role("compose", aliases))
	require.Equal(t, manifest.RoleAct, m.Role("interact", aliases))
	require.Equal(t, manifest.RoleLearn, m.Role("diagnose", aliases))
	require.Equal(t, manifest.RoleNone, m.Role("observe", aliases))
	require.Equal(t, []string{"compose"}, ids(m.Entries(aliases)))
	require.Equal(t, []string{"diagnose"}, ids(m.Exits(aliases)))
}

func TestAgentromatic(t *testing.T) {
	spec.Covers(t, "P-15.3-1", "C-016", "C-019", "C-022")
	m := reference(t, "agentromatic")
	require.Equal(t, []manifest.Kind{"custom", "custom", "custom", "custom", "act", "act", "learn"}, kinds(m))
	require.Equal(t, manifest.QuorumBeforeCommit, m.Phase("elect").Invariant)
	require.True(t, m.Invariants[manifest.QuorumBeforeCommit])
	require.Equal(t, "ReputationUpdate", m.Connections[0].Token)
	require.Equal(t, "fleetprompt.trust", m.Connections[0].ToLoop)
	require.NotEmpty(t, manifest.Validate(m, manifest.Options{}).Warnings())
	require.Empty(t, manifest.Validate(m, manifest.Options{Aliases: manifest.ReferenceAliases(m.LoopID)}))
}

func TestEmbodiment(t *testing.T) {
	spec.Covers(t, "B-12-1", "B-12-2", "B-12-4", "B-12-5", "B-12-6", "B-12-7", "C-017", "C-018", "C-059", "C-133")
	m := reference(t, "embodiment")
	type row struct {
		id         string
		kind       manifest.Kind
		event      string
		timeout    int
		idempotent bool
	}
	var rows []row
	for _, p := range m.Phases {
		rows = append(rows, row{p.ID, p.Kind, p.AuditEvent, p.TimeoutMS, p.Idempotent})
	}
	require.Equal(t, []row{
		{"perceive_env", "retrieve", "os011.perceive", 5000, true},
		{"enumerate_affordances", "route", "os011.affordances", 1000, true},
		{"select_action", "route", "os011.select", 0, true},
		{"commit_action", "act", "os011.act", 0, false},
		{"learn_from_outcome", "learn", "os011.learn", 0, false},
	}, rows)
	require.Equal(t, "phase:enumerate_affordances|external", m.Phase("select_action").Inputs.From)
	require.Equal(t, "delegatic://authorize", m.Phase("commit_action").PolicyCheck)
	require.Equal(t, "learn_from_outcome", m.Closure.FromPhase)
	require.Equal(t, "perceive_env", m.Closure.ToPhase)
	event, err := m.Cadence.Event()
	require.NoError(t, err)
	require.Equal(t, "plan_step_emitted", event.Trigger)
	require.Equal(t, []manifest.Invariant{
		manifest.PhaseAtomicity, manifest.FeedbackImmutability, manifest.AppendOnlyAudit,
		manifest.OutcomeGrounding, manifest.TraceIDPropagation,
	}, on(m))
	require.NotEmpty(t, m.Substrates.Auth)
	require.Equal(t, "surprise_magnitude >= 0.3", m.Connections[0].EmitCondition)
	require.Equal(t, "status in ['success','failure']", m.Connections[1].EmitCondition)
	require.Empty(t, manifest.Validate(m, manifest.Options{}).Notes(), "no aliases of paths are left (C-059)")
}

func TestReferencesAreLoaded(t *testing.T) {
	spec.Covers(t, "P-15-1", "I01", "C-010", "T-M-1")
	require.Equal(t, []string{"graphonomous", "prism", "agentromatic", "embodiment"}, manifest.References())
	for _, name := range manifest.References() {
		m := reference(t, name)
		require.NoError(t, manifest.Validate(m, manifest.Options{}).Err(), name)
		require.NotSame(t, m, reference(t, name))
	}
	_, err := manifest.Reference("../types")
	require.ErrorContains(t, err, "there is no reference manifest")
	require.Nil(t, manifest.ReferenceAliases("acme.other"))
}
