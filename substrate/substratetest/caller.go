package substratetest

import (
	"crypto/rand"

	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
)

// The workspaces from which the suites call. A substrate that must know its
// workspaces beforehand should know these.
const (
	Workspace      = "substratetest"
	OtherWorkspace = "substratetest-other"
)

// digest stands for the signature of a phase's input.
const digest signature.Digest = "blake3:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// caller makes the call contexts of one phase of one iteration.
type caller struct {
	substrate.Origination
}

// newCaller is a phase of a new iteration, with a trace of its own.
func newCaller(workspace string) *caller {
	return &caller{substrate.Origination{
		Workspace: workspace, Actor: "substratetest", TraceID: "trace-" + rand.Text(), SpanID: "span-1",
		Loop: "substratetest.loop", LoopVersion: "1.0.0", Iteration: "iteration-" + rand.Text(), Phase: "act",
		Run: 1, Attempt: 1, Signature: digest, Origin: substrate.Origin{Kind: substrate.OriginManual},
	}}
}

// next is the context of a further call.
func (c *caller) next() substrate.Origination {
	c.Ordinal++
	return c.Origination
}

// in is the context of a further call within a transaction.
func (c *caller) in(transaction string) substrate.Origination {
	o := c.next()
	o.Transaction = transaction
	return o
}
