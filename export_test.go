package pulse

import (
	"slices"

	"github.com/opensentience/pulse-go/invariant"
)

// Without takes a rule out of a loop that has not run yet: the real engine with
// one guard missing, on which the test of that guard must fail.
func Without(l *Loop, rule string) {
	l.rules = slices.DeleteFunc(l.rules, func(r invariant.Rule) bool { return r.Name() == rule })
}
