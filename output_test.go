package pulse_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

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
