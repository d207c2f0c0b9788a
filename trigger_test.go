package pulse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEnterRefuses(t *testing.T) {
	spec.Covers(t, "C-100")
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errNowhere)
	for _, r := range []struct {
		name  string
		enter func(*pulse.Loop) (*pulse.Iteration, error)
		text  string
	}{
		{
			name: "an unknown phase",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return pulse.PhaseID[Ask, Fact]("raed").Enter(t.Context(), l, acme, Ask{})
			},
			text: `pulse: loop test.small has no phase "raed"`,
		},
		{
			name: "an input of another type",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return pulse.PhaseID[Deed, Fact]("read").Enter(t.Context(), l, acme, Deed{})
			},
			text: "pulse: loop test.small: phase read: enter: pulse: want a value of type pulse_test.Ask, got pulse_test.Deed",
		},
		{
			name: "no workspace",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return read.Enter(t.Context(), l, pulse.Trigger{}, Ask{})
			},
			text: "pulse: loop test.small: the trigger names no workspace, and workspace_scope is required",
		},
		{
			name: "an origin that nobody knows",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return read.Enter(t.Context(), l, pulse.Trigger{Workspace: "acme", Origin: substrate.Origin{Kind: "unknown"}}, Ask{})
			},
			text: `pulse: loop test.small: substrate: origin kind "unknown" is none of manual, wake, cadence, signal, replay`,
		},
		{
			name: "a wake without its ids",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return read.Enter(t.Context(), l, pulse.Trigger{Workspace: "acme", Origin: substrate.Origin{Kind: substrate.OriginWake}}, Ask{})
			},
			text: `pulse: loop test.small: substrate: origin "wake" needs source_event_id, wake_decision_id and pulse_event_id`,
		},
		{
			name: "a context that is over",
			enter: func(l *pulse.Loop) (*pulse.Iteration, error) {
				return read.Enter(gone, l, acme, Ask{})
			},
			text: "pulse: loop test.small: no database there",
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			w := newWorld(t, small())
			it, err := r.enter(w.loop)
			require.Nil(t, it, "nothing started")
			require.EqualError(t, err, r.text)
			require.Empty(t, w.Audit.Events(), "nothing was recorded")
		})
	}
	t.Run("no actor", func(t *testing.T) {
		w := newWorld(t, small(), func(c *pulse.Config) { c.Actor = "" })
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{})
		require.Nil(t, it)
		require.EqualError(t, err, "pulse: loop test.small: the trigger names no actor: set Trigger.Actor or Config.Actor (C-100)")
	})
}

func TestWrongInputIsATypeError(t *testing.T) {
	w := newWorld(t, small())
	_, err := pulse.PhaseID[*Ask, Fact]("read").Enter(t.Context(), w.loop, acme, &Ask{})
	var te *pulse.TypeError
	require.ErrorAs(t, err, &te)
	require.Equal(t, reflect.TypeFor[Ask](), te.Want)
	require.Equal(t, reflect.TypeFor[*Ask](), te.Got)
}

func TestTheActorIsTheTriggersElseTheConfigs(t *testing.T) {
	spec.Covers(t, "C-100")
	w := newWorld(t, small())
	for trigger, want := range map[string]string{"": "agent-7", "agent-9": "agent-9"} {
		before := len(w.Auth.Calls())
		_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", Actor: trigger}, Ask{})
		require.NoError(t, err)
		asked := w.Auth.Calls()[before:]
		require.NotEmpty(t, asked)
		for _, c := range asked {
			require.Equal(t, want, c.Origination.Actor, "who auth was asked about")
		}
	}
}

