package pulsetest_test

import (
	"testing"
	"time"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
)

// Our own doubles pass the public suites first.

func TestMemorySuite(t *testing.T) {
	covers(t, substratetest.MemoryRules())
	spec.Covers(t, "C-040", "C-041", "C-085", "C-089", "C-095", "C-101", "C-102")
	substratetest.Memory(t, func(*testing.T) substrate.Memory { return new(pulsetest.Memory) })
}

func TestBoundedMemorySuite(t *testing.T) {
	substratetest.Memory(t, func(*testing.T) substrate.Memory { return bounded{&pulsetest.Memory{MaxNodes: 100}} })
}

// bounded is a memory without a log of its own, as MaxNodes makes it.
type bounded struct{ *pulsetest.Memory }

func (bounded) ReadAudit() {} // hides the method: the type is no AuditReader

func TestAuditSuite(t *testing.T) {
	covers(t, substratetest.AuditRules())
	spec.Covers(t, "C-088", "C-095")
	substratetest.Audit(t, func(*testing.T) substrate.Audit { return new(pulsetest.Audit) })
}

func TestPolicySuite(t *testing.T) {
	covers(t, substratetest.PolicyRules())
	spec.Covers(t, "C-101")
	substratetest.Policy(t, func(*testing.T) substratetest.PolicyFixture {
		p := new(pulsetest.Policy)
		p.Deny(pulsetest.DenyRule{Action: "send", Resource: "mail", Reason: "over budget"})
		return substratetest.PolicyFixture{
			Policy: p, OrgID: "acme",
			Allowed: &substrate.CheckPolicyRequest{Action: "send", Resource: "ticket"},
			Denied:  &substrate.CheckPolicyRequest{Action: "send", Resource: "mail"},
		}
	})
}

func TestAuthSuite(t *testing.T) {
	covers(t, substratetest.AuthRules())
	spec.Covers(t, "C-100", "C-101")
	substratetest.Auth(t, func(*testing.T) substratetest.AuthFixture {
		a := new(pulsetest.Auth)
		a.Deny("agent-7", "acme.triage/reply", "read only")
		return substratetest.AuthFixture{
			Auth: a, AgentID: "agent-7",
			Allowed: &substrate.PermissionCheckRequest{AgentID: "agent-7", Operation: "acme.triage"},
			Denied:  &substrate.PermissionCheckRequest{AgentID: "agent-7", Operation: "acme.triage/reply"},
		}
	})
}

func TestTimeSuite(t *testing.T) {
	covers(t, substratetest.TimeRules())
	spec.Covers(t, "C-101")
	substratetest.Time(t, func(t *testing.T) substratetest.TimeFixture {
		clock := new(pulsetest.Time)
		for i := range 20 {
			if err := clock.Observe(substratetest.Workspace, "load", float64(i)); err != nil {
				t.Fatal(err)
			}
		}
		return substratetest.TimeFixture{Time: clock, Timescale: "medium", Stream: "load", Horizon: time.Hour}
	})
}

// covers declares the requirements that the rules of a suite show.
func covers[S any](t *testing.T, rules []substratetest.Rule[S]) {
	t.Helper()
	seen := make(map[string]bool)
	for _, r := range rules {
		if !seen[r.ID] {
			seen[r.ID] = true
			spec.Covers(t, r.ID)
		}
	}
}
