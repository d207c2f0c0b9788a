package manifest

import (
	"fmt"
	"strings"

	"github.com/opensentience/pulse-go/internal/expr"
)

// Trigger says after which phase an inner loop runs, and when (OS-010 §11.1).
type Trigger struct {
	Phase string
	When  string // a predicate (C-058); empty: always
}

// ParseTrigger reads "phase:<id>" or "phase:<id> when <predicate>" (C-058). It
// checks the form, not whether the phase exists.
func ParseTrigger(s string) (Trigger, error) {
	head, when, conditional := strings.Cut(s, " when ")
	id, ok := strings.CutPrefix(strings.Trim(head, " "), "phase:")
	if !ok || !isPhaseID(id) {
		return Trigger{}, fmt.Errorf("trigger %s: write phase:<id>, or phase:<id> when <predicate>", shorten(s))
	}
	t := Trigger{Phase: id, When: strings.Trim(when, " ")}
	if !conditional {
		return t, nil
	}
	if _, err := expr.Parse(t.When); err != nil {
		return Trigger{}, fmt.Errorf("trigger %s: %w", shorten(s), err)
	}
	return t, nil
}

// String writes the trigger so that ParseTrigger reads it.
func (t Trigger) String() string {
	if t.When == "" {
		return "phase:" + t.Phase
	}
	return "phase:" + t.Phase + " when " + t.When
}
