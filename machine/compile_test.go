package machine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

func TestCompileReportsEveryFault(t *testing.T) {
	spec.Covers(t, "P-4-15", "C-044")
	m, err := loop(`
		phase read retrieve from=phase:raed next=nowhere
		phase read retrieve from=nonsense:x
		phase fan act to=phase:read|phase:fan
		phase odd strange fail=shrug retries=-1
		closure end begin
		inner other acme.debate`)
	require.NoError(t, err)
	m.Phases[0].TimeoutMS = -1
	m.Phases = append(m.Phases, manifest.Phase{Kind: manifest.KindAct})
	m.Nesting.InnerLoops = append(m.Nesting.InnerLoops, manifest.InnerLoop{LoopID: "acme.inner"})
	_, err = machine.Compile(m, machine.Settings{MaxRuns: -1})
	for _, want := range []string{
		"loop acme.test",
		"max_runs -1 is negative",
		`phases[1] has the id "read" of phases[0]`,
		"phases[4] has no id",
		"inner loop acme.inner: ",
		`inner loop acme.debate is triggered by phase "other"`,
		`phase read: inputs.from names phase "raed"`,
		`phase read leads to "nowhere"`,
		`phase read: timeout_ms -1`,
		`inputs.from: endpoint "nonsense:x"`,
		"phase fan of kind act leads to several phases",
		`phase odd: on_failure "shrug"`,
		"phase odd: max_retries -1",
		`phase odd: kind "strange"`,
		`closure.from_phase names phase "end"`,
		`closure.to_phase names phase "begin"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestCompileRefusesNothing(t *testing.T) {
	_, err := machine.Compile(nil, machine.Settings{})
	require.Error(t, err)
	_, err = machine.Compile(&manifest.Manifest{}, machine.Settings{})
	require.ErrorContains(t, err, "no phases")
}

func TestSettingsFaults(t *testing.T) {
	for want, s := range map[string]machine.Settings{
		"backoff base -1ns":   {Backoff: machine.Backoff{Base: -1}},
		"backoff cap -1ns":    {Backoff: machine.Backoff{Cap: -1}},
		"backoff factor 0.5":  {Backoff: machine.Backoff{Factor: 0.5}},
		"backoff factor NaN":  {Backoff: machine.Backoff{Factor: math.NaN()}},
		"backoff factor +Inf": {Backoff: machine.Backoff{Factor: math.Inf(1)}},
		"quorum 1.5":          {Quorum: 1.5},
		"quorum NaN":          {Quorum: math.NaN()},
		"inner_wait -1ns":     {InnerWait: -1},
		"await_max -1ns":      {AwaitMax: -1},
		`names "attic"`:       {Transactional: []substrate.Slot{"attic"}},
	} {
		m, err := loop("phase read retrieve")
		require.NoError(t, err)
		_, err = machine.Compile(m, s)
		require.ErrorContains(t, err, want)
	}
}

func TestSettingsDefaults(t *testing.T) {
	spec.Covers(t, "C-042")
	m, err := loop("phase read retrieve")
	require.NoError(t, err)
	plan, err := machine.Compile(m, machine.Settings{})
	require.NoError(t, err)
	require.Equal(t, machine.Settings{
		Backoff: machine.Backoff{Base: 100 * time.Millisecond, Factor: 2, Cap: 30 * time.Second},
		Quorum:  0.66, InnerWait: 5 * time.Minute, MaxRuns: 1000, AwaitMax: 24 * time.Hour,
	}, plan.Settings())
}

func TestPlan(t *testing.T) {
	spec.Covers(t, "C-044", "C-134")
	m, err := loop(`
		phase read retrieve from=external fail=retry idempotent
		phase pick route next=read,reply,debate
		phase reply act
		phase say custom:say fail=skip retries=0
		phase back route to=external|phase:reply|substrate:memory|phase:say
		phase loner custom:loner next=loner
		phase tidy custom:tidy
		closure back say`)
	require.NoError(t, err)
	m.Phases[0].TimeoutMS = 1500
	m.Nesting.InnerLoops = []manifest.InnerLoop{{LoopID: "debate", Trigger: "phase:pick when kappa > 0"}}
	plan, err := machine.Compile(m, machine.Settings{Aliases: manifest.Aliases{"say": manifest.RoleAct, "tidy": manifest.RoleConsolidate}})
	require.NoError(t, err)

	require.Equal(t, "acme.test", plan.Loop())
	require.Equal(t, "1.0.0", plan.Version())
	require.Equal(t, []string{"read", "pick", "reply", "say", "back", "loner", "tidy"}, plan.Phases())
	require.Equal(t, 2, plan.Index("reply"))
	require.Equal(t, manifest.KindCustom, plan.Kind("say"))
	require.Equal(t, manifest.RoleAct, plan.Role("say"))
	require.Equal(t, manifest.RoleRetrieve, plan.Role("read"))
	require.Equal(t, manifest.FailRetry, plan.OnFailure("read"))
	require.Equal(t, manifest.FailAbortLoop, plan.OnFailure("pick"))
	require.Equal(t, 3, plan.Retries("read"))
	require.Equal(t, 0, plan.Retries("say"))
	require.Equal(t, 1500*time.Millisecond, plan.Timeout("read"))
	require.True(t, plan.Idempotent("read"))
	require.Equal(t, []string{"debate"}, plan.Inner("pick"))

	require.Equal(t, []string{"read", "reply"}, plan.Targets("pick"), "an inner loop is no place to go to")
	require.Equal(t, []string{"reply", "say"}, plan.Targets("back"))
	require.Nil(t, plan.Targets("read"))
	require.Equal(t, "pick", plan.Next("read"))
	require.Equal(t, "reply", plan.Next("pick"))
	require.Equal(t, "", plan.Next("tidy"))

	repeats := map[string]bool{"read": true, "pick": true, "reply": true, "say": true, "back": true, "loner": true}
	for _, id := range plan.Phases() {
		require.Equal(t, repeats[id], plan.Repeats(id), id)
	}

	require.Equal(t, -1, plan.Index("unknown"))
	require.Equal(t, "", plan.Next("unknown"))
	require.Zero(t, plan.Timeout("unknown"))
	require.False(t, plan.Repeats("unknown"))
}

func TestRepeatsLeavesTheClosureAside(t *testing.T) {
	plan := compile(t, "phase a retrieve\nphase b act to=phase:a", machine.Settings{})
	require.False(t, plan.Repeats("a"))
	require.False(t, plan.Repeats("b"))
	require.Equal(t, "", plan.Next("b"), "the closure ends the iteration")
	plan = compile(t, "phase a retrieve\nphase b act to=phase:a\nclosure b b", machine.Settings{})
	require.True(t, plan.Repeats("a"))
	require.True(t, plan.Repeats("b"))
}

// TestRepeatsIsReachability compares with the definition: a phase repeats if some
// way of one step or more leads back to it.
func TestRepeatsIsReachability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomLoop(rapidChoices{t}, 1, 12)
		m, err := loop(text)
		require.NoError(t, err)
		plan, err := machine.Compile(m, machine.Settings{})
		require.NoError(t, err)
		for _, from := range plan.Phases() {
			require.Equal(t, reaches(m, plan, from, from, map[string]bool{}), plan.Repeats(from), "%s in\n%s", from, text)
		}
	})
}

func reaches(m *manifest.Manifest, plan *machine.Plan, from, to string, seen map[string]bool) bool {
	next := plan.Targets(from)
	if plan.Kind(from) != manifest.KindRoute && plan.Next(from) != "" {
		next = []string{plan.Next(from)}
	}
	for _, id := range next {
		if from == m.Closure.FromPhase && id == m.Closure.ToPhase {
			continue
		}
		if id == to {
			return true
		}
		if !seen[id] {
			seen[id] = true
			if reaches(m, plan, id, to, seen) {
				return true
			}
		}
	}
	return false
}

func TestLongManifests(t *testing.T) {
	spec.Covers(t, "P-1.1-2")
	var text strings.Builder
	for range 10_000 {
		text.WriteString("phase x retrieve\n")
	}
	m, err := loop(text.String())
	require.NoError(t, err)
	for i := range m.Phases {
		m.Phases[i].ID = fmt.Sprintf("p%d", i)
	}
	m.Phases[len(m.Phases)-1].Kind = manifest.KindRoute
	m.Phases[len(m.Phases)-1].Successors = []string{m.Phases[0].ID}
	m.Closure = manifest.Closure{FromPhase: m.Phases[0].ID, ToPhase: m.Phases[0].ID}
	plan, err := machine.Compile(m, machine.Settings{})
	require.NoError(t, err)
	for _, id := range plan.Phases() {
		require.True(t, plan.Repeats(id))
	}
}

func TestDigest(t *testing.T) {
	const text = "phase read retrieve\nphase reply act"
	digest := func(text string, s machine.Settings) string {
		m, err := loop(text)
		require.NoError(t, err)
		plan, err := machine.Compile(m, s)
		require.NoError(t, err)
		require.True(t, plan.Digest().Valid())
		return string(plan.Digest())
	}
	base := digest(text, machine.Settings{})
	require.Equal(t, base, digest(text, machine.Settings{MaxRuns: 1000, Quorum: 0.66}), "defaults written out")
	others := map[string]string{base: "base"}
	for name, other := range map[string]string{
		"manifest":   digest(text+" fail=skip", machine.Settings{}),
		"max_runs":   digest(text, machine.Settings{MaxRuns: 1}),
		"await_max":  digest(text, machine.Settings{AwaitMax: 1}),
		"years":      digest(text, machine.Settings{AwaitMax: 30_000 * time.Hour}),
		"inner_wait": digest(text, machine.Settings{InnerWait: 1}),
		"base":       digest(text, machine.Settings{Backoff: machine.Backoff{Base: 1}}),
		"factor":     digest(text, machine.Settings{Backoff: machine.Backoff{Factor: 3}}),
		"cap":        digest(text, machine.Settings{Backoff: machine.Backoff{Cap: 1}}),
		"jitter":     digest(text, machine.Settings{Backoff: machine.Backoff{NoJitter: true}}),
		"quorum":     digest(text, machine.Settings{Quorum: 0.5}),
		"aliases":    digest(text, machine.Settings{Aliases: manifest.Aliases{"x": manifest.RoleAct}}),
		"vars":       digest(text, machine.Settings{Vars: map[string]any{"x": 1}}),
		"slots":      digest(text, machine.Settings{Transactional: []substrate.Slot{substrate.SlotMemory}}),
	} {
		require.NotContains(t, others, other, "%s and %s", name, others[other])
		others[other] = name
	}
}

func TestPlanDoesNotChangeWithItsSources(t *testing.T) {
	m, err := loop("phase read retrieve next=reply\nphase reply act")
	require.NoError(t, err)
	aliases := manifest.Aliases{"say": manifest.RoleAct}
	plan, err := machine.Compile(m, machine.Settings{Aliases: aliases})
	require.NoError(t, err)
	m.Phases[0].ID, m.Phases[0].Successors[0] = "other", "other"
	aliases["say"] = manifest.RoleLearn
	require.Equal(t, []string{"read", "reply"}, plan.Phases())
	require.Equal(t, "reply", plan.Next("read"))
	require.Equal(t, manifest.RoleAct, plan.Settings().Aliases["say"])
}
