package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

var start = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

// loop reads the notation in which the tests declare loops, a line each:
//
//	phase <id> <kind> [from=…] [to=…] [next=a,b] [fail=…] [retries=n] [idempotent]
//	closure <from> <to>
//	inner <phase> <loop>
//	idle | idle fallback
//
// Without a closure line, the last phase closes to the first.
func loop(text string) (*manifest.Manifest, error) {
	m := &manifest.Manifest{
		ProtocolVersion: "0.1", LoopID: "acme.test", Version: "1.0.0",
		Cadence:    manifest.Cadence{Type: manifest.CadenceManual},
		Substrates: manifest.Substrates{Memory: "m", Policy: "p", Audit: "a", Auth: "i"},
		Invariants: manifest.AllInvariants(),
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "phase":
			p, err := phase(words[1:])
			if err != nil {
				return nil, err
			}
			m.Phases = append(m.Phases, p)
		case "closure":
			m.Closure.FromPhase, m.Closure.ToPhase = words[1], words[2]
		case "inner":
			m.Nesting.InnerLoops = append(m.Nesting.InnerLoops, manifest.InnerLoop{LoopID: words[2], Trigger: "phase:" + words[1]})
		case "idle":
			idle := manifest.Cadence{Type: manifest.CadenceIdle}
			if len(words) > 1 {
				m.Cadence.Fallback = &manifest.Cadence{Type: manifest.CadenceManual, Fallback: &idle}
			} else {
				m.Cadence = idle
			}
		default:
			return nil, fmt.Errorf("unknown line %q", line)
		}
	}
	if m.Closure.FromPhase == "" && len(m.Phases) > 0 {
		m.Closure.FromPhase, m.Closure.ToPhase = m.Phases[len(m.Phases)-1].ID, m.Phases[0].ID
	}
	return m, nil
}

func phase(words []string) (manifest.Phase, error) {
	p := manifest.Phase{ID: words[0], Kind: manifest.Kind(words[1])}
	if kind, custom, ok := strings.Cut(words[1], ":"); ok {
		p.Kind, p.CustomKind = manifest.Kind(kind), custom
	}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "from":
			p.Inputs.From = value
		case "to":
			p.Outputs.To = value
		case "next":
			p.Successors = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
			if p.Successors == nil {
				p.Successors = []string{}
			}
		case "fail":
			p.OnFailure = manifest.OnFailure(value)
		case "retries":
			n, err := strconv.Atoi(value)
			if err != nil {
				return p, err
			}
			p.MaxRetries = &n
		case "idempotent":
			p.Idempotent = true
		default:
			return p, fmt.Errorf("unknown word %q", w)
		}
	}
	return p, nil
}

// compile makes the plan of a loop in the notation of [loop]. Delays have no
// jitter, so that transcripts show them whole.
func compile(t testing.TB, text string, s machine.Settings) *machine.Plan {
	t.Helper()
	m, err := loop(text)
	require.NoError(t, err)
	s.Backoff.NoJitter = true
	plan, err := machine.Compile(m, s)
	require.NoError(t, err)
	return plan
}

// trigger reads the words phase=, payload=, fits=, outcome=, only, settle.
func trigger(line string) (machine.Trigger, error) {
	t := machine.Trigger{Workspace: "acme", TraceID: "trace-1", Origin: substrate.Origin{Kind: substrate.OriginManual}}
	for _, w := range strings.Fields(line) {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "phase":
			t.Phase = value
		case "payload":
			t.Payload = machine.Of(value)
		case "fits":
			t.Fits = strings.Split(value, ",")
		case "outcome":
			t.Outcome = outcome(value)
		case "only":
			t.Only = true
		case "settle":
			t.Settle = true
		default:
			return t, fmt.Errorf("unknown word %q", w)
		}
	}
	return t, nil
}

func outcome(action string) *token.OutcomeSignal {
	return &token.OutcomeSignal{Header: token.Header{TraceID: "trace-1"}, ActionID: action, Status: token.StatusSuccess, Timestamp: start}
}

// worked gives a plain result of a command that worked.
func worked(plan *machine.Plan, c machine.Command, at time.Time) machine.Result {
	r := machine.Result{Time: at}
	switch c.Op {
	case machine.OpRunPhase:
		r.Output = machine.Of(fmt.Sprintf("%s.%d", c.Phase, c.Run))
		if plan.Kind(c.Phase) == manifest.KindAct {
			r.Act = &machine.Act{ActionID: fmt.Sprintf("act-%s-%d", c.Phase, c.Run), NoParents: true}
		}
		if next := plan.Targets(c.Phase); len(next) > 0 {
			r.Decision = &machine.Decision{To: next[0], Value: machine.Of("for " + next[0])}
		}
	case machine.OpAwait:
		if c.Await.Token == token.OutcomeSignalName {
			r.Outcome = outcome(c.Await.ActionID)
		} else {
			r.Signal = machine.Of("signal")
		}
	}
	return r
}
