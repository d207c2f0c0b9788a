package pulse_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// The typed shape of a small help desk.
type (
	Ticket struct{ ID, Text string }
	Found  struct {
		Ticket  Ticket
		Answers []string
	}
	Plan struct{ Answer string }
	Sent struct{ ActionID, Text string }
)

const (
	Read  pulse.PhaseID[Ticket, Found]                = "read"
	Pick  pulse.PhaseID[Found, pulse.Decision]        = "pick"
	Reply pulse.PhaseID[Plan, Sent]                   = "reply"
	Query pulse.PhaseID[Plan, Sent]                   = "ask"
	Score pulse.PhaseID[pulse.Feedback[Sent], string] = "score"
)

// deskManifest declares the desk: read, pick, then reply or ask, then score.
func deskManifest() *manifest.Manifest {
	m := &manifest.Manifest{
		ProtocolVersion: "0.1", LoopID: "acme.triage", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve},
			{ID: "pick", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:reply|phase:ask"}},
			{ID: "reply", Kind: manifest.KindAct, Inputs: manifest.Inputs{From: "phase:pick"}, Outputs: manifest.Outputs{To: "phase:score"}},
			{ID: "ask", Kind: manifest.KindAct, Inputs: manifest.Inputs{From: "phase:pick"}, Outputs: manifest.Outputs{To: "phase:score"}},
			{ID: "score", Kind: manifest.KindLearn},
		},
		Closure:    manifest.Closure{FromPhase: "score", ToPhase: "read"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceManual},
		Substrates: manifest.Substrates{Memory: "desk", Policy: "desk", Audit: "desk", Auth: "desk"},
		Invariants: manifest.AllInvariants(),
	}
	m.Invariants[manifest.QuorumBeforeCommit] = false
	return m
}

// deskConfig binds plain functions to the phases.
func deskConfig() pulse.Config {
	return pulse.Config{
		Actor: "agent-7", Substrates: pulsetest.NewSubstrates().Set(),
		Phases: []pulse.Binding{
			pulse.BindFunc(Read, func(_ context.Context, t Ticket) (Found, error) {
				return Found{Ticket: t, Answers: []string{"Press reset."}}, nil
			}),
			pulse.BindFunc(Pick, func(_ context.Context, f Found) (pulse.Decision, error) {
				if len(f.Answers) == 0 {
					return Query.Goto(Plan{"What did you see?"}), nil
				}
				return Reply.Goto(Plan{f.Answers[0]}), nil
			}),
			pulse.BindFunc(Reply, func(ctx context.Context, p Plan) (Sent, error) { return Sent{Text: p.Answer}, nil }),
			pulse.BindFunc(Query, func(ctx context.Context, p Plan) (Sent, error) { return Sent{Text: p.Answer}, nil }),
			pulse.BindFunc(Score, func(_ context.Context, f pulse.Feedback[Sent]) (string, error) {
				return fmt.Sprintf("%s: %s", f.Signal.Status, f.Value.Text), nil
			}),
		},
	}
}

var atAcme = pulse.Trigger{Workspace: "acme"}

// A loop runs from the phase at which it is entered until it ends.
func Example() {
	loop, err := pulse.New(deskManifest(), deskConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	it, err := Read.Enter(context.Background(), loop, atAcme, Ticket{"7", "it hangs"})
	if err != nil {
		fmt.Println(err)
		return
	}
	lesson, err := Score.Output(it)
	fmt.Println(it.Status, "-", lesson, err)
	// Output: completed - success: Press reset. <nil>
}

// New gives every fault at once.
func ExampleNew() {
	cfg := deskConfig()
	cfg.Phases = cfg.Phases[:3]
	cfg.Substrates = substrate.Set{}
	_, err := pulse.New(deskManifest(), cfg)
	var faults *pulse.BuildError
	if errors.As(err, &faults) {
		for _, f := range faults.Faults {
			fmt.Println(f)
		}
	}
	// Output:
	// phase ask: no function is bound to it: add pulse.BindFunc(…) to Config.Phases [phase.unbound]
	// phase score: no function is bound to it: add pulse.BindFunc(…) to Config.Phases [phase.unbound]
	// the engine itself calls policy.check_policy, which the substrates do not offer: set substrate.Set.Policy [substrates.missing]
	// the engine itself calls audit.append_event, which the substrates do not offer: set substrate.Set.Audit [substrates.missing]
	// the engine itself calls auth.permission_check, which the substrates do not offer: set substrate.Set.Auth [substrates.missing]
	// no memory is given: set substrate.Set.Memory [substrates.missing]
}

// A route phase chooses a phase and gives it its input; the compiler checks that
// they fit.
func ExamplePhaseID_Goto() {
	d := Reply.Goto(Plan{"Press reset."})
	fmt.Println(d.To, d.Value)
	// Output: reply {Press reset.}
}

// Inside a phase the context tells about the call.
func ExampleCallFrom() {
	cfg := deskConfig()
	cfg.Phases[2] = pulse.BindFunc(Reply, func(ctx context.Context, p Plan) (Sent, error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return Sent{}, err
		}
		found, err := Read.Output(c.Iteration()) // a typed output of an earlier phase
		fmt.Println(c.Phase(), "of", c.Loop(), "for", c.Workspace(), "on ticket", found.Ticket.ID)
		return Sent{ActionID: c.ActionID(), Text: p.Answer}, err
	})
	loop := pulse.Must(pulse.New(deskManifest(), cfg))
	it, err := Read.Enter(context.Background(), loop, atAcme, Ticket{"7", "it hangs"})
	fmt.Println(it.Status, err)
	// Output:
	// reply of acme.triage for acme on ticket 7
	// completed <nil>
}

