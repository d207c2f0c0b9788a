package machine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
)

// at steps a new machine until a command of a phase is outstanding.
func at(t testing.TB, plan *machine.Plan, trig machine.Trigger, op machine.Op, phase string) (*machine.Machine, machine.Command) {
	t.Helper()
	m, err := machine.New(plan, "iteration-1", trig)
	require.NoError(t, err)
	for len(m.Next()) > 0 {
		c := m.Next()[0]
		if c.Op == op && c.Phase == phase {
			return m, c
		}
		require.NoError(t, m.Done(c.ID, worked(plan, c, start)))
	}
	require.Fail(t, "the command did not come", "%s %s", op, phase)
	return nil, machine.Command{}
}

func TestNewRefusesWhatThePlanDoesNotHave(t *testing.T) {
	plan := compile(t, "phase read retrieve", machine.Settings{})
	for want, tc := range map[string]struct {
		iteration string
		trigger   machine.Trigger
	}{
		"needs an id":           {"", machine.Trigger{Phase: "read"}},
		`enters at phase "raed`: {"i", machine.Trigger{Phase: "raed"}},
		`enters at phase ""`:    {"i", machine.Trigger{}},
		`fits phase "other"`:    {"i", machine.Trigger{Phase: "read", Fits: []string{"other"}}},
	} {
		_, err := machine.New(plan, tc.iteration, tc.trigger)
		require.ErrorContains(t, err, want)
	}
}

func TestDoneRefusesAndChangesNothing(t *testing.T) {
	const text = `
		phase read retrieve fail=retry
		phase pick route
		phase reply act fail=escalate
		phase score learn from=signal:OutcomeSignal
		phase wait custom:wait from=signal:DeliberationResult`
	plan := compile(t, text, machine.Settings{})
	trig := machine.Trigger{Phase: "read", Payload: machine.Of("x")}
	failed := &machine.Failure{Code: machine.CodeError, Text: "no"}
	act := &machine.Act{ActionID: "a"}
	for name, tc := range map[string]struct {
		op     machine.Op
		phase  string
		result machine.Result
		want   string
	}{
		"no time":              {machine.OpBegin, "", machine.Result{}, "time"},
		"time beyond JSON":     {machine.OpBegin, "", machine.Result{Time: time.Unix(1<<61, 0)}, "time"},
		"time before JSON":     {machine.OpBegin, "", machine.Result{Time: time.Unix(-1<<61, 0)}, "time"},
		"output of begin":      {machine.OpBegin, "", machine.Result{Time: start, Output: machine.Of(1)}, "output"},
		"failure without code": {machine.OpBegin, "", machine.Result{Time: start, Failure: &machine.Failure{Text: "no"}}, "no code"},
		"act of no act phase":  {machine.OpRunPhase, "read", machine.Result{Time: start, Act: act}, "does not act"},
		"act missing":          {machine.OpRunPhase, "reply", machine.Result{Time: start}, "act is missing"},
		"act without id":       {machine.OpRunPhase, "reply", machine.Result{Time: start, Act: &machine.Act{}}, "action_id"},
		"act due in the past":  {machine.OpRunPhase, "reply", machine.Result{Time: start, Act: &machine.Act{ActionID: "a", Within: -1}}, "due"},
		"act that went oddly":  {machine.OpRunPhase, "reply", machine.Result{Time: start, Act: &machine.Act{ActionID: "a", Status: "odd"}}, "status"},
		"resume of a run":      {machine.OpRunPhase, "read", machine.Result{Time: start, Resume: true}, "resume"},
		"signal of a run":      {machine.OpRunPhase, "read", machine.Result{Time: start, Signal: machine.Of(1)}, "signal"},
		"triggers of no loop":  {machine.OpRunPhase, "read", machine.Result{Time: start, Triggers: []bool{false}}, "0 inner loops"},
		"nothing remembered":   {machine.OpRunPhase, "read", machine.Result{Time: start, Remembered: true, Signature: "s"}, "nothing"},
		"commit failed":        {machine.OpCommit, "read", machine.Result{Time: start, Failure: failed}, "failure"},
		"end failed":           {machine.OpEnd, "", machine.Result{Time: start, Failure: failed}, "failure"},
		"wait without end":     {machine.OpAwait, "wait", machine.Result{Time: start}, "signal or expired"},
		"outcome for another":  {machine.OpAwait, "wait", machine.Result{Time: start, Outcome: outcome("a")}, "signal or expired"},
		"came and expired":     {machine.OpAwait, "wait", machine.Result{Time: start, Signal: machine.Of(1), Expired: true}, "one of them"},
		"wait failed":          {machine.OpAwait, "wait", machine.Result{Time: start, Failure: failed}, "failure"},
		"decision of a commit": {machine.OpCommit, "pick", machine.Result{Time: start, Decision: &machine.Decision{To: "reply"}}, "decision"},
		"expired run":          {machine.OpRunPhase, "score", machine.Result{Time: start, Expired: true}, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := at(t, plan, trig, tc.op, tc.phase)
			before := asJSON(m.Snapshot())
			err := m.Done(c.ID, tc.result)
			require.ErrorIs(t, err, machine.ErrResult)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, fmt.Sprintf("command %d (%s)", c.ID, c.Op))
			require.Equal(t, before, asJSON(m.Snapshot()), "the machine is unchanged")
			require.NoError(t, m.Done(c.ID, worked(plan, c, start)), "the command is still outstanding")
		})
	}
}