// What a workspace is, is for workspace_scope to say.
func TestWorkspaceScope(t *testing.T) {
	spec.Covers(t, "P-4-7", "C-031")
	for _, r := range []struct {
		scope  manifest.WorkspaceScope
		given  string
		want   string
		refuse bool
	}{
		{scope: "", given: "acme", want: "acme"},
		{scope: "", given: "", refuse: true},
		{scope: manifest.ScopeRequired, given: "acme", want: "acme"},
		{scope: manifest.ScopeRequired, given: "", refuse: true},
		{scope: manifest.ScopeOptional, given: "acme", want: "acme"},
		{scope: manifest.ScopeOptional, given: "", want: ""},
		{scope: manifest.ScopeGlobal, given: "acme", want: ""},
		{scope: manifest.ScopeGlobal, given: "", want: ""},
	} {
		t.Run(fmt.Sprintf("%s given %q", r.scope, r.given), func(t *testing.T) {
			seen := "unseen"
			w := newWorld(t, small(func(m *manifest.Manifest) { m.WorkspaceScope = r.scope }),
				bind(pulse.BindFunc(read, func(ctx context.Context, _ Ask) (Fact, error) {
					c, err := pulse.CallFrom(ctx)
					if err != nil {
						return Fact{}, err
					}
					seen = c.Workspace()
					_, err = pulse.Handles().Memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 1})
					return Fact{}, err
				}), "read"))
			it, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: r.given}, Ask{"x"})
			if r.refuse {
				require.Nil(t, it)
				require.ErrorContains(t, err, "names no workspace")
				return
			}
			require.NoError(t, err)
			require.Equal(t, r.want, seen, "in the call")
			require.Equal(t, r.want, it.Workspace, "of the iteration")
			for _, e := range w.Audit.Events() {
				require.Equal(t, r.want, e.WorkspaceID, "in the audit event %s", e.EventType)
			}
			calls := slices.Concat(w.Memory.Calls(), w.Auth.Calls(), w.Policy.Calls(), w.Audit.Calls())
			require.NotEmpty(t, w.Memory.Calls())
			for _, c := range calls {
				require.Equal(t, r.want, c.Origination.Workspace, "in the call of %s", c.Operation)
			}
		})
	}
}

// The empty workspace of an optional scope is a tenant of its own, with a
// signature of its own.
func TestNoWorkspaceIsATenant(t *testing.T) {
	spec.Covers(t, "C-031", "P-4-7")
	w := newWorld(t, small(func(m *manifest.Manifest) { m.WorkspaceScope = manifest.ScopeOptional }))
	signatures := map[string]string{}
	for _, ws := range []string{"", "acme"} {
		_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: ws}, Ask{"the same"})
		require.NoError(t, err)
	}
	for _, e := range w.Audit.Events() {
		if e.EventType == "phase.completed" && e.PhaseID == "read" {
			signatures[e.WorkspaceID] = string(e.Signature)
		}
	}
	require.Len(t, signatures, 2)
	require.NotEqual(t, signatures[""], signatures["acme"], "the workspace is signed with the input")
}

// entered gives an iteration of the smallest loop, with a phase that was skipped.
func entered(t *testing.T) *pulse.Iteration {
	t.Helper()
	m := small(func(m *manifest.Manifest) {
		m.Phases = slices.Insert(m.Phases, 1, manifest.Phase{ID: "think", Kind: manifest.KindCustom, CustomKind: "thinking", OnFailure: manifest.FailSkip})
	})
	w := newWorld(t, m, with(pulse.BindFunc(think, func(context.Context, Fact) (Deed, error) { return Deed{N: 7}, errNowhere })))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"hello"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	return it
}

const think pulse.PhaseID[Fact, Deed] = "think"

func TestOutput(t *testing.T) {
	it := entered(t)
	fact, err := read.Output(it)
	require.NoError(t, err)
	require.Equal(t, Fact{"hello", 5}, fact)

	none := func(name string, err error) {
		t.Helper()
		require.ErrorIs(t, err, pulse.ErrNoOutput, name)
	}
	deed, err := think.Output(it)
	none("a skipped phase", err)
	require.Zero(t, deed)
	require.ErrorContains(t, err, "phase think")
	_, err = read.Output(nil)
	none("no iteration", err)
	_, err = read.Output(&pulse.Iteration{})
	none("an iteration of no loop", err)
	_, err = pulse.PhaseID[Ask, Fact]("raed").Output(it)
	none("a phase that the loop does not have", err)

	_, err = pulse.PhaseID[Ask, int]("read").Output(it)
	var te *pulse.TypeError
	require.ErrorAs(t, err, &te)
	require.EqualError(t, err, "pulse: want a value of type int, got pulse_test.Fact")
	whatever, err := pulse.PhaseID[Ask, any]("read").Output(it)
	require.NoError(t, err)
	require.Equal(t, fact, whatever)
}

