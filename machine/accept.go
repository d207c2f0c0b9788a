package machine

import (
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
)

// members is the set of members that a result has.
type members uint16

const (
	hasFailure members = 1 << iota
	hasOutput
	hasSignature
	hasRemembered
	hasDecision
	hasAct
	hasTriggers
	hasResume
	hasSignal
	hasOutcome
	hasExpired
)

var memberNames = [...]string{"failure", "output", "signature", "remembered", "decision", "act",
	"triggers", "resume", "signal", "outcome", "expired"}

func (s members) has(n members) bool { return s&n != 0 }

// first names the first member of a set.
func (s members) first() string {
	for i, name := range memberNames {
		if s.has(1 << i) {
			return name
		}
	}
	return ""
}

func (r *Result) members() members {
	var s members
	for i, set := range [...]bool{
		r.Failure != nil, !r.Output.IsZero(), r.Signature != "", r.Remembered, r.Decision != nil, r.Act != nil,
		r.Triggers != nil, r.Resume, !r.Signal.IsZero(), r.Outcome != nil, r.Expired,
	} {
		if set {
			s |= 1 << i
		}
	}
	return s
}

// may gives the members that the result of an operation can have.
func (op Op) may() members {
	switch op {
	case OpBegin, OpCompensate:
		return hasFailure
	case OpRunPhase:
		return hasFailure | hasOutput | hasSignature | hasRemembered | hasDecision | hasAct | hasTriggers
	case OpEscalate:
		return hasFailure | hasResume
	case OpAwait:
		return hasSignal | hasOutcome | hasExpired
	}
	return 0
}

// accept checks that a result belongs to its command.
func (m *Machine) accept(c *Command, r *Result) error {
	if !storable(r.Time) {
		return misfit(c, "the time %v cannot be used", r.Time)
	}
	has := r.members()
	if foreign := has &^ c.Op.may(); foreign != 0 {
		return misfit(c, "it cannot have the member %s", foreign.first())
	}
	if r.Failure != nil && r.Failure.Code == "" {
		return misfit(c, "the failure has no code")
	}
	switch c.Op {
	case OpRunPhase:
		if r.Failure == nil {
			return m.acceptRun(c, r)
		}
	case OpEscalate:
		if has == hasFailure|hasResume {
			return misfit(c, "it failed and resumes at once")
		}
	case OpAwait:
		return acceptSignal(c, r, has)
	}
	return nil
}

// acceptRun checks the result of an attempt that worked.
func (m *Machine) acceptRun(c *Command, r *Result) error {
	i := m.run(c.ID).Phase
	p := &m.plan.phases[i]
	if len(r.Triggers) != 0 && len(r.Triggers) != len(p.inner) {
		return misfit(c, "it has %d triggers, and phase %s has %d inner loops", len(r.Triggers), p.id, len(p.inner))
	}
	if r.Remembered {
		if _, ok := m.remembered(i, r.Signature); !ok {
			return misfit(c, "nothing of phase %s is remembered under signature %s", p.id, r.Signature)
		}
		return nil
	}
	switch {
	case r.Act != nil && !p.acts:
		return misfit(c, "phase %s does not act", p.id)
	case r.Act == nil && p.kind == manifest.KindAct:
		return misfit(c, "act phase %s must say what it did: act is missing", p.id)
	case r.Act != nil:
		return acceptAct(c, r.Act)
	}
	return nil
}

func acceptAct(c *Command, act *Act) error {
	switch act.Status {
	case "", token.StatusSuccess, token.StatusPartial, token.StatusFailure, token.StatusTimeout:
	default:
		return misfit(c, "the act has the status %q: it is success, partial, failure, timeout or empty", act.Status)
	}
	switch {
	case act.ActionID == "":
		return misfit(c, "the act has no action_id")
	case act.Within < 0:
		return misfit(c, "the act's outcome is due within %s", act.Within)
	}
	return nil
}

func acceptSignal(c *Command, r *Result, has members) error {
	want := hasSignal
	if c.Await.Token == token.OutcomeSignalName {
		want = hasOutcome
	}
	switch {
	case has != want && has != hasExpired:
		return misfit(c, "a wait for %s ends with %s or expired, and with one of them", c.Await.Token, want.first())
	case r.Outcome != nil && c.Await.ActionID != "" && r.Outcome.ActionID != c.Await.ActionID:
		return misfit(c, "the outcome is of action %q, and action %q is awaited", r.Outcome.ActionID, c.Await.ActionID)
	}
	return nil
}
