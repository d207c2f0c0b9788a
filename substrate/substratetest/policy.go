package substratetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/opensentience/pulse-go/substrate"
)

// PolicyFixture is a policy and what is known of it. A nil Allowed or Denied, or
// an empty OrgID, skips the rules that need it. The call contexts are the
// suite's, but for an Actor that the fixture sets.
type PolicyFixture struct {
	Policy  substrate.Policy
	Allowed *substrate.CheckPolicyRequest // something the policy allows
	Denied  *substrate.CheckPolicyRequest // something the policy denies
	OrgID   string                        // an organization that the policy knows
}

// Policy runs [PolicyRules] on the policies that open returns.
func Policy(t *testing.T, open func(*testing.T) PolicyFixture) {
	t.Helper()
	run(t, PolicyRules(), open)
}

// PolicyRules returns what every policy must do (OS-010 §9.2).
func PolicyRules() []Rule[PolicyFixture] {
	return []Rule[PolicyFixture]{{
		ID: "P-9.2-1", Name: "allows", Section: "OS-010 §9.2",
		Text: "check_policy allows what the policy allows, the same each time",
		Check: func(ctx context.Context, f PolicyFixture) error {
			return checkVerdict(f.Allowed != nil, true, func() (substrate.Verdict, error) { return f.check(ctx, *f.Allowed) })
		},
	}, {
		ID: "P-9.2-1", Name: "denies_with_a_reason", Section: "OS-010 §9.2, C-097",
		Text: "check_policy denies what the policy denies, the same each time, as a verdict with a reason and not as an error",
		Check: func(ctx context.Context, f PolicyFixture) error {
			return checkVerdict(f.Denied != nil, false, func() (substrate.Verdict, error) { return f.check(ctx, *f.Denied) })
		},
	}, {
		ID: "P-9.2-2", Name: "computes_the_effective_policy", Section: "OS-010 §9.2, C-101",
		Text:  "compute_effective returns a JSON document, the same each time",
		Check: checkEffective,
	}, {
		ID: "P-9-1", Name: "concurrent_use", Section: "OS-010 §9, package substrate",
		Text: "the policy serves several goroutines at once",
		Check: func(ctx context.Context, f PolicyFixture) error {
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

func (f PolicyFixture) check(ctx context.Context, r substrate.CheckPolicyRequest) (substrate.Verdict, error) {
	r.Origination = suiteCall(r.Origination)
	v, err := f.Policy.CheckPolicy(ctx, r)
	if err != nil {
		return v, fmt.Errorf("check_policy: %w", err)
	}
	return v, nil
}

// suiteCall is a call of the suite on behalf of the fixture's actor.
func suiteCall(fixture substrate.Origination) substrate.Origination {
	o := newCaller(Workspace).next()
	if fixture.Actor != "" {
		o.Actor = fixture.Actor
	}
	return o
}

// checkVerdict asks several times.
func checkVerdict(known, allow bool, ask func() (substrate.Verdict, error)) error {
	if !known {
		return skipf("the fixture says nothing of which the verdict is known to be %s", verdictName(allow))
	}
	for i := range 3 {
		v, err := ask()
		if err != nil {
			return err
		}
		if v.Allow != allow {
			return fmt.Errorf("answer %d: verdict %s (reason %q), want %s", i+1, verdictName(v.Allow), v.Reason, verdictName(allow))
		}
		if !v.Allow && v.Reason == "" {
			return fmt.Errorf("answer %d: denied without a reason", i+1)
		}
	}
	return nil
}

func verdictName(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}

// concurrently asks both from several goroutines.
func concurrently(allowed, denied func() (substrate.Verdict, error)) error {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			for k := 0; k < 10 && errs[i] == nil; k++ {
				errs[i] = errors.Join(checkVerdict(true, true, allowed), checkVerdict(true, false, denied))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func checkEffective(ctx context.Context, f PolicyFixture) error {
	if f.OrgID == "" {
		return skipf("the fixture names no organization")
	}
	return checkDocument("compute_effective", func() (json.RawMessage, error) {
		e, err := f.Policy.ComputeEffective(ctx, substrate.ComputeEffectiveRequest{Origination: newCaller(Workspace).next(), OrgID: f.OrgID})
		return e.Document, err
	})
}

// checkDocument asks several times for the same JSON.
func checkDocument(what string, ask func() (json.RawMessage, error)) error {
	var first any
	for i := range 3 {
		doc, err := ask()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		var value any
		if err := json.Unmarshal(doc, &value); err != nil {
			return fmt.Errorf("%s: document %q is not JSON: %w", what, doc, err)
		}
		if i == 0 {
			first = value
		} else if !reflect.DeepEqual(first, value) {
			return fmt.Errorf("%s: first %v, then %v", what, first, value)
		}
	}
	return nil
}
