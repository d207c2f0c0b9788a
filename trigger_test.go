package pulse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
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
