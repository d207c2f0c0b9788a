package bench

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"
)

// Record is about 256 bytes of JSON: the input and output of every phase.
type Record struct {
	ID       string   `json:"id"`
	Customer string   `json:"customer"`
	Subject  string   `json:"subject"`
	Body     string   `json:"body"`
	Tags     []string `json:"tags"`
	Priority int      `json:"priority"`
	Score    float64  `json:"score"`
	Open     bool     `json:"open"`
}

func sample() Record {
	return Record{
		ID: "tkt_0192837465", Customer: "cust_acme_industries", Subject: "Password reset does not arrive",
		Body: "The customer asked for a reset three times and no mail arrived; spam folder checked.",
		Tags: []string{"auth", "mail", "urgent"}, Priority: 2, Score: 0.8125, Open: true,
	}
}

const (
	read   pulse.PhaseID[Record, Record]                 = "read"
	pick   pulse.PhaseID[Record, pulse.Decision]         = "pick"
	act    pulse.PhaseID[Record, Record]                 = "act"
	learn  pulse.PhaseID[pulse.Feedback[Record], Record] = "learn"
	settle pulse.PhaseID[Record, Record]                 = "settle"
)

// loopManifest declares the five phases, all invariants on but quorum.
func loopManifest(timeout int) *manifest.Manifest {
	m := &manifest.Manifest{
		ProtocolVersion: "0.1", LoopID: "bench.governed", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve},
			{ID: "pick", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:act"}},
			{ID: "act", Kind: manifest.KindAct},
			{ID: "learn", Kind: manifest.KindLearn, Inputs: manifest.Inputs{From: "signal:OutcomeSignal"}},
			{ID: "settle", Kind: manifest.KindConsolidate},
		},
		Closure:    manifest.Closure{FromPhase: "settle", ToPhase: "read"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceManual},
		Substrates: manifest.Substrates{Memory: "m", Policy: "p", Audit: "a", Auth: "i"},
		Invariants: manifest.AllInvariants(),
	}
	m.Invariants[manifest.QuorumBeforeCommit] = false
	for i := range m.Phases {
		m.Phases[i].TimeoutMS = timeout
	}
	return m
}

// handlers are an existing service's handlers in their cheapest form: what is
// measured is the engine.
func handlers() substrate.Set {
	return substrate.Set{
		Memory: substrate.MemoryFuncs{RetrieveContextFunc: func(context.Context, substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
			return substrate.RetrieveContextResponse{}, nil
		}},
		Policy: substrate.PolicyFunc(func(context.Context, substrate.CheckPolicyRequest) (substrate.Verdict, error) {
			return substrate.Allow(), nil
		}),
		Auth: substrate.AuthFunc(func(context.Context, substrate.PermissionCheckRequest) (substrate.Verdict, error) {
			return substrate.Allow(), nil
		}),
		Audit: substrate.AuditFunc(func(_ context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
			return substrate.Receipt{ID: r.Event.EventID, TraceID: r.TraceID}, nil
		}),
	}
}

func newLoop(tb testing.TB, timeout int, edit ...func(*pulse.Config)) *pulse.Loop {
	tb.Helper()
	same := func(_ context.Context, r Record) (Record, error) { return r, nil }
	cfg := pulse.Config{
		Phases: []pulse.Binding{
			pulse.BindFunc(read, same),
			pulse.BindFunc(pick, func(_ context.Context, r Record) (pulse.Decision, error) { return act.Goto(r), nil }),
			pulse.BindFunc(act, same),
			pulse.BindFunc(learn, func(_ context.Context, f pulse.Feedback[Record]) (Record, error) { return f.Value, nil }),
			pulse.BindFunc(settle, same),
		},
		Substrates: handlers(), Actor: "agent",
	}
	for _, e := range edit {
		e(&cfg)
	}
	l, err := pulse.New(loopManifest(timeout), cfg)
	require.NoError(tb, err)
	return l
}

// floorStep is one step of the floor: what a hand-written loop would do with the
// libraries alone to have a signature, a dedupe look-up, an audit row and a
// duration.
func floorStep(seen map[[32]byte]bool, log *[]row, r Record) {
	start := time.Now()
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		panic(err)
	}
	sum := blake3.Sum256(canonical)
	if !seen[sum] {
		*log = append((*log)[:0], row{sum: sum, took: time.Since(start)})
	}
}

type row struct {
	sum  [32]byte
	took time.Duration
}

// floor times five floor steps.
func floor(b *testing.B) time.Duration {
	b.Helper()
	seen := map[[32]byte]bool{}
	var log []row
	r := sample()
	const n = 2000
	start := time.Now()
	for range n {
		for range 5 {
			floorStep(seen, &log, r)
		}
	}
	return time.Since(start) / n
}

// ratio reports how the measured operation compares with its floor.
func ratio(b *testing.B, floor time.Duration) {
	b.Helper()
	took := float64(b.Elapsed()) / float64(b.N)
	b.ReportMetric(took/float64(floor), "x-floor")
	b.ReportMetric(float64(floor), "floor-ns")
}

func enter(b *testing.B, l *pulse.Loop) {
	b.Helper()
	ctx := context.Background()
	in := sample()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read.Enter(ctx, l, pulse.Trigger{Workspace: "acme"}, in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGoverned is an iteration of five phases, in memory, without journal
// or timeouts. Budget: 0.25 x-floor.
func BenchmarkGoverned(b *testing.B) {
	f := floor(b)
	enter(b, newLoop(b, 0))
	ratio(b, f)
}

// BenchmarkGovernedTimeouts has a timeout on each phase. Budget: Governed plus
// 1.5 µs and 4 allocations per phase.
func BenchmarkGovernedTimeouts(b *testing.B) {
	f := floor(b)
	enter(b, newLoop(b, 1000))
	ratio(b, f)
}
