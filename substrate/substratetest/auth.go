package substratetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/opensentience/pulse-go/substrate"
)

// AuthFixture is an auth and what is known of it. A nil Allowed or Denied, or an
// empty AgentID, skips the rules that need it.
type AuthFixture struct {
	Auth    substrate.Auth
	Allowed *substrate.PermissionCheckRequest // something an agent may do
	Denied  *substrate.PermissionCheckRequest // something an agent may not do
	AgentID string                            // an agent that auth knows
}

// Auth runs [AuthRules] on the auths that open returns.
func Auth(t *testing.T, open func(*testing.T) AuthFixture) {
	t.Helper()
	run(t, AuthRules(), open)
}

// AuthRules returns what every auth must do (OS-010 §9.4).
func AuthRules() []Rule[AuthFixture] {
	return []Rule[AuthFixture]{{
		ID: "P-9.4-1", Name: "allows", Section: "OS-010 §9.4",
		Text: "permission_check allows what the agent may do, the same each time",
		Check: func(ctx context.Context, f AuthFixture) error {
			return checkVerdict(f.Allowed != nil, true, func() (substrate.Verdict, error) { return f.check(ctx, *f.Allowed) })
		},
	}, {
		ID: "P-9.4-1", Name: "denies_with_a_reason", Section: "OS-010 §9.4, C-097",
		Text: "permission_check denies what the agent may not do, the same each time, as a verdict with a reason and not as an error",
		Check: func(ctx context.Context, f AuthFixture) error {
			return checkVerdict(f.Denied != nil, false, func() (substrate.Verdict, error) { return f.check(ctx, *f.Denied) })
		},
	}, {
		ID: "P-9.4-1", Name: "denies_an_unnamed_agent", Section: "OS-010 §9.4, C-100",
		Text:  "permission_check does not allow a call that names no agent",
		Check: checkUnnamed,
	}, {
		ID: "P-9.4-2", Name: "knows_the_lifecycle", Section: "OS-010 §9.4",
		Text:  "agent_lifecycle returns a state, the same each time",
		Check: checkLifecycle,
	}, {
		ID: "P-9-1", Name: "concurrent_use", Section: "OS-010 §9, package substrate",
		Text: "auth serves several goroutines at once",
		Check: func(ctx context.Context, f AuthFixture) error {
			if f.Allowed == nil || f.Denied == nil {
				return skipf("the fixture says nothing that is allowed and nothing that is denied")
			}
			return concurrently(
				func() (substrate.Verdict, error) { return f.check(ctx, *f.Allowed) },
				func() (substrate.Verdict, error) { return f.check(ctx, *f.Denied) },
			)
		},
	}}
}

func (f AuthFixture) check(ctx context.Context, r substrate.PermissionCheckRequest) (substrate.Verdict, error) {
	r.Origination = suiteCall(r.Origination)
	v, err := f.Auth.PermissionCheck(ctx, r)
	if err != nil {
		return v, fmt.Errorf("permission_check: %w", err)
	}
	return v, nil
}

func checkUnnamed(ctx context.Context, f AuthFixture) error {
	if f.Allowed == nil {
		return skipf("the fixture says nothing that an agent may do")
	}
	r := *f.Allowed
	r.AgentID = ""
	v, err := f.check(ctx, r)
	if err == nil && v.Allow {
		return errors.New("an empty agent id is allowed")
	}
	return nil
}

func checkLifecycle(ctx context.Context, f AuthFixture) error {
	if f.AgentID == "" {
		return skipf("the fixture names no agent")
	}
	var first string
	for i := range 3 {
		s, err := f.Auth.AgentLifecycle(ctx, substrate.AgentLifecycleRequest{Origination: newCaller(Workspace).next(), AgentID: f.AgentID})
		switch {
		case err != nil:
			return fmt.Errorf("agent_lifecycle: %w", err)
		case s.State == "":
			return errors.New("agent_lifecycle: the state is empty")
		case i > 0 && s.State != first:
			return fmt.Errorf("agent_lifecycle: first %q, then %q", first, s.State)
		}
		first = s.State
	}
	return nil
}
