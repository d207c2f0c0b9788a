// Package pulse runs closed loops inside a Go service.
//
// An agent service is made of loops: it retrieves context, routes, acts, learns
// from the outcome, consolidates, and goes round again. A manifest declares such
// a loop (OpenSentience OS-010); plain Go functions are its phases; the service's
// own handlers are its substrates (memory, policy, audit, auth). The package
// supplies what lies between: order, retries, signatures, traces, audit and the
// invariants.
//
//	const (
//		Read  pulse.PhaseID[Ticket, Found]                = "read"
//		Pick  pulse.PhaseID[Found, pulse.Decision]        = "pick"
//		Reply pulse.PhaseID[Plan, Sent]                   = "reply"
//		Score pulse.PhaseID[pulse.Feedback[Sent], Update] = "score"
//	)
//
//	m, err := manifest.ParseFile("triage.pulse.json")
//	loop, err := pulse.New(m, pulse.Config{
//		Phases:     []pulse.Binding{pulse.BindFunc(Read, read), …},
//		Substrates: substrate.Set{Memory: …, Policy: …, Audit: …, Auth: …},
//	})
//	it, err := Read.Enter(ctx, loop, pulse.Trigger{Workspace: "acme", Actor: "agent-7"}, ticket)
//	sent, err := Reply.Output(it)
//
// # Phases
//
// A phase is a function from an input to an output. It needs no rules of
// determinism: it may read the clock, draw random numbers and call anything; it
// is never replayed to rebuild state. [CallFrom] gives it the iteration, the
// trace and the id of its action; [Handles] gives substrates that work in every
// phase. See [Bind], [BindFunc] and [BindAct].
//
// # Data
//
// A phase takes what the phase before it returned, unless its inputs.from says
// otherwise; the target of a route takes the value given to [PhaseID.Goto]; a learn
// phase takes the outcome of the act, as [Feedback] or as token.OutcomeSignal. On a
// route, outputs.to names the targets (phase:a|phase:b); on any other phase it names
// the phase that follows, without it the next in order does.
//
// # Routing
//
// A route phase returns a [Decision], made by [PhaseID.Goto] of the phase it
// chose, so that the compiler checks the value against that phase's input.
//
// # Outcomes
//
// An act whose result comes later returns an [Outcome] that is pending. The
// iteration suspends, no goroutine waits, and [Loop.Deliver] resumes it at its
// learn phase, minutes later or in another process.
//
// # Failure
//
// A phase's on_failure directive answers its errors: retry, rollback, escalate,
// skip or abort_loop. A panic is an error with its stack. A function that does
// not return after its time is abandoned: its handles are closed and it is listed
// by [Loop.Stragglers]. [Permanent] stops retries.
//
// # Order of writing
//
// What a phase produced is visible only after its record was journaled, its
// transactions were committed and its one transition event was appended to the
// audit. Policy or auth that cannot be reached means deny; an audit that cannot
// be written means that the iteration goes no further and is interrupted.
//
// # Concurrency
//
// A [Loop] may be used by any number of goroutines and starts none of its own
// but the one that runs an iteration's phases while [PhaseID.Enter] waits. By
// default one iteration of a workspace runs at a time and 64 wait ([Limits]).
//
// # Observing
//
// [Config] takes an OpenTelemetry tracer, a [Recorder] for the metrics that the
// manifest declares, a slog logger, and any number of [Observer]s. None of them
// changes what happens.
package pulse
