package machine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
)

// choices is where a random walk takes its choices from: a rapid test, or the
// bytes of a fuzz target.
type choices interface {
	upTo(n int, label string) int // in [0, n]
}

type rapidChoices struct{ *rapid.T }

func (c rapidChoices) upTo(n int, label string) int { return rapid.IntRange(0, n).Draw(c.T, label) }

// byteChoices takes a byte for each choice; when they run out, it takes the
// first of everything.
type byteChoices struct{ left []byte }

func (c *byteChoices) upTo(n int, _ string) int {
	if len(c.left) == 0 {
		return 0
	}
	b := int(c.left[0])
	c.left = c.left[1:]
	return b % (n + 1)
}

func oneOf[T any](c choices, label string, of ...T) T { return of[c.upTo(len(of)-1, label)] }

// randomLoop draws a loop in the notation of [loop].
func randomLoop(c choices, least, most int) string {
	n := least + c.upTo(most-least, "phases")
	var b strings.Builder
	for i := range n {
		kind := oneOf(c, "kind", "act", "retrieve", "route", "learn", "consolidate", "custom:ask")
		fmt.Fprintf(&b, "phase p%d %s", i, kind)
		somewhere := func() int { return c.upTo(n-1, "phase") }
		switch oneOf(c, "from", "before", "external", "phase", "substrate", "outcome", "signal") {
		case "external":
			b.WriteString(" from=external")
		case "phase":
			fmt.Fprintf(&b, " from=phase:p%d|external", somewhere())
		case "substrate":
			fmt.Fprintf(&b, " from=phase:p%d|substrate:memory", somewhere())
		case "outcome":
			b.WriteString(" from=external|signal:OutcomeSignal")
		case "signal":
			fmt.Fprintf(&b, " from=phase:p%d|signal:DeliberationResult", somewhere())
		}
		if to := oneOf(c, "to", "next", "to", "successors"); kind == "route" && to == "to" {
			fmt.Fprintf(&b, " to=phase:p%d|phase:p%d|external", somewhere(), somewhere())
		} else if kind == "route" && to == "successors" {
			fmt.Fprintf(&b, " next=p%d,p%d,p%d", somewhere(), somewhere(), somewhere())
		} else if to == "to" && c.upTo(3, "jump") == 0 {
			fmt.Fprintf(&b, " to=phase:p%d", somewhere())
		}
		fmt.Fprintf(&b, " fail=%s retries=%d", oneOf(c, "on_failure", directives...), c.upTo(3, "retries"))
		if c.upTo(1, "idempotent") == 1 {
			b.WriteString(" idempotent")
		}
		b.WriteByte('\n')
	}
	if c.upTo(2, "closure") == 2 {
		fmt.Fprintf(&b, "closure p%d p%d\n", c.upTo(n-1, "from"), c.upTo(n-1, "to"))
	}
	b.WriteString(oneOf(c, "idle", "", "idle\n", "idle fallback\n"))
	if c.upTo(3, "inner") == 3 {
		fmt.Fprintf(&b, "inner p%d acme.debate\n", c.upTo(n-1, "at"))
	}
	return b.String()
}

var directives = []string{"abort_loop", "retry", "skip", "rollback", "escalate"}

func randomTrigger(c choices, plan *machine.Plan) machine.Trigger {
	ids := plan.Phases()
	t := machine.Trigger{
		Workspace: "acme", TraceID: "trace", Phase: ids[c.upTo(len(ids)-1, "entry")],
		Only: c.upTo(5, "only") == 5, Settle: c.upTo(3, "settle") == 3,
	}
	if c.upTo(3, "payload") > 0 {
		t.Payload = machine.Of(map[string]any{"n": 1})
	}
	if c.upTo(1, "fits") == 1 {
		t.Fits = ids[c.upTo(len(ids)-1, "fitting"):]
	}
	if c.upTo(1, "outcome") == 1 {
		t.Outcome = outcome("elsewhere")
	}
	return t
}

var codes = []machine.FailureCode{
	machine.CodeError, machine.CodePanic, machine.CodeTimeout, machine.CodeDenied, machine.CodeUnavailable,
	machine.CodeViolation, machine.CodeType, machine.CodeInDoubt, machine.CodeExpired, "of the host",
}

