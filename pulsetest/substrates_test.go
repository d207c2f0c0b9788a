package pulsetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

func TestSetIsComplete(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-3.4-7")
	set := pulsetest.NewSubstrates().Set()
	for _, op := range substrate.Operations() {
		require.True(t, set.Supports(op), op)
	}
	for _, slot := range manifest.Slots() {
		require.Equal(t, slot != substrate.SlotTransport, set.Member(slot) != nil, slot)
	}
}

func TestFail(t *testing.T) {
	p := new(pulsetest.Policy)
	down := substrate.Unavailable(substrate.OpCheckPolicy, errors.New("down"))
	check := func() error {
		_, err := p.CheckPolicy(t.Context(), substrate.CheckPolicyRequest{Action: "send"})
		return err
	}
	p.Fail(substrate.OpCheckPolicy, down, 2)
	require.ErrorIs(t, check(), down)
	require.ErrorIs(t, check(), down)
	require.NoError(t, check())
	p.Fail(substrate.OpCheckPolicy, down, -1)
	for range 5 {
		require.ErrorIs(t, check(), down)
	}
	p.Fail(substrate.OpCheckPolicy, nil, 0)
	require.NoError(t, check())
	require.Equal(t, 9, p.Count(substrate.OpCheckPolicy), "failed calls are counted")
	require.ErrorIs(t, p.Calls()[0].Err, down)
	require.NoError(t, p.Calls()[8].Err)
}

func TestCallsKeepsTheNewest(t *testing.T) {
	p := &pulsetest.Policy{CallLog: pulsetest.CallLog{MaxCalls: 3}}
	for i := range 5 {
		_, err := p.CheckPolicy(t.Context(), substrate.CheckPolicyRequest{Origination: acme, Action: fmt.Sprint(i), Resource: "r"})
		require.NoError(t, err)
	}
	var actions []string
	for _, c := range p.Calls() {
		actions = append(actions, c.Subject)
		require.Equal(t, acme, c.Origination)
		require.Equal(t, "r", c.Detail)
	}
	require.Equal(t, []string{"2", "3", "4"}, actions)
	require.Empty(t, p.Calls(substrate.OpComputeEffective))
	require.Equal(t, 5, p.Count(substrate.OpCheckPolicy))
}

func TestPolicyRulesMatch(t *testing.T) {
	spec.Covers(t, "P-9.2-1", "P-9.2-2")
	p := new(pulsetest.Policy)
	p.Deny(pulsetest.DenyRule{Workspace: "acme", Action: "send"})
	p.Deny(pulsetest.DenyRule{Actor: "agent-7", Resource: "mail", Reason: "over budget"})
	for _, c := range []struct {
		workspace, actor, action, resource, reason string
	}{
		{"acme", "agent-1", "send", "mail", "denied by a rule of the test"},
		{"globex", "agent-1", "send", "mail", ""},
		{"globex", "agent-7", "send", "mail", "over budget"},
		{"globex", "agent-7", "send", "ticket", ""},
	} {
		v, err := p.CheckPolicy(t.Context(), substrate.CheckPolicyRequest{
			Origination: substrate.Origination{Workspace: c.workspace, Actor: c.actor}, Action: c.action, Resource: c.resource,
		})
		require.NoError(t, err)
		require.Equal(t, substrate.Verdict{Allow: c.reason == "", Reason: c.reason}, v, "%+v", c)
	}
	effective, err := p.ComputeEffective(t.Context(), substrate.ComputeEffectiveRequest{Origination: substrate.Origination{Workspace: "globex"}, OrgID: "g"})
	require.NoError(t, err)
	require.JSONEq(t, `{"org_id":"g","deny":[{"actor":"agent-7","resource":"mail","reason":"over budget"}]}`, string(effective.Document))
	p.AllowAll()
	v, err := p.CheckPolicy(t.Context(), substrate.CheckPolicyRequest{Origination: acme, Action: "send"})
	require.NoError(t, err)
	require.True(t, v.Allow)
}

func TestAuthFollowsTheLifecycle(t *testing.T) {
	spec.Covers(t, "P-9.4-1", "P-9.4-2", "C-100")
	a := new(pulsetest.Auth)
	a.Deny("agent-8", "", "")
	a.SetState("agent-9", "suspended")
	for agent, reason := range map[string]string{
		"agent-7": "", "agent-8": "denied by the test", "agent-9": "agent agent-9 is suspended", "": "the call names no agent",
	} {
		v, err := a.PermissionCheck(t.Context(), substrate.PermissionCheckRequest{AgentID: agent, Operation: "acme.triage/reply"})
		require.NoError(t, err)
		require.Equal(t, substrate.Verdict{Allow: reason == "", Reason: reason}, v, agent)
	}
	s, err := a.AgentLifecycle(t.Context(), substrate.AgentLifecycleRequest{AgentID: "agent-9"})
	require.NoError(t, err)
	require.Equal(t, "suspended", s.State)
}