func TestDoneRefusesOtherOutcomes(t *testing.T) {
	plan := compile(t, "phase reply act\nphase score learn from=signal:OutcomeSignal", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "reply", Payload: machine.Of("x")}, machine.OpRunPhase, "reply")
	require.NoError(t, m.Done(c.ID, machine.Result{Time: start, Act: &machine.Act{ActionID: "mine", Pending: true}}))
	require.NoError(t, m.Done(m.Next()[0].ID, machine.Result{Time: start}))
	wait := m.Next()[0]
	err := m.Done(wait.ID, machine.Result{Time: start, Outcome: outcome("other")})
	require.ErrorIs(t, err, machine.ErrResult)
	require.ErrorContains(t, err, `"other"`)
	require.NoError(t, m.Done(wait.ID, machine.Result{Time: start, Outcome: outcome("mine")}))
}

func TestDoneRefusesAnEscalationThatFailedAndResumes(t *testing.T) {
	plan := compile(t, "phase reply act fail=escalate", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "reply", Payload: machine.Of("x")}, machine.OpRunPhase, "reply")
	failed := &machine.Failure{Code: machine.CodeError, Text: "no"}
	require.NoError(t, m.Done(c.ID, machine.Result{Time: start, Failure: failed}))
	err := m.Done(m.Next()[0].ID, machine.Result{Time: start, Failure: failed, Resume: true})
	require.ErrorIs(t, err, machine.ErrResult)
}