// Handlers hold substrate handles; a unit test passes a substrate of its own.
func ExampleHandles() {
	memory := pulse.Handles().Memory // works in every phase, of every workspace
	cfg := deskConfig()
	cfg.Phases[2] = pulse.BindFunc(Reply, func(ctx context.Context, p Plan) (Sent, error) {
		_, err := memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "reply", Content: []byte(`"sent"`), Confidence: 0.5}})
		return Sent{Text: p.Answer}, err
	})
	loop := pulse.Must(pulse.New(deskManifest(), cfg))
	it, err := Read.Enter(context.Background(), loop, atAcme, Ticket{"7", "it hangs"})
	fmt.Println(it.Status, err)
	_, err = memory.StoreNode(context.Background(), substrate.StoreNodeRequest{})
	fmt.Println(errors.Is(err, pulse.ErrNoCall))
	// Output:
	// completed <nil>
	// true
}

// An act whose result comes later suspends the iteration; the outcome resumes it.
func ExampleLoop_Deliver() {
	cfg := deskConfig()
	cfg.Phases[2] = pulse.BindAct(Reply, func(ctx context.Context, p Plan) (pulse.Outcome[Sent], error) {
		c, err := pulse.CallFrom(ctx)
		if err != nil {
			return pulse.Outcome[Sent]{}, err
		}
		return pulse.Outcome[Sent]{Value: Sent{c.ActionID(), p.Answer}, Pending: true, NoParents: true}, nil
	})
	loop := pulse.Must(pulse.New(deskManifest(), cfg))
	ctx := context.Background()
	it, err := Read.Enter(ctx, loop, atAcme, Ticket{"7", "it hangs"})
	fmt.Println(it.Status, err)

	sent, err := Reply.Output(it) // what a webhook would bring back
	if err != nil {
		fmt.Println(err)
		return
	}
	it, err = loop.Deliver(ctx, atAcme, token.OutcomeSignal{ActionID: sent.ActionID, Status: token.StatusFailure, Timestamp: time.Now().UTC()})
	if err != nil {
		fmt.Println(err)
		return
	}
	lesson, err := Score.Output(it)
	fmt.Println(it.Status, "-", lesson, err)
	// Output:
	// suspended <nil>
	// completed - failure: Press reset. <nil>
}

// A phase that fails is retried where the manifest says so; a panic is an error
// like another, and Permanent stops retries.
func ExamplePermanent() {
	m := deskManifest()
	m.Phase("reply").OnFailure = manifest.FailRetry
	cfg := deskConfig()
	cfg.Settings.Backoff = machine.Backoff{Base: time.Microsecond}
	cfg.Phases[2] = pulse.BindFunc(Reply, func(ctx context.Context, p Plan) (Sent, error) {
		c, err := pulse.CallFrom(ctx)
		if err == nil && c.Attempt() == 1 {
			panic("the first attempt")
		}
		return Sent{}, pulse.Permanent(errors.New("the address does not exist"))
	})
	loop := pulse.Must(pulse.New(m, cfg))
	it, err := Read.Enter(context.Background(), loop, atAcme, Ticket{"7", "it hangs"})
	fmt.Println(it.Status, "-", err)
	var failed *pulse.PhaseError
	fmt.Println(errors.As(err, &failed), failed.Attempt)
	// Output:
	// aborted - pulse: loop acme.triage: phase reply: the address does not exist
	// true 2
}

// A journal keeps an iteration across processes: what was interrupted is resumed
// from its newest entry, at the phase that was running. An act that was running is
// in doubt instead: see ErrInDoubt.
func ExampleLoop_Resume() {
	var journal pulsetest.Journal
	ctx, stop := context.WithCancel(context.Background())
	cfg := deskConfig()
	cfg.Journal = &journal
	cfg.Phases[1] = pulse.BindFunc(Pick, func(ctx context.Context, f Found) (pulse.Decision, error) {
		stop() // the process is told to stop in the middle of the phase
		return Reply.Goto(Plan{f.Answers[0]}), ctx.Err()
	})
	it, err := Read.Enter(ctx, pulse.Must(pulse.New(deskManifest(), cfg)), atAcme, Ticket{"7", "it hangs"})
	fmt.Println(it.Status, errors.Is(err, context.Canceled))

	entry, err := journal.Load(context.Background(), "acme", it.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	again := deskConfig()
	again.Journal = &journal
	it, err = pulse.Must(pulse.New(deskManifest(), again)).Resume(context.Background(), entry)
	fmt.Println(it.Status, err)
	// Output:
	// interrupted true
	// completed <nil>
}

// Observers see what happens, in order, and change nothing.
func ExampleObserver() {
	var recorder pulsetest.Recorder
	cfg := deskConfig()
	cfg.Observers = []pulse.Observer{&recorder}
	loop := pulse.Must(pulse.New(deskManifest(), cfg))
	_, err := Read.Enter(context.Background(), loop, atAcme, Ticket{"7", "it hangs"})
	fmt.Println(recorder.Ran(), err)
	// Output: [read pick reply score] <nil>
}

// Limits bound how many iterations of a workspace run and wait.
func ExampleLimits() {
	cfg := deskConfig()
	cfg.Limits = pulse.Limits{PerWorkspace: 4, Queue: 16, Straggle: 2 * time.Second}
	loop := pulse.Must(pulse.New(deskManifest(), cfg))
	fmt.Println(loop.Manifest().LoopID, len(loop.Stragglers()))
	// Output: acme.triage 0
}
