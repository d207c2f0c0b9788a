package manifest_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/manifest"
)

// drawManifest draws a manifest without errors, as Go code would write it.
func drawManifest(t *rapid.T) *manifest.Manifest {
	v2 := rapid.Bool().Draw(t, "0.2")
	m := &manifest.Manifest{
		ProtocolVersion: rapid.SampledFrom([]string{"0.1", "0.1.1", "0.1.2"}).Draw(t, "protocol"),
		LoopID:          drawLoopID(t), LoopName: drawText(t), Version: "1.2.3", Owner: drawText(t), Description: drawText(t),
		WorkspaceScope: sometimes(t, manifest.ScopeRequired, manifest.ScopeOptional, manifest.ScopeGlobal),
		Substrates: manifest.Substrates{
			Memory: "m://{ws_id}", Policy: "p", Audit: "a", Auth: "i",
			Transport: sometimes(t, "mcp", "a2a"), Time: sometimes(t, "clock"),
		},
		Invariants: map[manifest.Invariant]bool{},
		Telemetry:  manifest.Telemetry{Namespace: drawText(t), PhaseMetrics: sometimesList(t, "status", "x y"), LoopMetrics: sometimesList(t, "closure_rate")},
		Cadence:    drawCadence(t, 3),
	}
	if v2 {
		m.ProtocolVersion = "0.2"
	}
	for _, i := range manifest.Invariants() {
		if rapid.Bool().Draw(t, "has invariant") {
			m.Invariants[i] = rapid.Bool().Draw(t, "on")
		}
	}
	drawPhases(t, m, v2)
	m.Closure = manifest.Closure{
		FromPhase: m.Phases[len(m.Phases)-1].ID, ToPhase: m.Phases[0].ID,
		Via: sometimes(t, "substrate:audit", "signal:OutcomeSignal"), Guarantee: sometimes(t, manifest.GuaranteeEventual, manifest.GuaranteeImmediate, manifest.GuaranteeNextTick),
	}
	drawNeighbors(t, m)
	return m
}

// drawPhases: a retrieve first, any kinds between, then an act and a learn.
func drawPhases(t *rapid.T, m *manifest.Manifest, v2 bool) {
	middle := rapid.SliceOfN(rapid.SampledFrom([]manifest.Kind{"retrieve", "route", "act", "consolidate", "custom"}), 0, 12).Draw(t, "kinds")
	for i, kind := range slices.Concat([]manifest.Kind{"retrieve"}, middle, []manifest.Kind{"act", "learn"}) {
		p := manifest.Phase{ID: fmt.Sprintf("phase_%d", i), Kind: kind}
		if kind == manifest.KindCustom {
			p.CustomKind = rapid.SampledFrom([]string{"compose", "bid", "Ω λ"}).Draw(t, "custom kind")
		}
		m.Phases = append(m.Phases, p)
	}
	for i := range m.Phases {
		drawPhase(t, m, &m.Phases[i], v2)
	}
}

func drawPhase(t *rapid.T, m *manifest.Manifest, p *manifest.Phase, v2 bool) {
	endpoint := rapid.SampledFrom([]string{
		"", "external", "phase:" + m.Phases[rapid.IntRange(0, len(m.Phases)-1).Draw(t, "target")].ID,
		"substrate:memory", "signal:OutcomeSignal", "external|signal:acme.v2.Ping", "substrate:time | external",
	})
	p.Description = drawText(t)
	p.Inputs = manifest.Inputs{From: endpoint.Draw(t, "from"), Schema: sometimes(t, "Query", "Found[]")}
	p.Outputs = manifest.Outputs{To: endpoint.Draw(t, "to"), Schema: sometimes(t, "Plan")}
	p.Idempotent, p.Parallel = rapid.Bool().Draw(t, "idempotent"), rapid.Bool().Draw(t, "parallel")
	p.Signature = sometimes(t, "hash(query, workspace_id, k)", "key()")
	p.TimeoutMS = rapid.IntRange(0, 100_000).Draw(t, "timeout")
	p.OnFailure = sometimes(t, manifest.FailRetry, manifest.FailRollback, manifest.FailEscalate, manifest.FailSkip, manifest.FailAbortLoop)
	if rapid.Bool().Draw(t, "retries") {
		n := rapid.IntRange(0, 9).Draw(t, "max retries")
		p.MaxRetries = &n
	}
	if i := sometimes(t, manifest.Invariants()...); m.Invariants[i] {
		p.Invariant = i
	}
	p.PolicyCheck, p.AuditEvent = sometimes(t, "acme.check"), sometimes(t, "node.created")
	if !v2 {
		return
	}
	p.Inputs.Tokens, p.Inputs.Substrates = sometimesList(t, "TopologyContext"), sometimesList(t, manifest.SlotMemory, manifest.SlotTime)
	p.Outputs.Tokens = sometimesList(t, "DeliberationRequest", "acme.v1.Ping")
	if rapid.Bool().Draw(t, "effects") {
		p.Effects = &manifest.Effects{
			Calls: sometimesList(t, "memory.retrieve_context"), Mutates: sometimesList(t, "memory.store_node"),
			MayEmit: sometimesList(t, "OutcomeSignal"), External: sometimesList(t, "http://*"),
		}
	}
	p.Successors = sometimesList(t, m.Phases[0].ID, p.ID)
	if rapid.Bool().Draw(t, "refinements") {
		p.Refinements = map[string]any{"latency_ms_max": json.Number("200"), "deterministic": true, "requires_kappa": "== 0"}
	}
}