func TestInput(t *testing.T) {
	it := entered(t)
	ask, err := read.Input(it)
	require.NoError(t, err)
	require.Equal(t, Ask{"hello"}, ask)
	fact, err := think.Input(it)
	require.NoError(t, err, "a skipped phase had an input")
	require.Equal(t, Fact{"hello", 5}, fact)
	heard, err := score.Input(it)
	require.NoError(t, err)
	require.Equal(t, token.StatusSuccess, heard.Signal.Status)
	require.Equal(t, 5, heard.Value.N, "the value of the act")
	_, err = read.Input(nil)
	require.ErrorIs(t, err, pulse.ErrNoOutput)
	_, err = pulse.PhaseID[int, Fact]("read").Input(it)
	var te *pulse.TypeError
	require.ErrorAs(t, err, &te)

	w := newWorld(t, small())
	it, err = read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", Only: true}, Ask{"x"})
	require.NoError(t, err)
	_, err = do.Input(it)
	require.ErrorIs(t, err, pulse.ErrNoOutput, "a phase that did not run")
}

func TestGotoAndDeliberateAreTyped(t *testing.T) {
	spec.Covers(t, "C-044")
	require.Equal(t, pulse.Decision{To: "do", Value: Fact{"x", 1}}, do.Goto(Fact{"x", 1}))
	require.Equal(t, pulse.Decision{To: "do", Deliberate: true, Value: Fact{"x", 1}}, do.Deliberate(Fact{"x", 1}))
	raw, err := json.Marshal(do.Deliberate(Fact{"x", 1}))
	require.NoError(t, err)
	require.JSONEq(t, `{"to": "do", "deliberate": true, "value": {"Text": "x", "N": 1}}`, string(raw))
}

const choose pulse.PhaseID[Fact, pulse.Decision] = "choose"

// deciding runs the loop with a route phase that decides so.
func deciding(t *testing.T, d pulse.Decision) (*world, *pulse.Iteration, error) {
	t.Helper()
	w := newWorld(t, small(routed), with(pulse.BindFunc(choose, func(context.Context, Fact) (pulse.Decision, error) { return d, nil })))
	it, err := read.Enter(t.Context(), w.loop, acme, Ask{"hello"})
	return w, it, err
}

func TestDecisions(t *testing.T) {
	spec.Covers(t, "C-044", "P-3.2-3")
	t.Run("with a value", func(t *testing.T) {
		w, it, err := deciding(t, do.Goto(Fact{"chosen", 3}))
		require.NoError(t, err)
		deed, err := do.Output(it)
		require.NoError(t, err)
		require.Equal(t, 3, deed.N, "the target got what was chosen for it")
		require.Equal(t, 1, w.count("choose", "phase.routed"))
	})
	for _, r := range []struct {
		name     string
		decision pulse.Decision
		text     string
	}{
		{
			"a value of another type", pulse.PhaseID[Ask, Deed]("do").Goto(Ask{"x"}),
			"pulse: loop test.small: phase choose: decision for phase do: pulse: want a value of type pulse_test.Fact, got pulse_test.Ask",
		},
		{
			"a phase that may not follow", read.Goto(Ask{"x"}),
			`pulse: loop test.small: phase choose: route phase choose decided to go to "read": it must name one of do, score`,
		},
		{
			"a phase that there is not", pulse.Decision{To: "nowhere", Value: 7},
			`pulse: loop test.small: phase choose: route phase choose decided to go to "nowhere": it must name one of do, score`,
		},
		{
			"nothing, and there are two", pulse.Decision{},
			`pulse: loop test.small: phase choose: route phase choose decided to go to "": it must name one of do, score`,
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			w, it, err := deciding(t, r.decision)
			require.ErrorIs(t, err, pulse.ErrAborted)
			require.EqualError(t, err, r.text)
			require.Equal(t, pulse.Aborted, it.Status)
			_, err = do.Output(it)
			require.ErrorIs(t, err, pulse.ErrNoOutput)
			require.Zero(t, w.count("choose", "phase.routed"))
		})
	}
	t.Run("the error is a TypeError", func(t *testing.T) {
		_, _, err := deciding(t, pulse.PhaseID[Ask, Deed]("do").Goto(Ask{"x"}))
		var te *pulse.TypeError
		require.ErrorAs(t, err, &te)
		require.Equal(t, reflect.TypeFor[Fact](), te.Want)
	})
}