// randomResult draws what a host might report.
func randomResult(c choices, plan *machine.Plan, m *machine.Machine, cmd machine.Command, at time.Time) machine.Result {
	r := worked(plan, cmd, at)
	switch cmd.Op {
	case machine.OpBegin, machine.OpCompensate:
		if c.upTo(7, "failed") == 7 {
			r.Failure = randomFailure(c)
		}
	case machine.OpEscalate:
		r.Resume = c.upTo(1, "resume") == 1
	case machine.OpAwait:
		if c.upTo(3, "expired") == 3 {
			r = machine.Result{Time: at, Expired: true}
		}
	case machine.OpRunPhase:
		r.Signature = signature.Digest(fmt.Sprintf("digest-%d", c.upTo(2, "signature")))
		if c.upTo(2, "failed") == 2 {
			return machine.Result{Time: at, Failure: randomFailure(c), Signature: r.Signature}
		}
		if _, ok := m.Memo(cmd.Phase, r.Signature); ok && c.upTo(1, "remembered") == 1 {
			return machine.Result{Time: at, Remembered: true, Signature: r.Signature}
		}
		randomAct(c, r.Act)
		r.Decision = randomDecision(c, plan, cmd.Phase, r.Decision)
		if n := len(plan.Inner(cmd.Phase)); n > 0 {
			r.Triggers = make([]bool, n)
			r.Triggers[0] = c.upTo(3, "triggered") == 3
		}
	}
	return r
}

func randomFailure(c choices) *machine.Failure {
	return &machine.Failure{Code: oneOf(c, "code", codes...), Text: "it failed", Permanent: c.upTo(5, "permanent") == 5}
}

func randomAct(c choices, act *machine.Act) {
	if act == nil {
		return
	}
	act.Pending = c.upTo(1, "pending") == 1
	act.Within = time.Duration(c.upTo(3, "within")) * time.Hour
	act.Status = oneOf(c, "status", "", token.StatusSuccess, token.StatusFailure)
	act.Evidence = []byte(`{"metric":"m"}`)
}

func randomDecision(c choices, plan *machine.Plan, phase string, d *machine.Decision) *machine.Decision {
	if c.upTo(9, "misroute") == 9 {
		return &machine.Decision{To: plan.Phases()[0], Deliberate: c.upTo(1, "deliberate") == 1}
	}
	targets := plan.Targets(phase)
	if d == nil || len(targets) == 0 {
		return d
	}
	d = &machine.Decision{To: oneOf(c, "target", targets...), Deliberate: c.upTo(3, "deliberate") == 3}
	if d.Deliberate && c.upTo(1, "nowhere") == 1 {
		d.To = ""
	}
	if c.upTo(1, "value") == 1 {
		d.Value = machine.Of([]int{1, 2})
	}
	return d
}

// walk runs one iteration with drawn results on two machines, one of which is
// written down and restored after every command, and checks what holds for
// every iteration.
type walk struct {
	c       choices
	plan    *machine.Plan
	maxRuns int

	straight, resumed *machine.Machine
	commits           map[string]int // per run of a phase
	attempts, undos   map[string]int
	last              machine.CommandID
	seq               uint64
}

func (w *walk) run(t require.TestingT) {
	trig := randomTrigger(w.c, w.plan)
	var err error
	w.straight, err = machine.New(w.plan, "iteration", trig)
	require.NoError(t, err)
	w.resumed = restored(t, w.plan, w.straight)
	w.commits, w.attempts, w.undos = map[string]int{}, map[string]int{}, map[string]int{}
	at := start
	for step := 0; len(w.straight.Next()) > 0; step++ {
		require.Less(t, step, w.limit(), "the iteration does not end")
		require.Len(t, w.straight.Next(), 1)
		c := w.straight.Next()[0]
		require.JSONEq(t, asJSON(c), asJSON(w.resumed.Next()[0]), "after resuming")
		require.Equal(t, w.straight.Status(), w.resumed.Status())
		w.count(t, c)
		at = at.Add(time.Duration(1+w.c.upTo(200, "seconds")) * time.Second)
		if w.c.upTo(150, "cancel") == 150 && c.Op != machine.OpEnd {
			require.NoError(t, w.straight.Cancel("enough", at))
			require.NoError(t, w.resumed.Cancel("enough", at))
		} else {
			r := randomResult(w.c, w.plan, w.straight, c, at)
			require.NoError(t, w.straight.Done(c.ID, r), show(c))
			require.NoError(t, w.resumed.Done(c.ID, r))
			require.ErrorIs(t, w.straight.Done(c.ID, r), machine.ErrStale)
		}
		w.resumed = restored(t, w.plan, w.resumed)
	}
	require.Empty(t, w.resumed.Next())
	require.True(t, w.straight.Status().Final(), "status %s", w.straight.Status())
	require.JSONEq(t, asJSON(w.straight.Snapshot()), asJSON(w.resumed.Snapshot()))
}