func drawNeighbors(t *rapid.T, m *manifest.Manifest) {
	m.Nesting.ParentLoop = sometimes(t, "acme.outer")
	for range rapid.IntRange(0, 2).Draw(t, "inner loops") {
		inner := manifest.InnerLoop{
			LoopID: "acme.debate", Trigger: "phase:phase_0" + sometimes(t, " when max_kappa > 0"),
			Wait: sometimes(t, manifest.WaitUntilStable, manifest.WaitUntilDone, manifest.WaitFireForget, manifest.WaitBounded),
		}
		if inner.Wait == manifest.WaitBounded {
			inner.TimeoutMS = 1 + rapid.IntRange(0, 10_000).Draw(t, "inner timeout")
		}
		m.Nesting.InnerLoops = append(m.Nesting.InnerLoops, inner)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "connections") {
		k := manifest.Connection{
			ID: fmt.Sprintf("out %d", i), EmitPhase: "phase_0", ToLoop: drawLoopID(t), ToPhase: sometimes(t, "observe"),
			Token:         rapid.SampledFrom([]string{"OutcomeSignal", "ReputationUpdate", "acme.v1.Ping"}).Draw(t, "token"),
			EmitCondition: sometimes(t, "status in ['success','failure']", "confidence ≥ 0.5"), Envelope: sometimes(t, manifest.Envelope),
			Cadence:  sometimes(t, manifest.ConnectionAsync, manifest.ConnectionSync),
			Delivery: sometimes(t, manifest.DeliveryAtLeastOnce, manifest.DeliveryExactlyOnce),
		}
		if k.MaxInflight = rapid.IntRange(0, 5).Draw(t, "inflight"); k.MaxInflight > 0 {
			k.OverflowPolicy = sometimes(t, manifest.OverflowBlock, manifest.OverflowEscalate)
		}
		m.Connections = append(m.Connections, k)
	}
}

func drawCadence(t *rapid.T, depth int) manifest.Cadence {
	number := func(n int) json.Number { return json.Number(fmt.Sprint(n)) }
	c := rapid.SampledFrom([]manifest.Cadence{
		{Type: manifest.CadenceEvent, Params: map[string]any{"trigger": "ticket", "filter": "size > 3"}},
		{Type: manifest.CadencePeriodic, Params: map[string]any{"interval": "weekly", "phase_offset": "1h"}},
		{Type: manifest.CadenceStreaming, Params: map[string]any{"stream": "s", "batch_size": number(3)}},
		{Type: manifest.CadenceIdle, Params: map[string]any{"min_idle_ms": number(60000), "max_iteration_per_idle": number(1)}},
		{Type: manifest.CadenceCrossLoopSignal, Params: map[string]any{"from_loop": "acme.x", "token": "OutcomeSignal"}},
		{Type: manifest.CadenceManual, Params: map[string]any{"interface": "mcp:x", "rate_limit": "10/min", "host's own": map[string]any{"a": []any{nil, true}}}},
		{Type: manifest.CadenceManual},
	}).Draw(t, "cadence")
	if depth > 0 && rapid.Bool().Draw(t, "fallback") {
		fallback := drawCadence(t, depth-1)
		c.Fallback = &fallback
	}
	return c
}

func drawLoopID(t *rapid.T) string {
	return rapid.StringMatching(`[a-z][a-z0-9_-]{0,8}(\.[a-z0-9_-]{1,8}){1,3}`).Draw(t, "loop id")
}

func drawText(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[ -~äλ😀\n\t]{0,20}`)).Draw(t, "text")
}

func sometimes[T ~string](t *rapid.T, values ...T) T {
	return rapid.SampledFrom(append([]T{""}, values...)).Draw(t, "value")
}

func sometimesList[T ~string](t *rapid.T, values ...T) []T {
	switch rapid.IntRange(0, 2).Draw(t, "list") {
	case 0:
		return nil
	case 1:
		return []T{}
	default:
		return values
	}
}