func TestTime(t *testing.T) {
	spec.Covers(t, "P-9.5-1", "P-9.5-2")
	clock := new(pulsetest.Time)
	for i := range 3000 {
		require.NoError(t, clock.Observe("acme", "load", float64(i)))
	}
	require.NoError(t, clock.Observe("globex", "other", 1))
	require.ErrorContains(t, clock.Observe("acme", "load", math.Inf(1)), "not finite")
	for scale, want := range map[string]float64{"fast": 2999, "medium": 2994.5, "slow": 2949.5, "glacial": 2499.5} {
		s, err := clock.AtTimescale(t.Context(), substrate.AtTimescaleRequest{Origination: acme, Timescale: token.Timescale(scale)})
		require.NoError(t, err)
		var got struct{ Streams map[string]float64 }
		require.NoError(t, json.Unmarshal(s.Document, &got))
		require.Len(t, got.Streams, 1)
		require.InDelta(t, want, got.Streams["load"], 1e-6, scale)
	}
	f, err := clock.Forecast(t.Context(), substrate.ForecastRequest{Origination: acme, Stream: "load", Horizon: time.Second})
	require.NoError(t, err)
	var got struct{ Value, Samples float64 }
	require.NoError(t, json.Unmarshal(f.Document, &got))
	require.InDelta(t, 2994.5, got.Value, 1e-6)
	require.Equal(t, 10.0, got.Samples)
	_, err = clock.Forecast(t.Context(), substrate.ForecastRequest{Origination: acme, Stream: "other"})
	require.ErrorContains(t, err, `has no stream "other"`)
	_, err = clock.AtTimescale(t.Context(), substrate.AtTimescaleRequest{Origination: acme, Timescale: "epoch"})
	require.ErrorContains(t, err, `"epoch" is none of`)
}

func TestAuditDiscards(t *testing.T) {
	a := &pulsetest.Audit{Discard: true}
	for range 3 {
		r, err := a.AppendEvent(t.Context(), substrate.AppendEventRequest{Origination: acme})
		require.NoError(t, err)
		require.Equal(t, "trace", r.TraceID)
	}
	require.Equal(t, 3, a.Len())
	require.Equal(t, 3, a.Count(substrate.OpAppendEvent))
	require.Empty(t, a.Events())
	require.Empty(t, a.Calls())
	require.False(t, substrate.Supports(a, substrate.OpQueryByTrace))
	_, err := a.QueryByTrace(t.Context(), substrate.QueryByTraceRequest{Origination: acme, TraceID: "trace"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestAuditEvents(t *testing.T) {
	a := new(pulsetest.Audit)
	for i := range 600 { // more than two pages
		_, err := a.AppendEvent(t.Context(), substrate.AppendEventRequest{
			Origination: substrate.Origination{Workspace: fmt.Sprint("w", i%2), TraceID: fmt.Sprint("t", i%3)},
			Event:       substrate.AuditEvent{EventID: fmt.Sprint(i)},
		})
		require.NoError(t, err)
	}
	events := a.Events()
	require.Len(t, events, 600)
	require.Equal(t, "599", events[599].EventID)
	found, err := a.QueryByTrace(t.Context(), substrate.QueryByTraceRequest{Origination: substrate.Origination{Workspace: "w1"}, TraceID: "t0"})
	require.NoError(t, err)
	require.Len(t, found, 100)
	require.Equal(t, "3", found[0].EventID)
	require.Equal(t, "w1", found[0].WorkspaceID, "taken from the call")
}

// The checks and the log are on the path of every phase.
func TestAllocations(t *testing.T) {
	ctx := t.Context()
	s := pulsetest.NewSubstrates()
	discard := &pulsetest.Audit{Discard: true}
	s.Policy.Deny(pulsetest.DenyRule{Action: "never"})
	s.Auth.Deny("agent-7", "never", "")
	ids := make([]string, 5000)
	for i := range ids {
		ids[i] = fmt.Sprint("event-", i)
	}
	n := 0
	for what, c := range map[string]struct {
		most float64
		call func() error
	}{
		"policy": {0, func() error {
			_, err := s.Policy.CheckPolicy(ctx, substrate.CheckPolicyRequest{Origination: acme, Action: "send"})
			return err
		}},
		"auth": {0, func() error {
			_, err := s.Auth.PermissionCheck(ctx, substrate.PermissionCheckRequest{Origination: acme, AgentID: "agent-7", Operation: "read"})
			return err
		}},
		"discarding audit": {0, func() error {
			_, err := discard.AppendEvent(ctx, substrate.AppendEventRequest{Origination: acme, Event: substrate.AuditEvent{EventID: "event"}})
			return err
		}},
		"audit": {1, func() error {
			n++
			_, err := s.Audit.AppendEvent(ctx, substrate.AppendEventRequest{Origination: acme, Event: substrate.AuditEvent{EventID: ids[n%len(ids)]}})
			return err
		}},
	} {
		for range 1100 { // fill the ring of calls
			require.NoError(t, c.call())
		}
		got := testing.AllocsPerRun(1000, func() { _ = c.call() })
		require.LessOrEqual(t, got, c.most, what)
	}
}
