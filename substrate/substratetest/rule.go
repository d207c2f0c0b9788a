package substratetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Rule is one thing that every substrate of type S must do. The rules are
// exported so that they can be run without package testing, as a conformance
// report does.
type Rule[S any] struct {
	ID      string // requirement, such as P-9.1-2
	Name    string // short, unique in its suite
	Section string // where the specification says so
	Text    string // what must hold

	// Check tries the rule on a new, empty substrate. It returns nil if the rule
	// holds, an error for which Skipped is true if the substrate does not offer
	// what the rule is about, and otherwise what was seen instead.
	Check func(context.Context, S) error
}

// run makes each rule a subtest.
func run[S any](t *testing.T, rules []Rule[S], open func(*testing.T) S) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.Name, func(t *testing.T) {
			err := rule.Check(t.Context(), open(t))
			switch {
			case err == nil:
			case Skipped(err):
				t.Skipf("%s: %v", rule.ID, err)
			default:
				t.Errorf("%s (%s) is broken: %s\n%v", rule.ID, rule.Section, rule.Text, err)
			}
		})
	}
}

// Skipped reports whether an error of a Check says that the substrate does not
// offer what the rule is about.
func Skipped(err error) bool {
	var s *skip
	return errors.As(err, &s)
}

type skip struct{ reason string }

func (s *skip) Error() string { return s.reason }

// skipf says why a rule does not apply.
func skipf(format string, args ...any) error { return &skip{fmt.Sprintf(format, args...)} }

// wantError says whether a call has the error that it should have.
func wantError(what string, got, want error) error {
	if errors.Is(got, want) {
		return nil
	}
	if got == nil {
		return fmt.Errorf("%s: no error, want %q (compare with errors.Is)", what, want.Error())
	}
	return fmt.Errorf("%s: %w, want %q (compare with errors.Is)", what, got, want.Error())
}
