package pulse

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"go.opentelemetry.io/otel/trace"
)

// Config is everything that [New] needs besides the manifest. Its zero value,
// with Phases and Substrates set, works.
type Config struct {
	Phases     []Binding          // one for each phase of the manifest
	Substrates substrate.Resolver // memory, policy, audit and auth at least; a [substrate.Set] is one

	Journal    journal.Journal  // where iterations survive the process; nil: suspended ones wait in memory and are lost with it
	Actor      string           // who acts when a Trigger names nobody
	Limits     Limits           // bounds of the in-process host
	Settings   machine.Settings // what a host without the functions needs too
	Invariants []invariant.Rule // the host's own rules, after the manifest's
	Escalate   Escalate         // answers escalations; nil: they abort
	Observers  []Observer       // see everything, change nothing
	Recorder   Recorder         // takes the metrics that the manifest declares
	Tracer     trace.Tracer     // a span for each iteration and attempt; nil: none
	Logger     *slog.Logger     // nil: silent
	Tokens     *token.Registry  // the vendor tokens that the host knows; nil: the canonical ones alone
}

// Limits bounds the in-process host. A zero member takes its default.
type Limits struct {
	PerWorkspace int           // iterations of one workspace at a time; 1
	Queue        int           // triggers that may wait for a workspace; 64, then ErrOverflow
	Straggle     time.Duration // how long a function may take to return once its context has ended; 1 s
}

func (l Limits) withDefaults() Limits {
	if l.PerWorkspace <= 0 {
		l.PerWorkspace = 1
	}
	if l.Queue <= 0 {
		l.Queue = 64
	}
	if l.Straggle <= 0 {
		l.Straggle = time.Second
	}
	return l
}

// Trigger says for whom and why an iteration starts. Workspace and actor are
// required unless the manifest's workspace_scope or [Config] say otherwise.
type Trigger struct {
	Workspace string           // tenant (C-031)
	Actor     string           // identity that auth and policy are asked about (C-100)
	TraceID   string           // trace to join; empty: that of the context's span, else a new one
	ID        string           // iteration id; the same id names the same iteration; empty: a new one
	Origin    substrate.Origin // zero: manual
	Only      bool             // run the entry phase alone
}

// Status is the state of an iteration.
type Status = machine.Status

// The statuses of an iteration. The last four are final.
const (
	Running     = machine.Running
	Suspended   = machine.Suspended
	Interrupted = machine.Interrupted
	Completed   = machine.Completed
	Aborted     = machine.Aborted
	Failed      = machine.Failed
	Canceled    = machine.Canceled
)

// Escalate answers an escalation (OS-010 §5.4, C-043): [Resume] goes on as after
// a skipped phase, [Abort] ends the iteration. An error is tried again as a
// phase is. Denial reasons and causes are for people: do not hand them to the
// agent.
type Escalate func(context.Context, Escalation) (Resolution, error)

// Resolution answers an escalation.
type Resolution string

// The answers to an escalation.
const (
	Abort  Resolution = "abort"
	Resume Resolution = "resume"
)

// Escalation is a failure that a phase hands up.
type Escalation struct {
	Loop, Phase, Iteration, Workspace, TraceID string
	Signature                                  signature.Digest
	Attempts                                   int
	Cause                                      error
}

// Recorder takes metrics. Names are <namespace>.<metric>; durations are in
// milliseconds, sizes in bytes of canonical JSON.
type Recorder interface {
	Record(ctx context.Context, name string, value float64, attrs ...slog.Attr)
}

// Loop is a manifest with its functions and substrates, ready to run. It does
// not change and may be used by many goroutines.
type Loop struct {
	manifest *manifest.Manifest
	plan     *machine.Plan
	cfg      Config
	limits   Limits
	phases   []phase // in the manifest's order
	index    map[string]int
	rules    []invariant.Rule
	closing  int // index of closure.from_phase

	gate     gate
	sets     sync.Map // workspace → *substrate.Set
	set      *substrate.Set
	previous closings

	journal   journal.Journal
	durable   bool   // the host gave a journal
	immediate bool   // closure.guarantee is immediate: a suspended iteration keeps its place
	timed     bool   // some phase has a timeout
	echoes    bool   // receipts must echo the trace id
	minor     int    // of the protocol version
	learner   string // the phase under which signals are recorded that no iteration takes
	elects    string // the phase where the quorum is decided; empty: anywhere

	waits   waits
	flights flights
	strays  strays
	metrics meter
}

// Manifest gives the loop's manifest. Do not change it.
func (l *Loop) Manifest() *manifest.Manifest { return l.manifest }

// Plan gives what a host that performs the loop's commands by itself needs.
func (l *Loop) Plan() *machine.Plan { return l.plan }
