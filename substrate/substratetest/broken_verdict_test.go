package substratetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
)

func TestPolicyRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.2-1", "P-9.2-2")
	with := func(check func(action string) (substrate.Verdict, error), document func() json.RawMessage) func() substratetest.PolicyFixture {
		return func() substratetest.PolicyFixture {
			return substratetest.PolicyFixture{
				OrgID: "acme", Allowed: &substrate.CheckPolicyRequest{Action: "read"}, Denied: &substrate.CheckPolicyRequest{Action: "write"},
				Policy: substrate.PolicyFuncs{
					CheckPolicyFunc: func(_ context.Context, r substrate.CheckPolicyRequest) (substrate.Verdict, error) {
						return check(r.Action)
					},
					ComputeEffectiveFunc: func(context.Context, substrate.ComputeEffectiveRequest) (substrate.EffectivePolicy, error) {
						return substrate.EffectivePolicy{Document: document()}, nil
					},
				},
			}
		}
	}
	document := func() json.RawMessage { return json.RawMessage(`{}`) }
	var calls atomic.Int64
	requireCaught(t, substratetest.PolicyRules(), []breaking[substratetest.PolicyFixture]{
		{"allows", with(func(string) (substrate.Verdict, error) { return substrate.Deny("always"), nil }, document)},
		{"denies_with_a_reason", with(func(string) (substrate.Verdict, error) { return substrate.Allow(), nil }, document)},
		{"denies_with_a_reason", with(func(string) (substrate.Verdict, error) { return substrate.Verdict{}, nil }, document)},
		{"denies_with_a_reason", with(func(string) (substrate.Verdict, error) { return substrate.Deny("no"), errors.New("denied") }, document)},
		{"computes_the_effective_policy", with(nil, func() json.RawMessage { return json.RawMessage(`no`) })},
		{"computes_the_effective_policy", with(nil, func() json.RawMessage { return json.RawMessage(fmt.Sprint(calls.Add(1))) })},
		{"concurrent_use", with(func(action string) (substrate.Verdict, error) {
			if action == "read" || calls.Add(1)%20 == 0 {
				return substrate.Allow(), nil
			}
			return substrate.Deny("no"), nil
		}, document)},
	})
}

func TestAuthRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.4-1", "P-9.4-2")
	with := func(check func(agent, operation string) (substrate.Verdict, error), state func() string) func() substratetest.AuthFixture {
		return func() substratetest.AuthFixture {
			return substratetest.AuthFixture{
				AgentID: "agent-7",
				Allowed: &substrate.PermissionCheckRequest{AgentID: "agent-7", Operation: "read"},
				Denied:  &substrate.PermissionCheckRequest{AgentID: "agent-7", Operation: "write"},
				Auth: substrate.AuthFuncs{
					PermissionCheckFunc: func(_ context.Context, r substrate.PermissionCheckRequest) (substrate.Verdict, error) {
						return check(r.AgentID, r.Operation)
					},
					AgentLifecycleFunc: func(context.Context, substrate.AgentLifecycleRequest) (substrate.LifecycleState, error) {
						return substrate.LifecycleState{State: state()}, nil
					},
				},
			}
		}
	}
	active := func() string { return "active" }
	var calls atomic.Int64
	requireCaught(t, substratetest.AuthRules(), []breaking[substratetest.AuthFixture]{
		{"allows", with(func(string, string) (substrate.Verdict, error) { return substrate.Deny("always"), nil }, active)},
		{"denies_with_a_reason", with(func(string, string) (substrate.Verdict, error) { return substrate.Verdict{}, nil }, active)},
		{"denies_an_unnamed_agent", with(func(string, string) (substrate.Verdict, error) { return substrate.Allow(), nil }, active)},
		{"knows_the_lifecycle", with(nil, func() string { return "" })},
		{"knows_the_lifecycle", with(nil, func() string { return fmt.Sprint(calls.Add(1)) })},
		{"concurrent_use", with(func(_, operation string) (substrate.Verdict, error) {
			if operation == "read" || calls.Add(1)%20 == 0 {
				return substrate.Allow(), nil
			}
			return substrate.Deny("no"), nil
		}, active)},
	})
}

func TestTimeRulesCatch(t *testing.T) {
	spec.Covers(t, "P-9-1", "P-9.5-1", "P-9.5-2")
	with := func(document string) func() substratetest.TimeFixture {
		return func() substratetest.TimeFixture {
			return substratetest.TimeFixture{Timescale: "fast", Stream: "load", Time: substrate.TimeFuncs{
				AtTimescaleFunc: func(context.Context, substrate.AtTimescaleRequest) (substrate.TimescaleState, error) {
					return substrate.TimescaleState{Document: json.RawMessage(document)}, nil
				},
				ForecastFunc: func(context.Context, substrate.ForecastRequest) (substrate.Forecast, error) {
					return substrate.Forecast{Document: json.RawMessage(document)}, nil
				},
			}}
		}
	}
	requireCaught(t, substratetest.TimeRules(), []breaking[substratetest.TimeFixture]{
		{"knows_a_timescale", with("")}, {"forecasts", with("{")},
	})
}
