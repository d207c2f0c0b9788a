package invariant_test

import (
	"math"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// healthy is an act phase that has everything and breaks nothing.
func healthy() *invariant.Phase {
	act := &machine.Act{ActionID: "act-1", CausalParentIDs: []string{"n1"}}
	return &invariant.Phase{
		TraceID: "t1", Phase: &manifest.Phase{ID: "do", Kind: manifest.KindAct}, Role: manifest.RoleAct, Quorum: 0.66, Act: act,
		Topologies:    []*token.TopologyContext{{MaxKappa: 1, Routing: token.RoutingDeliberate}},
		Deliberations: []*token.DeliberationResult{{Verdict: token.VerdictApprove, Confidence: 0.9}},
		Calls:         []invariant.Call{{Operation: substrate.OpStoreNode, Mutates: true, Audited: true, Echoes: true, EchoedTrace: "t1"}},
	}
}

func calls(c ...invariant.Call) invariant.Phase {
	return invariant.Phase{TraceID: "t1", Role: manifest.RoleAct, Calls: c}
}

func TestPhaseAtomicity(t *testing.T) {
	spec.Covers(t, "P-7.1-1", "P-7.1-3", "C-048")
	read := invariant.Call{Operation: substrate.OpRetrieveContext}
	still := invariant.Call{Operation: substrate.OpStoreNode, Mutates: true, UnderWay: true}
	check(t, manifest.PhaseAtomicity, []row{
		{name: "calls that returned", phase: calls(read, read)},
		{name: "a call that outlives the phase", phase: calls(read, still), after: "memory.store_node has not returned although the phase has: wait for"},
		{
			name: "another attempt's call", phase: invariant.Phase{Elsewhere: []substrate.Slot{substrate.SlotMemory}},
			before: "an earlier attempt or phase made on memory has not returned: wait for",
		},
	})
}

func learns(outcome []string, c ...invariant.Call) invariant.Phase {
	return invariant.Phase{
		Role: manifest.RoleLearn, Calls: c,
		Outcome: &token.OutcomeSignal{ActionID: "act-1", CausalParentIDs: outcome},
	}
}

func TestFeedbackImmutability(t *testing.T) {
	spec.Covers(t, "P-7.2-1", "P-7.2-2", "P-7.2-3", "C-091")
	attributed := func(ids ...string) invariant.Call {
		return invariant.Call{Operation: substrate.OpLearnFromOutcome, Mutates: true, Parents: append([]string{}, ids...)}
	}
	merge := invariant.Call{Operation: substrate.OpConsolidate, Mutates: true}
	refused := invariant.Call{Operation: substrate.OpConsolidate, Mutates: true, Refused: true}
	rows := []row{
		{name: "consolidate, refused and ignored", phase: learns(nil, refused), after: "memory.consolidate was attempted, which rewrites history: move"},
		{name: "consolidate, somehow made", phase: learns(nil, merge), after: "memory.consolidate was called, which rewrites history: move"},
		{name: "erase", phase: learns(nil, invariant.Call{Operation: substrate.OpErase, Mutates: true}), after: "memory.erase was called"},
		{name: "a host's operation that is not append-only", phase: learns(nil, invariant.Call{Operation: "memory.truncate", Mutates: true, Refused: true}), after: "memory.truncate was attempted"},
		{name: "a host's operation that is", phase: learns(nil, invariant.Call{Operation: "memory.annotate", Mutates: true})},
		{name: "consolidate in a consolidate phase", phase: invariant.Phase{Role: manifest.RoleConsolidate, Calls: []invariant.Call{merge}}},
		{name: "a refusal in a retrieve phase", phase: invariant.Phase{Role: manifest.RoleRetrieve, Calls: []invariant.Call{refused}}},
		{name: "the outcome's parents", phase: learns([]string{"n1", "n2"}, attributed("n2", "n1", "n1"))},
		{name: "no parents", phase: learns(nil, attributed())},
		{name: "another parent", phase: learns([]string{"n1"}, attributed("n2")), after: `attributed action "act-1" to ["n2"], but its outcome names ["n1"]: pass`},
		{name: "a parent left out", phase: learns([]string{"n1", "n2"}, attributed("n1")), after: `its outcome names ["n1" "n2"]`},
		{name: "a parent added", phase: learns([]string{"n1"}, attributed("n1"), attributed("n1", "n2")), after: `to ["n1" "n2"]`},
		{name: "all parents left out", phase: learns([]string{"n1"}, attributed()), after: `to []`},
		{name: "no outcome to compare with", phase: invariant.Phase{Role: manifest.RoleLearn, Calls: []invariant.Call{attributed("n1")}}},
	}
	for _, op := range []substrate.Operation{
		substrate.OpRetrieveContext, substrate.OpTopologyAnalyze, substrate.OpStoreNode, substrate.OpStoreEdge,
		substrate.OpAppendEvent, substrate.OpQueryByTrace, substrate.OpCheckPolicy, substrate.OpPermissionCheck,
	} {
		rows = append(rows, row{name: string(op), phase: learns(nil, invariant.Call{Operation: op, Mutates: op.Mutates()})})
	}
	check(t, manifest.FeedbackImmutability, rows)
}

func TestAppendOnlyAudit(t *testing.T) {
	spec.Covers(t, "P-7.3-2", "C-090")
	store := func(edit func(*invariant.Call)) invariant.Phase {
		c := invariant.Call{Operation: substrate.OpStoreNode, Mutates: true, Echoes: true}
		edit(&c)
		return calls(c)
	}
	check(t, manifest.AppendOnlyAudit, []row{
		{name: "recorded", phase: store(func(c *invariant.Call) { c.Audited = true })},
		{name: "not recorded", phase: store(func(*invariant.Call) {}), after: "memory.store_node succeeded and no event records it: mutate"},
		{name: "failed", phase: store(func(c *invariant.Call) { c.Echoes = false })},
		{name: "refused", phase: store(func(c *invariant.Call) { c.Echoes, c.Refused = false, true })},
		{name: "under way", phase: store(func(c *invariant.Call) { c.Echoes, c.UnderWay = false, true }), after: "memory.store_node has not returned, so no event records it when the phase ends: wait"},
		{name: "an event is its own record", phase: store(func(c *invariant.Call) { c.Operation = substrate.OpAppendEvent })},
		{name: "reading", phase: calls(invariant.Call{Operation: substrate.OpRetrieveContext, UnderWay: true})},
	})
}

func TestKappaRouting(t *testing.T) {
	spec.Covers(t, "P-7.4-1", "C-083", "C-082")
	kappa := func(k ...float64) []*token.TopologyContext {
		var ts []*token.TopologyContext
		for _, v := range k {
			t := &token.TopologyContext{MaxKappa: v, Routing: token.RoutingFast}
			if v > 0 {
				t.Routing = token.RoutingDeliberate
			}
			ts = append(ts, t)
		}
		return ts
	}
	route := func(ts []*token.TopologyContext, edit ...func(*invariant.Phase)) invariant.Phase {
		p := invariant.Phase{
			Phase: &manifest.Phase{ID: "pick", Kind: manifest.KindRoute}, Role: manifest.RoleRoute,
			Decision: &machine.Decision{To: "do"}, Target: manifest.RoleAct, Topologies: ts,
		}
		for _, e := range edit {
			e(&p)
		}
		return p
	}
	says := func(k float64, r token.Routing) []*token.TopologyContext {
		return []*token.TopologyContext{{MaxKappa: k, Routing: r}}
	}
	deliberate := func(p *invariant.Phase) { p.Decision.Deliberate = true }
	const breach = "and the decision is not to deliberate: return"
	check(t, manifest.KappaRouting, []row{
		{name: "no topology", phase: route(nil)},
		{name: "0 is free", phase: route(kappa(0, 0))},
		{name: "1 and fast", phase: route(kappa(1)), after: "max_kappa is 1 " + breach},
		{name: "any of several", phase: route(kappa(0, 2, 0)), after: "max_kappa is 2 " + breach},
		{name: "a fraction", phase: route(kappa(0.1)), after: breach},
		{name: "1 and deliberate", phase: route(kappa(1), deliberate)},
		{name: "1 and a phase that deliberates", phase: route(kappa(1), func(p *invariant.Phase) { p.Target = manifest.RoleDeliberate })},
		{name: "1 and an inner loop whose trigger holds", phase: route(kappa(1), func(p *invariant.Phase) { p.Triggers = []bool{false, true} })},
		{name: "1 and an inner loop whose trigger does not", phase: route(kappa(1), func(p *invariant.Phase) { p.Triggers = []bool{false} }), after: breach},
		{name: "1 and no decision", phase: route(kappa(1), func(p *invariant.Phase) { p.Decision = nil }), after: breach},
		{name: "another kind", phase: invariant.Phase{Phase: &manifest.Phase{Kind: manifest.KindAct}, Topologies: kappa(1)}},
		{name: "a topology that says nothing", phase: route(says(0, ""))},
		{name: "κ without its routing", phase: route(says(1, ""), deliberate), after: `max_kappa 1 and routing "": its memory must say`},
		{name: "κ and fast", phase: route(says(1, token.RoutingFast), deliberate), after: `max_kappa 1 and routing "fast"`},
		{name: "deliberate without κ", phase: route(says(0, token.RoutingDeliberate), deliberate), after: `max_kappa 0 and routing "deliberate"`},
		{name: "another routing", phase: route(says(0, "slow"), deliberate), after: `routing "slow"`},
		{name: "not a number", phase: route(says(math.NaN(), token.RoutingDeliberate), deliberate), after: "max_kappa NaN"},
		{name: "negative", phase: route(says(-1, token.RoutingFast)), after: "max_kappa -1"},
	})
}

func TestQuorumBeforeCommit(t *testing.T) {
	spec.Covers(t, "P-7.5-1", "P-7.5-2", "P-7.5-3", "C-077", "C-084")
	act := func(quorum float64, ds ...*token.DeliberationResult) invariant.Phase {
		return invariant.Phase{Role: manifest.RoleAct, Quorum: quorum, Deliberations: ds}
	}
	says := func(v token.Verdict, confidence float64) *token.DeliberationResult {
		return &token.DeliberationResult{Verdict: v, Confidence: confidence}
	}
	yes := func(confidence float64) *token.DeliberationResult { return says(token.VerdictApprove, confidence) }
	const q = machine.DefaultQuorum
	check(t, manifest.QuorumBeforeCommit, []row{
		{name: "0.65 blocks", phase: act(q, yes(0.65)), before: `gives "approve" with confidence 0.65, the quorum is 0.66: only`},
		{name: "0.66 releases", phase: act(q, yes(0.66))},
		{name: "reject at 0.99 blocks", phase: act(q, says(token.VerdictReject, 0.99)), before: `gives "reject" with confidence 0.99`},
		{name: "abstain blocks", phase: act(q, says(token.VerdictAbstain, 1)), before: `gives "abstain"`},
		{name: "another verdict blocks", phase: act(q, says("approved", 1)), before: `gives "approved"`},
		{name: "0.8 blocks 0.7", phase: act(0.8, yes(0.7)), before: "the quorum is 0.8"},
		{name: "0.8 releases 0.8", phase: act(0.8, yes(0.8))},
		{name: "nothing blocks", phase: act(q), before: "no DeliberationResult has reached the iteration: let"},
		{name: "the latest decides against", phase: act(q, yes(0.9), says(token.VerdictReject, 0.9)), before: `gives "reject"`},
		{name: "an empty value is no result", phase: act(q, says("", 0)), before: "no DeliberationResult"},
		{name: "an empty value hides none", phase: act(q, yes(0.9), says("", 0))},
		{name: "the latest decides for", phase: act(q, says(token.VerdictReject, 0.9), yes(0.9))},
		{name: "not a number", phase: act(q, yes(math.NaN())), before: "confidence NaN"},
		{name: "more than certain", phase: act(q, yes(66)), before: "confidence 66"},
		{name: "no act", phase: invariant.Phase{Role: manifest.RoleRetrieve, Quorum: q}},
	})
}

func TestOutcomeGrounding(t *testing.T) {
	spec.Covers(t, "P-7.6-1", "C-092")
	act := func(a *machine.Act) invariant.Phase { return invariant.Phase{Role: manifest.RoleAct, Act: a} }
	learn := func(outcome, named []string) invariant.Phase {
		p := learns(outcome)
		p.LastAct = &machine.Act{ActionID: "act-1", CausalParentIDs: named}
		return p
	}
	check(t, manifest.OutcomeGrounding, []row{
		{name: "parents", phase: act(&machine.Act{CausalParentIDs: []string{"n1"}})},
		{name: "none, said so", phase: act(&machine.Act{NoParents: true})},
		{name: "none, not said so", phase: act(&machine.Act{}), after: "the act names no causal parents: set"},
		{name: "an empty list", phase: act(&machine.Act{CausalParentIDs: []string{}}), after: "names no causal parents"},
		{name: "both", phase: act(&machine.Act{CausalParentIDs: []string{"n1"}, NoParents: true}), after: `names the causal parents ["n1"] and says that there are none: leave`},
		{name: "an empty id", phase: act(&machine.Act{CausalParentIDs: []string{"n1", ""}}), after: `among the causal parents ["n1" ""] is empty: name`},
		{name: "nothing said", phase: act(nil), after: "says nothing of its action: bind"},
		{name: "no act", phase: invariant.Phase{Role: manifest.RoleRoute}},
		{name: "learns with the act's parents", phase: learn([]string{"n2", "n1"}, []string{"n1", "n2"})},
		{name: "learns with none", phase: learn(nil, []string{})},
		{name: "learns with others", phase: learn([]string{"n3"}, []string{"n1"}), before: `the outcome of action "act-1" names the causal parents ["n3"], the act named ["n1"]: deliver`},
		{name: "learns with fewer", phase: learn(nil, []string{"n1"}), before: "causal parents []"},
		{name: "learns from elsewhere", phase: learns([]string{"n3"})},
	})
}

func TestTraceIDPropagation(t *testing.T) {
	spec.Covers(t, "P-7.7-1", "P-0-4", "C-089")
	store := func(trace string) invariant.Call {
		return invariant.Call{Operation: substrate.OpStoreNode, Mutates: true, Echoes: true, EchoedTrace: trace}
	}
	check(t, manifest.TraceIDPropagation, []row{
		{name: "echoed", phase: calls(store("t1"), store("t1"))},
		{name: "not echoed", phase: calls(store("t1"), store("")), after: `memory.store_node answered with trace id "" to a call with "t1": let`},
		{name: "another", phase: calls(store("t2")), after: `with trace id "t2"`},
		{name: "no receipt", phase: calls(invariant.Call{Operation: substrate.OpRetrieveContext})},
	})
}
