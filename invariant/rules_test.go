package invariant_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
)

// only gives the rule of one invariant.
func only(t *testing.T, i manifest.Invariant) invariant.Rule {
	t.Helper()
	rules := invariant.Rules(&manifest.Manifest{Invariants: map[manifest.Invariant]bool{i: true}})
	require.Len(t, rules, 1)
	require.Equal(t, string(i), rules[0].Name())
	return rules[0]
}

// breaches runs a rule over both ends of a phase and gives what it found.
func breaches(t *testing.T, r invariant.Rule, p *invariant.Phase) (before, after string) {
	t.Helper()
	return problem(t, r, r.Before(t.Context(), p)), problem(t, r, r.After(t.Context(), p))
}

func problem(t *testing.T, r invariant.Rule, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var v *invariant.Violation
	require.ErrorAs(t, err, &v)
	require.Equal(t, r.Name(), v.Invariant)
	require.NotEmpty(t, v.Problem)
	require.EqualError(t, err, "invariant "+r.Name()+": "+v.Problem)
	return v.Problem
}

// row is a phase and what a rule must find in it: nothing where both texts are
// empty, else a problem that contains the text.
type row struct {
	name          string
	phase         invariant.Phase
	before, after string
}

func check(t *testing.T, i manifest.Invariant, rows []row) {
	t.Helper()
	r := only(t, i)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			before, after := breaches(t, r, &c.phase)
			expect(t, "before", c.before, before)
			expect(t, "after", c.after, after)
		})
	}
}

func expect(t *testing.T, when, want, got string) {
	t.Helper()
	if want == "" {
		require.Empty(t, got, "%s: a healthy phase is refused", when)
		return
	}
	require.Contains(t, got, want, "%s", when)
}

func TestRules(t *testing.T) {
	spec.Covers(t, "P-4-26", "P-7-1", "C-011")
	names := func(flags map[manifest.Invariant]bool) []string {
		var s []string
		for _, r := range invariant.Rules(&manifest.Manifest{Invariants: flags}) {
			s = append(s, r.Name())
		}
		return s
	}
	var all []string
	for _, i := range manifest.Invariants() {
		all = append(all, string(i))
		require.Equal(t, []string{string(i)}, names(map[manifest.Invariant]bool{i: true}))
		off := manifest.AllInvariants()
		off[i] = false
		require.NotContains(t, names(off), string(i), "a flag that is false adds nothing")
		require.Len(t, names(off), 6)
	}
	require.Equal(t, all, names(manifest.AllInvariants()), "the order of OS-010 §7")
	require.Empty(t, names(nil), "an absent flag is false")
	require.Empty(t, names(map[manifest.Invariant]bool{"my_rule": true}))
	require.Empty(t, invariant.Rules(nil))
}

// Rules must stand whatever a phase looks like: the zero one breaks nothing.
func TestRulesOnAZeroPhase(t *testing.T) {
	for _, i := range manifest.Invariants() {
		before, after := breaches(t, only(t, i), new(invariant.Phase))
		require.Empty(t, before+after, i)
	}
}

func TestRulesDoNotAllocate(t *testing.T) {
	p := healthy()
	for _, r := range invariant.Rules(&manifest.Manifest{Invariants: manifest.AllInvariants()}) {
		n := testing.AllocsPerRun(100, func() {
			if r.Before(t.Context(), p) != nil || r.After(t.Context(), p) != nil {
				t.Error("a healthy phase is refused by " + r.Name())
			}
		})
		require.Zero(t, n, r.Name())
	}
}

func TestViolationOfAHost(t *testing.T) {
	v := &invariant.Violation{Invariant: "office_hours", Err: io.ErrUnexpectedEOF}
	require.EqualError(t, v, "invariant office_hours: unexpected EOF")
	require.ErrorIs(t, v, io.ErrUnexpectedEOF)
	require.NoError(t, errors.Unwrap(&invariant.Violation{Problem: "p"}))
}