func TestTriggerIsStorable(t *testing.T) {
	origin := substrate.Origin{Kind: substrate.OriginWake, SourceEventID: "e1", WakeDecisionID: "d1", PulseEventID: "p1"}
	mt, err := read.Trigger(pulse.Trigger{Workspace: "acme", Actor: "agent-7", TraceID: "t1", ID: "it-1", Origin: origin, Only: true}, Ask{"hello"})
	require.NoError(t, err)
	v, ok := mt.Payload.Value()
	require.True(t, ok)
	require.Equal(t, Ask{"hello"}, v)
	raw, err := json.Marshal(mt)
	require.NoError(t, err)
	var back machine.Trigger
	require.NoError(t, json.Unmarshal(raw, &back))
	require.JSONEq(t, `{"Text": "hello"}`, string(back.Payload.JSON()))
	mt.Payload, back.Payload = machine.Payload{}, machine.Payload{}
	require.Equal(t, mt, back, "nothing else is lost")
	require.Equal(t, machine.Trigger{
		Workspace: "acme", Actor: "agent-7", TraceID: "t1", ID: "it-1", Origin: origin, Only: true, Phase: "read",
	}, back)
}

func TestSameIDIsTheSameIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := newWorld(t, small(), func(c *pulse.Config) { c.Limits.PerWorkspace = 8 },
			bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
				runs++
				time.Sleep(time.Second)
				return Fact{N: runs}, nil
			}), "read"))
		same := pulse.Trigger{Workspace: "acme", ID: "order-17"}
		its := make(chan *pulse.Iteration, 8)
		for range cap(its) {
			go func() {
				it, err := read.Enter(t.Context(), w.loop, same, Ask{"x"})
				if err != nil {
					t.Error(err)
				}
				its <- it
			}()
		}
		first := <-its
		require.Equal(t, "order-17", first.ID)
		for range cap(its) - 1 {
			require.Equal(t, first, <-its, "all have the same iteration")
		}
		require.Equal(t, 1, runs, "the functions ran once")

		later, err := read.Enter(t.Context(), w.loop, same, Ask{"another input"})
		require.NoError(t, err)
		require.Equal(t, first, later, "remembered")
		fact, err := read.Output(later)
		require.NoError(t, err)
		require.Equal(t, 1, fact.N)

		_, err = read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "umbrella", ID: "order-17"}, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, 2, runs, "an id is one of its workspace")

		time.Sleep(25 * time.Hour)
		_, err = read.Enter(t.Context(), w.loop, same, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, 3, runs, "after a day it is forgotten")
		w.auditEQ(t)
	})
}

func TestWhoJoinsAnIterationMayLeaveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small(), bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
			time.Sleep(time.Hour)
			return Fact{}, nil
		}), "read"))
		same := pulse.Trigger{Workspace: "acme", ID: "order-17"}
		done := make(chan error, 1)
		go func() {
			_, err := read.Enter(t.Context(), w.loop, same, Ask{"x"})
			done <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		it, err := read.Enter(ctx, w.loop, same, Ask{"x"})
		require.Nil(t, it)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, <-done, "the iteration goes on")
	})
}

