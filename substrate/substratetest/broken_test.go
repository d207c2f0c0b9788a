package substratetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/substrate/substratetest"
)

// breaking is an implementation that breaks one rule, if perhaps others with it.
type breaking[S any] struct {
	rule string
	make func() S
}

// requireCaught runs each breaking implementation against the rule it breaks. A
// rule that no implementation breaks has not been shown to catch anything.
func requireCaught[S any](t *testing.T, rules []substratetest.Rule[S], breakers []breaking[S]) {
	t.Helper()
	shown := make(map[string]bool)
	for i, b := range breakers {
		t.Run(fmt.Sprintf("%s/%d", b.rule, i), func(t *testing.T) {
			for _, rule := range rules {
				if rule.Name != b.rule {
					continue
				}
				shown[rule.Name] = true
				err := rule.Check(t.Context(), b.make())
				require.Error(t, err, "the rule did not notice")
				require.False(t, substratetest.Skipped(err), "the rule was skipped: %v", err)
				return
			}
			t.Fatalf("there is no rule %q", b.rule)
		})
	}
	for _, rule := range rules {
		require.True(t, shown[rule.Name], "no implementation here breaks %s", rule.Name)
	}
}

// requireWellFormed holds what every rule has to say.
func requireWellFormed[S any](t *testing.T, rules []substratetest.Rule[S]) {
	t.Helper()
	names := make(map[string]bool)
	for _, r := range rules {
		require.False(t, names[r.Name], "two rules are called %s", r.Name)
		names[r.Name] = true
		require.NotEmpty(t, r.Text, r.Name)
		require.Contains(t, r.Section, "OS-010 §", r.Name)
		spec.Covers(t, r.ID) // fails if it is no requirement id
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	requireWellFormed(t, substratetest.MemoryRules())
	requireWellFormed(t, substratetest.AuditRules())
	requireWellFormed(t, substratetest.PolicyRules())
	requireWellFormed(t, substratetest.AuthRules())
	requireWellFormed(t, substratetest.TimeRules())
}

// A substrate without an optional ability is skipped, and says why.
func TestOptionalAbilitiesAreSkipped(t *testing.T) {
	var skipped []string
	for _, rule := range substratetest.MemoryRules() {
		if err := rule.Check(t.Context(), plain{newMemory()}); err != nil {
			require.True(t, substratetest.Skipped(err), "%s: %v", rule.Name, err)
			require.ErrorContains(t, err, "the memory is no substrate.")
			skipped = append(skipped, rule.Name)
		}
	}
	require.Equal(t, []string{
		"transaction_is_invisible_until_commit", "rollback_undoes", "transaction_steps_are_idempotent",
		"transaction_ends_once", "transactions_are_apart",
		"erase_removes", "erase_rewrites_no_log", "own_log_echoes_the_trace",
	}, skipped)
}

// plain hides the optional interfaces.
type plain struct{ substrate.Memory }
