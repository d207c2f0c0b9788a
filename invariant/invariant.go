// Package invariant holds the seven invariants of OS-010 §7 as middleware of a
// phase, and the shape that a host's own invariants have.
//
// A [Rule] sees a phase before its function runs and after it returned; an error
// fails the phase with a [*Violation], which is never retried. The semantics of
// OS-010 §5 hold without any rule; a rule adds the stricter check of §7 for
// loops that set its flag (C-011).
package invariant

import (
	"context"
	"fmt"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Rule is an invariant. Its name stands in violations and should be no other
// rule's. Any error that it returns becomes a [*Violation].
//
// Both methods are called once per attempt, Before with the input known and
// After, if the function succeeded, with everything known. They may be called for
// many phases at once and must not keep the phase.
type Rule interface {
	Name() string
	Before(ctx context.Context, p *Phase) error
	After(ctx context.Context, p *Phase) error
}

// Phase is one attempt of a phase as a rule sees it. Rules read it and change
// nothing.
type Phase struct {
	Loop      string
	Iteration string
	Workspace string
	TraceID   string
	Phase     *manifest.Phase
	Role      manifest.Role // the kind, or the role that an alias gives a custom phase
	Attempt   int

	Input  any // before and after
	Output any // after

	Decision *machine.Decision // after, of a route phase
	Target   manifest.Role     // after, of a route phase: the role of the phase that it decided for
	Act      *machine.Act      // after, of a phase that acts
	Triggers []bool            // after: truth of the triggers of the phase's inner loops

	// Topologies are the TopologyContexts that reached the iteration so far: in an
	// input or output, or as an answer of retrieve_context or topology_analyze; the
	// newest last.
	Topologies []*token.TopologyContext
	// Deliberations are the results that reached the iteration so far, the newest last.
	Deliberations []*token.DeliberationResult
	// Outcome is the outcome that a learn phase learns from.
	Outcome *token.OutcomeSignal
	// LastAct is the act whose outcome that is; nil for an outcome from elsewhere.
	LastAct *machine.Act
	// Quorum is the confidence that releases a commit.
	Quorum float64

	// Calls are the substrate calls that the attempt made through its handles.
	Calls []Call
	// Elsewhere are slots on which a call of another phase or attempt of the
	// iteration is still under way.
	Elsewhere []substrate.Slot
}

// Call is one substrate call of an attempt.
type Call struct {
	Operation   substrate.Operation
	Mutates     bool
	Audited     bool     // its mutation event was appended
	Echoes      bool     // it answered with a receipt
	EchoedTrace string   // trace id on the receipt
	UnderWay    bool     // it has not returned
	Refused     bool     // a handle refused it
	Parents     []string // causal parents that it attributed an outcome to
}

// Violation is a breach of an invariant.
type Violation struct {
	Invariant string // a manifest invariant, or the name of a host's rule
	Problem   string // what was seen, and the cure; empty if there is Err
	Err       error  // cause, if a rule of the host gave an error of its own
}

// Error names the invariant and the breach.
func (v *Violation) Error() string {
	if v.Err != nil {
		return fmt.Sprintf("invariant %s: %v", v.Invariant, v.Err)
	}
	return fmt.Sprintf("invariant %s: %s", v.Invariant, v.Problem)
}

// Unwrap gives the cause.
func (v *Violation) Unwrap() error { return v.Err }
