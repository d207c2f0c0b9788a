package token

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/opensentience/pulse-go/internal/near"
)

// Name is the name of a token: canonical (OutcomeSignal) or of a vendor
// (scope.v1.SpatialClaim, OS-010 §6.7).
type Name string

// The canonical tokens. The last two exist from protocol version 0.2 on.
const (
	TopologyContextName          Name = "TopologyContext"
	DeliberationResultName       Name = "DeliberationResult"
	OutcomeSignalName            Name = "OutcomeSignal"
	ReputationUpdateName         Name = "ReputationUpdate"
	ConsolidationEventName       Name = "ConsolidationEvent"
	SurpriseSignalName           Name = "SurpriseSignal"
	DeliberationRequestName      Name = "DeliberationRequest"
	SessionFidelityViolationName Name = "SessionFidelityViolation"
)

// Canonical gives the canonical tokens of protocol version 0.minor: six up to
// 0.1, eight from 0.2 on (C-002).
func Canonical(minor int) []Name {
	names := []Name{
		TopologyContextName, DeliberationResultName, OutcomeSignalName,
		ReputationUpdateName, ConsolidationEventName, SurpriseSignalName,
	}
	if minor >= 2 {
		names = append(names, DeliberationRequestName, SessionFidelityViolationName)
	}
	return names
}

// vendorForm is the pattern of OS-010 §6.7.
var vendorForm = regexp.MustCompile(`^([a-z][a-z0-9_]*)\.v([0-9]+)\.([A-Z][A-Za-z0-9]*)$`)

// reserved vendors may not be used (OS-010 §6.7): the whole first segment counts
// (C-076).
func reserved(vendor string) bool {
	return vendor == "pulse" || vendor == "opensentience" || vendor == "os"
}

// NameError is a name that is neither canonical nor of a vendor's form.
type NameError struct {
	Name    string
	Problem string // what is wrong and how to mend it
}

// Error gives the name and the problem.
func (e *NameError) Error() string { return fmt.Sprintf("token: name %q: %s", e.Name, e.Problem) }

// ParseName accepts the canonical tokens of every version and names of a
// vendor's form whose version fits an int; anything else is a [*NameError].
func ParseName(s string) (Name, error) {
	n := Name(s)
	if n.Canonical() {
		return n, nil
	}
	m := vendorForm.FindStringSubmatch(s)
	if m == nil {
		problem := "want a canonical token, or <vendor>.v<N>.<TokenName> (OS-010 §6.7)"
		if meant := near.Name(s, Canonical(2), 3); meant != "" {
			problem += fmt.Sprintf("; did you mean %s?", meant)
		}
		return "", &NameError{Name: s, Problem: problem}
	}
	if reserved(m[1]) {
		return "", &NameError{Name: s, Problem: fmt.Sprintf("the vendor %q is reserved (OS-010 §6.7): use your protocol's own name", m[1])}
	}
	if _, err := strconv.Atoi(m[2]); err != nil {
		return "", &NameError{Name: s, Problem: "the version is out of range: number vocabularies from 1"}
	}
	return n, nil
}

// Canonical reports whether the name is one of the canonical tokens of any
// version.
func (n Name) Canonical() bool {
	switch n {
	case TopologyContextName, DeliberationResultName, OutcomeSignalName, ReputationUpdateName,
		ConsolidationEventName, SurpriseSignalName, DeliberationRequestName, SessionFidelityViolationName:
		return true
	}
	return false
}

// Vendor takes a vendor's name apart; ok is false for any other name.
func (n Name) Vendor() (vendor string, version int, tok string, ok bool) {
	m := vendorForm.FindStringSubmatch(string(n))
	if m == nil || reserved(m[1]) {
		return "", 0, "", false
	}
	version, err := strconv.Atoi(m[2])
	if err != nil {
		return "", 0, "", false
	}
	return m[1], version, m[3], true
}

// canonicalType is what the CloudEvents types of canonical tokens begin with.
const canonicalType = "org.opensentience.pulse."

// EventType gives the CloudEvents type: org.opensentience.pulse.<Token> for a
// canonical token (OS-010 §10.1), <vendor>.<snake(TokenName)>.v<N> for a
// vendor's (§6.7); empty for a name that is neither.
func (n Name) EventType() string {
	if n.Canonical() {
		return canonicalType + string(n)
	}
	vendor, _, tok, ok := n.Vendor()
	if !ok {
		return ""
	}
	digits := strings.Split(string(n), ".")[1]
	return vendor + "." + snake(tok) + "." + digits
}

// snake splits before an upper-case letter that follows a lower-case letter or
// digit or is followed by a lower-case letter, never at the start (C-064).
func snake(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if !upper(c) {
			b.WriteByte(c)
			continue
		}
		if i > 0 && (!upper(s[i-1]) || i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z') {
			b.WriteByte('_')
		}
		b.WriteByte(c - 'A' + 'a')
	}
	return b.String()
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