// limit is a number of commands that no iteration can need.
func (w *walk) limit() int { return len(w.plan.Phases())*(w.maxRuns+1)*20 + 3 }

func (w *walk) count(t require.TestingT, c machine.Command) {
	require.Greater(t, c.ID, w.last, "ids grow")
	w.last = c.ID
	run := fmt.Sprintf("%s/%d", c.Phase, c.Run)
	bound := 1
	if d := w.plan.OnFailure(c.Phase); d == manifest.FailRetry || d == manifest.FailRollback {
		bound += w.plan.Retries(c.Phase)
	}
	switch c.Op {
	case machine.OpRunPhase:
		w.attempts[run]++
		require.Equal(t, w.attempts[run], c.Attempt)
		require.LessOrEqual(t, c.Attempt, bound, "attempts of %s", run)
		require.LessOrEqual(t, c.Run, w.maxRuns)
		require.NotEmpty(t, c.Input.Source)
	case machine.OpCompensate:
		w.undos[run]++
		require.Equal(t, w.undos[run], c.Attempt)
		require.LessOrEqual(t, c.Attempt, bound, "compensations of %s", run)
	case machine.OpSleep:
		require.Positive(t, c.Delay)
		require.Greater(t, c.Attempt, 1)
	case machine.OpAwait:
		require.True(t, c.Await.Deadline.After(start), "a wait has an end")
		require.Equal(t, machine.Suspended, w.straight.Status())
	case machine.OpCommit:
		w.commits[run]++
		w.seq++
		require.Equal(t, 1, w.commits[run], "records of %s", run)
		require.Equal(t, w.seq, c.Record.Seq)
		require.Equal(t, w.attempts[run], c.Record.Attempts)
	case machine.OpEnd:
		require.Equal(t, c.Status == machine.Completed, c.Failure == nil)
		if c.Status != machine.Canceled {
			for run := range w.attempts {
				require.Equal(t, 1, w.commits[run], "records of %s", run)
			}
		}
	}
}

// restored writes a machine down and gives one that continues from the text.
func restored(t require.TestingT, plan *machine.Plan, m *machine.Machine) *machine.Machine {
	text, err := json.Marshal(m.Snapshot())
	require.NoError(t, err)
	var s machine.Snapshot
	require.NoError(t, json.Unmarshal(text, &s))
	again, err := machine.Restore(plan, s)
	require.NoError(t, err, string(text))
	require.Equal(t, string(text), asJSON(again.Snapshot()), "the snapshot of what was restored")
	return again
}

func TestRandomIterations(t *testing.T) {
	spec.Covers(t, "P-1.1-2", "P-5.4-2", "C-042", "C-087")
	rapid.Check(t, func(t *rapid.T) {
		c := rapidChoices{t}
		walkThrough(t, c, randomLoop(c, 2, 32))
	})
}

// walkThrough compiles a drawn loop and runs one iteration of it.
func walkThrough(t require.TestingT, c choices, text string) {
	m, err := loop(text)
	require.NoError(t, err)
	const maxRuns = 3
	plan, err := machine.Compile(m, machine.Settings{MaxRuns: maxRuns})
	require.NoError(t, err, text)
	w := walk{c: c, plan: plan, maxRuns: maxRuns}
	w.run(t)
}

func FuzzMachine(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &byteChoices{left: b}
		walkThrough(t, c, randomLoop(c, 1, 6))
	})
}