// An iteration that failed is remembered with its error; one that did not start,
// or was interrupted, may be tried again under its id.
func TestWhatAnIDRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := newWorld(t, small(), bind(pulse.BindFunc(read, func(ctx context.Context, in Ask) (Fact, error) {
			runs++
			if in.Text == "fail" {
				return Fact{}, errNowhere
			}
			select {
			case <-ctx.Done():
				return Fact{}, ctx.Err()
			case <-time.After(time.Second):
				return Fact{}, nil
			}
		}), "read"))
		failed := pulse.Trigger{Workspace: "acme", ID: "failed"}
		it, err := read.Enter(t.Context(), w.loop, failed, Ask{"fail"})
		require.ErrorIs(t, err, errNowhere)
		again, err := read.Enter(t.Context(), w.loop, failed, Ask{"fail"})
		require.ErrorIs(t, err, errNowhere)
		require.Equal(t, it, again)
		require.Equal(t, 1, runs)

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		broken := pulse.Trigger{Workspace: "acme", ID: "interrupted"}
		it, err = read.Enter(ctx, w.loop, broken, Ask{"x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, pulse.Interrupted, it.Status)
		it, err = read.Enter(t.Context(), w.loop, broken, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Equal(t, 3, runs)
	})
}

func TestIDsAreNew(t *testing.T) {
	w := newWorld(t, small())
	seen := map[string]bool{}
	for range 32 {
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Len(t, it.ID, 32)
		require.False(t, seen[it.ID] || seen[it.TraceID])
		seen[it.ID], seen[it.TraceID] = true, true
	}
}

// An iteration sees what closed the one before it in its workspace.
func TestPrevious(t *testing.T) {
	spec.Covers(t, "C-047")
	type sight struct {
		Status string
		Ok     bool
	}
	var seen []sight
	var other bool
	w := newWorld(t, small(), bind(pulse.BindFunc(read, func(ctx context.Context, in Ask) (Fact, error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return Fact{}, err
		}
		last, ok := score.Previous(c)
		seen = append(seen, sight{last.Status, ok})
		_, other = read.Previous(c)
		return Fact{Text: in.Text}, nil
	}), "read"), bind(pulse.BindFunc(score, func(ctx context.Context, _ pulse.Feedback[Deed]) (Lesson, error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return Lesson{}, err
		}
		fact, err := read.Output(c.Iteration())
		if fact.Text == "broken" {
			return Lesson{}, errNowhere
		}
		return Lesson{fact.Text}, err
	}), "score"))
	for _, in := range []struct{ workspace, text string }{
		{"acme", "one"}, {"acme", "two"}, {"umbrella", "three"}, {"acme", "broken"}, {"acme", "four"}, {"umbrella", "five"},
	} {
		_, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: in.workspace}, Ask{in.text})
		require.Equal(t, in.text == "broken", err != nil, "%v", err)
	}
	require.Equal(t, []sight{
		{"", false}, // nothing closed yet
		{"one", true},
		{"", false}, // another workspace's is not visible
		{"two", true},
		{"two", true}, // one that failed closed nothing
		{"three", true},
	}, seen)
	require.False(t, other, "only the closing phase has a previous output")
}

func TestOnlyRunsOnePhase(t *testing.T) {
	for id, enter := range map[string]func(*pulse.Loop, pulse.Trigger) (*pulse.Iteration, error){
		"read": func(l *pulse.Loop, tr pulse.Trigger) (*pulse.Iteration, error) {
			return read.Enter(t.Context(), l, tr, Ask{"x"})
		},
		"do": func(l *pulse.Loop, tr pulse.Trigger) (*pulse.Iteration, error) {
			return do.Enter(t.Context(), l, tr, Fact{"x", 1})
		},
		"score": func(l *pulse.Loop, tr pulse.Trigger) (*pulse.Iteration, error) {
			return score.Enter(t.Context(), l, tr, pulse.Feedback[Deed]{Signal: token.OutcomeSignal{ActionID: "a1", Status: token.StatusSuccess}})
		},
	} {
		var rec pulsetest.Recorder
		w := newWorld(t, small(), func(c *pulse.Config) { c.Observers = []pulse.Observer{&rec} })
		it, err := enter(w.loop, pulse.Trigger{Workspace: "acme", Only: true})
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		rec.WantRan(t, id)
	}
}

