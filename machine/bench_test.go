package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/machine"
)

// BenchmarkStep is one command: Next and Done, without the commits' records.
func BenchmarkStep(b *testing.B) {
	b.Run("retry", func(b *testing.B) { // run_phase and sleep, forever
		plan := compile(b, "phase read retrieve fail=retry retries=2000000000", machine.Settings{})
		m, err := machine.New(plan, "i", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
		require.NoError(b, err)
		require.NoError(b, m.Done(1, machine.Result{Time: start}))
		failed := machine.Result{Time: start, Failure: &machine.Failure{Code: machine.CodeError, Text: "no"}}
		slept := machine.Result{Time: start}
		b.ReportAllocs()
		for b.Loop() {
			c := &m.Next()[0]
			r := failed
			if c.Op == machine.OpSleep {
				r = slept
			}
			if err := m.Done(c.ID, r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cycle", func(b *testing.B) { // run_phase and commit of three phases, in turn
		plan := compile(b, "phase read retrieve from=external\nphase reply act\nphase pick route next=read,reply", machine.Settings{MaxRuns: 1 << 50})
		m, err := machine.New(plan, "i", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
		require.NoError(b, err)
		require.NoError(b, m.Done(1, machine.Result{Time: start}))
		plain := machine.Result{Time: start, Output: machine.Of("out")}
		acted := plain
		acted.Act = &machine.Act{ActionID: "a", NoParents: true}
		decided := plain
		decided.Decision = &machine.Decision{To: "reply", Value: machine.Of("again")}
		b.ReportAllocs()
		for b.Loop() {
			c := &m.Next()[0]
			r := machine.Result{Time: start}
			if c.Op == machine.OpRunPhase {
				switch c.Phase {
				case "read":
					r = plain
				case "reply":
					r = acted
				case "pick":
					r = decided
				}
			}
			if err := m.Done(c.ID, r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkIteration is a whole iteration of five phases, its machine included.
func BenchmarkIteration(b *testing.B) {
	plan := compile(b, "phase read retrieve\nphase pick route\nphase reply act\nphase score learn from=external|signal:OutcomeSignal\nphase tidy consolidate", machine.Settings{})
	trig := machine.Trigger{Phase: "read", Payload: machine.Of("x")}
	plain := machine.Result{Time: start, Output: machine.Of("out")}
	acted := plain
	acted.Act = &machine.Act{ActionID: "a", NoParents: true}
	decided := plain
	decided.Decision = &machine.Decision{To: "reply", Value: machine.Of("so")}
	b.ReportAllocs()
	for b.Loop() {
		m, err := machine.New(plan, "i", trig)
		if err != nil {
			b.Fatal(err)
		}
		for len(m.Next()) > 0 {
			c := &m.Next()[0]
			r := machine.Result{Time: start}
			if c.Op == machine.OpRunPhase {
				r = plain
				switch c.Phase {
				case "pick":
					r = decided
				case "reply":
					r = acted
				}
			}
			if err := m.Done(c.ID, r); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	plan := compile(b, "phase read retrieve\nphase pick route\nphase reply act\nphase score learn from=external|signal:OutcomeSignal\nphase tidy consolidate", machine.Settings{})
	m, _ := at(b, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "score")
	b.ReportAllocs()
	for b.Loop() {
		_ = m.Snapshot()
	}
	b.ReportMetric(float64(len(asJSON(m.Snapshot()))), "JSON-B")
}

func BenchmarkDelay(b *testing.B) {
	var backoff machine.Backoff
	b.ReportAllocs()
	for b.Loop() {
		_ = backoff.Delay(7, 42)
	}
}

func BenchmarkCompile(b *testing.B) {
	m, err := loop(strings.TrimSpace("phase read retrieve\nphase pick route\nphase reply act\nphase score learn from=external|signal:OutcomeSignal\nphase tidy consolidate"))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := machine.Compile(m, machine.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStepsDoNotAllocate holds the budget: nothing for a step, two allocations
// for a phase with its commit.
func TestStepsDoNotAllocate(t *testing.T) {
	trig := machine.Trigger{Phase: "reply", Payload: machine.Of("x")}

	plan := compile(t, "phase reply act fail=retry retries=1000", machine.Settings{})
	m, _ := at(t, plan, trig, machine.OpRunPhase, "reply")
	failed := machine.Result{Time: start, Failure: &machine.Failure{Code: machine.CodeError, Text: "no"}}
	slept := machine.Result{Time: start}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, r := range []machine.Result{failed, slept} {
			if err := m.Done(m.Next()[0].ID, r); err != nil {
				t.Error(err)
			}
		}
	}), "run_phase and sleep")

	plan = compile(t, "phase reply act next=reply\nphase last act", machine.Settings{})
	m, _ = at(t, plan, trig, machine.OpRunPhase, "reply")
	acted := machine.Result{Time: start, Output: machine.Of("out"), Act: &machine.Act{ActionID: "a"}}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for _, r := range []machine.Result{acted, slept} {
			if err := m.Done(m.Next()[0].ID, r); err != nil {
				t.Error(err)
			}
		}
	}), 2.0, "run_phase and commit of an act, with the record and the outcome")
}