func TestDoneRefusesStaleIDs(t *testing.T) {
	plan := compile(t, "phase read retrieve", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
	before := asJSON(m.Snapshot())
	for _, id := range []machine.CommandID{0, c.ID - 1, c.ID + 1, 1 << 63} {
		require.ErrorIs(t, m.Done(id, worked(plan, c, start)), machine.ErrStale, "command %d", id)
	}
	require.Equal(t, before, asJSON(m.Snapshot()))
	require.NoError(t, m.Done(c.ID, worked(plan, c, start)))
	require.ErrorIs(t, m.Done(c.ID, worked(plan, c, start)), machine.ErrStale, "repeated")
}

func TestNextGivesTheSameAnswerUntilSomethingIsDone(t *testing.T) {
	plan := compile(t, "phase read retrieve", machine.Settings{})
	m, _ := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
	first := asJSON(m.Next())
	require.Equal(t, first, asJSON(m.Next()))
	require.Equal(t, first, asJSON(m.Next()))
}

func TestOutputsAreVisibleOnceCommitted(t *testing.T) {
	spec.Covers(t, "C-041")
	plan := compile(t, "phase read retrieve\nphase reply act", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
	require.NoError(t, m.Done(c.ID, worked(plan, c, start)))
	require.Equal(t, machine.OpCommit, m.Next()[0].Op)
	_, ok := m.Output("read")
	require.False(t, ok, "before the commit")
	require.NoError(t, m.Done(m.Next()[0].ID, machine.Result{Time: start}))
	out, ok := m.Output("read")
	require.True(t, ok)
	value, _ := out.Value()
	require.Equal(t, "read.1", value)
	require.Equal(t, 1, m.Runs("read"))
	require.Equal(t, 1, m.Runs("reply"))
	require.Equal(t, 0, m.Runs("unknown"))
	_, ok = m.Output("unknown")
	require.False(t, ok)
}

func TestActIsKnownOnceCommitted(t *testing.T) {
	plan := compile(t, "phase reply act\nphase tidy consolidate", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "reply", Payload: machine.Of("x")}, machine.OpCommit, "reply")
	phase, act := m.LastAct()
	require.Empty(t, phase)
	require.Nil(t, act)
	require.NoError(t, m.Done(c.ID, machine.Result{Time: start}))
	phase, act = m.LastAct()
	require.Equal(t, "reply", phase)
	require.Equal(t, "act-reply-1", act.ActionID)
}

func TestCauseStaysReachable(t *testing.T) {
	plan := compile(t, "phase read retrieve fail=rollback retries=0", machine.Settings{})
	m, c := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
	cause, undo := errors.New("disk full"), errors.New("disk gone")
	fail := func(err error) machine.Result {
		return machine.Result{Time: start, Failure: machine.NewFailure(machine.CodeError, false, err)}
	}
	require.NoError(t, m.Done(c.ID, fail(cause)))
	require.NoError(t, m.Done(m.Next()[0].ID, fail(undo)))
	for len(m.Next()) > 0 {
		c = m.Next()[0]
		require.NoError(t, m.Done(c.ID, worked(plan, c, start)))
	}
	require.Equal(t, machine.Failed, m.Status())
	require.ErrorIs(t, m.Failure(), cause)
	require.ErrorIs(t, m.Failure(), undo)
}

func TestCancel(t *testing.T) {
	plan := compile(t, "phase read retrieve", machine.Settings{})
	trig := machine.Trigger{Phase: "read", Payload: machine.Of("x")}
	for _, op := range []machine.Op{machine.OpBegin, machine.OpRunPhase, machine.OpCommit} {
		phase := "read"
		if op == machine.OpBegin {
			phase = ""
		}
		m, c := at(t, plan, trig, op, phase)
		require.ErrorIs(t, m.Cancel("why", time.Time{}), machine.ErrResult)
		require.NoError(t, m.Cancel("", start))
		require.ErrorIs(t, m.Done(c.ID, worked(plan, c, start)), machine.ErrStale, "withdrawn")
		require.Equal(t, machine.Canceled, m.Next()[0].Status)
		require.Equal(t, machine.Running, m.Status(), "until the end is written")
		require.ErrorIs(t, m.Cancel("again", start), machine.ErrEnded)
		require.NoError(t, m.Done(m.Next()[0].ID, machine.Result{Time: start}))
		require.Equal(t, machine.Canceled, m.Status())
		require.Equal(t, "canceled", m.Failure().Text)
		require.ErrorIs(t, m.Cancel("again", start), machine.ErrEnded)
	}
}

func TestMemo(t *testing.T) {
	spec.Covers(t, "C-039")
	const text = `
		phase read retrieve from=external idempotent
		phase send act from=phase:read idempotent
		phase pick route next=read,tidy idempotent
		phase tidy consolidate idempotent`
	plan := compile(t, text, machine.Settings{})
	require.True(t, plan.Repeats("read"))
	require.False(t, plan.Repeats("tidy"))
	m, err := machine.New(plan, "iteration-1", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
	require.NoError(t, err)
	var acts []string
	for len(m.Next()) > 0 {
		c := m.Next()[0]
		r := worked(plan, c, start)
		if c.Op == machine.OpRunPhase {
			r.Signature = "equal"
			_, known := m.Memo(c.Phase, "equal")
			require.Equal(t, c.Run > 1, known, "%s run %d", c.Phase, c.Run)
			switch {
			case c.Phase == "pick" && c.Run == 3:
				r.Signature, r.Decision = "different", &machine.Decision{To: "tidy", Value: machine.Of("all")}
			case known:
				r = machine.Result{Time: start, Signature: "equal", Remembered: true}
			}
		}
		if c.Op == machine.OpCommit {
			require.Equal(t, c.Run > 1 && (c.Phase != "pick" || c.Run < 3), c.Record.Remembered)
			if c.Record.Act != nil {
				acts = append(acts, c.Record.Act.ActionID)
				require.JSONEq(t, `"send.1"`, asJSON(c.Record.Output))
			}
		}
		require.NoError(t, m.Done(c.ID, r))
		m = restored(t, plan, m)
	}
	require.Equal(t, machine.Completed, m.Status())
	require.Equal(t, []string{"act-send-1", "act-send-1", "act-send-1"}, acts)
	require.Len(t, m.Snapshot().Memo, 4, "read, send and pick once, and what pick was asked differently")
	_, ok := m.Memo("tidy", "equal")
	require.False(t, ok, "a phase that runs once is not remembered")
	_, ok = m.Memo("unknown", "equal")
	require.False(t, ok)
}

func TestNothingIsRememberedOfOtherPhases(t *testing.T) {
	plan := compile(t, "phase read retrieve from=external\nphase pick route next=read,tidy\nphase tidy consolidate", machine.Settings{MaxRuns: 2})
	m, err := machine.New(plan, "iteration-1", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
	require.NoError(t, err)
	for len(m.Next()) > 0 {
		c := m.Next()[0]
		r := worked(plan, c, start)
		if c.Op == machine.OpRunPhase {
			r.Signature = "equal"
		}
		require.NoError(t, m.Done(c.ID, r))
		_, ok := m.Memo("read", "equal")
		require.False(t, ok, "it is not idempotent")
	}
}

func TestWhichFailuresAreRetried(t *testing.T) {
	spec.Covers(t, "C-042", "C-093")
	plan := compile(t, "phase read retrieve fail=retry", machine.Settings{})
	for code, again := range map[machine.FailureCode]bool{
		machine.CodeError: true, machine.CodePanic: true, machine.CodeTimeout: true, machine.CodeUnavailable: true,
		machine.CodeInner: true, machine.CodeInDoubt: true, "of the host": true,
		machine.CodeDenied: false, machine.CodeViolation: false, machine.CodeType: false, machine.CodeRoute: false,
		machine.CodeNoAct: false, machine.CodeNoInput: false, machine.CodeMaxRuns: false, machine.CodeExpired: false,
		machine.CodeCanceled: false,
	} {
		for _, permanent := range []bool{false, true} {
			m, c := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
			failure := &machine.Failure{Code: code, Text: "no", Permanent: permanent}
			require.NoError(t, m.Done(c.ID, machine.Result{Time: start, Failure: failure}))
			want := machine.OpCommit
			if again && !permanent {
				want = machine.OpSleep
			}
			require.Equal(t, want, m.Next()[0].Op, "%s, permanent %t", code, permanent)
		}
	}
}

func TestPayloadJSON(t *testing.T) {
	for text, p := range map[string]machine.Payload{
		`null`:    {},
		`"x"`:     machine.Of("x"),
		`{"a":1}`: machine.Raw(json.RawMessage(`{"a":1}`)),
	} {
		require.Equal(t, text, asJSON(p))
	}
	value, ok := machine.Of(7).Value()
	require.True(t, ok)
	require.Equal(t, 7, value)
	_, ok = machine.Raw(json.RawMessage(`7`)).Value()
	require.False(t, ok)
	_, ok = machine.Payload{}.Value()
	require.False(t, ok)
	require.Nil(t, machine.Of(7).JSON())
	require.Equal(t, `7`, string(machine.Raw(json.RawMessage(`7`)).JSON()))
}