// The number of phases is not fixed, nor is their order: whatever is declared
// runs as declared, and is recorded so.
func TestAnyNumberOfPhasesInAnyOrder(t *testing.T) {
	spec.Covers(t, "P-1.1-2", "P-5.3-1", "P-3.2-7")
	rapid.Check(t, func(t *rapid.T) {
		var ran, want []string
		m := small(func(m *manifest.Manifest) { m.Phases = anyPhases(t) })
		cfg := pulse.Config{Substrates: pulsetest.NewSubstrates().Set(), Actor: "agent-7"}
		var rec pulsetest.Recorder
		cfg.Observers = []pulse.Observer{&rec}
		for i := range m.Phases {
			want = append(want, m.Phases[i].ID)
			cfg.Phases = append(cfg.Phases, counting(m, i, &ran))
		}
		m.Closure = manifest.Closure{FromPhase: want[len(want)-1], ToPhase: want[0]}
		l, err := pulse.New(m, cfg)
		require.NoError(t, err)
		it, err := pulse.PhaseID[int, int](want[0]).Enter(context.Background(), l, acme, 0)
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Equal(t, want, ran, "the functions ran in the declared order")
		require.Equal(t, want, rec.Ran(), "and so it was recorded")
	})
}

// anyPhases draws 2 to 32 phases of any kind, in any order. One is of a custom
// kind without a role, so that the loop may lack what the canonical kinds owe.
func anyPhases(t *rapid.T) []manifest.Phase {
	kinds := rapid.SliceOfN(rapid.SampledFrom([]manifest.Kind{
		manifest.KindRetrieve, manifest.KindRoute, manifest.KindAct, manifest.KindLearn, manifest.KindConsolidate, manifest.KindCustom,
	}), 2, 32).Draw(t, "kinds")
	kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "custom")] = manifest.KindCustom
	first := slices.IndexFunc(kinds, func(k manifest.Kind) bool { return k == manifest.KindAct || k == manifest.KindLearn })
	if first >= 0 { // learning follows acting (C-093)
		kinds[first] = manifest.KindAct
	}
	phases := make([]manifest.Phase, len(kinds))
	for i, k := range kinds {
		p := &phases[i]
		p.ID, p.Kind = fmt.Sprintf("%s_%d", k, i), k
		switch {
		case k == manifest.KindCustom:
			p.CustomKind = "thinking"
		case k == manifest.KindLearn && i == 0:
			p.Inputs.From = "external"
		case k == manifest.KindLearn:
			p.Inputs.From = "phase:" + phases[i-1].ID
		}
	}
	return phases
}

// counting binds a function that takes the number of the phases before it and
// gives it on, one higher.
func counting(m *manifest.Manifest, i int, ran *[]string) pulse.Binding {
	id := m.Phases[i].ID
	next := func(n int) (int, error) {
		if n != i {
			return 0, fmt.Errorf("the input is %d, the phase before gave %d", n, i)
		}
		*ran = append(*ran, id)
		return n + 1, nil
	}
	switch {
	case m.Phases[i].Kind == manifest.KindRoute:
		return pulse.BindFunc(pulse.PhaseID[int, pulse.Decision](id), func(_ context.Context, n int) (pulse.Decision, error) {
			n, err := next(n)
			if i+1 == len(m.Phases) {
				return pulse.Decision{}, err
			}
			return pulse.PhaseID[int, int](m.Phases[i+1].ID).Goto(n), err
		})
	default:
		return pulse.BindFunc(pulse.PhaseID[int, int](id), func(_ context.Context, n int) (int, error) { return next(n) })
	}
}
