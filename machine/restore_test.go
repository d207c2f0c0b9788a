package machine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/signature"
)

const twoPhases = "phase reply act fail=rollback\nphase score learn from=signal:OutcomeSignal"

func TestRestoreRefusesAnotherPlanOrFormat(t *testing.T) {
	plan := compile(t, twoPhases, machine.Settings{})
	m, _ := at(t, plan, machine.Trigger{Phase: "reply", Payload: machine.Of("x")}, machine.OpRunPhase, "reply")
	s := m.Snapshot()

	_, err := machine.Restore(compile(t, twoPhases, machine.Settings{MaxRuns: 7}), s)
	require.ErrorIs(t, err, machine.ErrPlanChanged)
	_, err = machine.Restore(compile(t, twoPhases+"\nphase tidy consolidate", machine.Settings{}), s)
	require.ErrorIs(t, err, machine.ErrPlanChanged)
	require.ErrorContains(t, err, string(plan.Digest()))

	s.Format++
	_, err = machine.Restore(plan, s)
	require.ErrorIs(t, err, machine.ErrFormat)
}

func TestSnapshotIsIndependent(t *testing.T) {
	plan := compile(t, "phase read retrieve from=external idempotent\nphase pick route next=read,reply\nphase reply act", machine.Settings{MaxRuns: 50})
	m, err := machine.New(plan, "i", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
	require.NoError(t, err)
	type taken struct {
		snapshot machine.Snapshot
		text     string
	}
	var all []taken
	for n := 0; len(m.Next()) > 0; n++ {
		s := m.Snapshot()
		all = append(all, taken{s, asJSON(s)})
		other, err := machine.Restore(plan, s)
		require.NoError(t, err)
		c := m.Next()[0]
		r := worked(plan, c, start.Add(time.Duration(n)*time.Second))
		if c.Op == machine.OpRunPhase {
			r.Signature = signature.Digest(fmt.Sprintf("digest-%d", n))
		}
		require.NoError(t, m.Done(c.ID, r))
		r.Output = machine.Of("another way")
		if c.Op == machine.OpRunPhase {
			require.NoError(t, other.Done(c.ID, r))
			require.NoError(t, other.Done(other.Next()[0].ID, machine.Result{Time: start}))
		}
	}
	for i, s := range all {
		require.Equal(t, s.text, asJSON(s.snapshot), "snapshot %d", i)
	}
	require.NotEmpty(t, m.Snapshot().Memo)
	s := m.Snapshot()
	require.Equal(t, len(s.Memo), cap(s.Memo), "appending to a snapshot does not reach the machine")

	m, _ = at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "pick")
	before := asJSON(m.Snapshot())
	s = m.Snapshot()
	s.Phases[0], s.Active[0] = machine.PhaseState{}, machine.PhaseRun{}
	require.Equal(t, before, asJSON(m.Snapshot()), "a changed snapshot does not change the machine")
}

func TestSnapshotSizeDoesNotGrowWithTheSteps(t *testing.T) {
	plan := compile(t, "phase read retrieve from=external\nphase pick route next=read,reply\nphase reply act", machine.Settings{})
	m, err := machine.New(plan, "i", machine.Trigger{Phase: "read", Payload: machine.Of("x")})
	require.NoError(t, err)
	var sizes []int
	for range 1000 {
		c := m.Next()[0]
		if c.Op == machine.OpRunPhase && c.Phase == "pick" {
			sizes = append(sizes, len(asJSON(m.Snapshot())))
		}
		require.NoError(t, m.Done(c.ID, worked(plan, c, start)))
	}
	sizes = sizes[1:] // from the second round on every phase has ended once
	require.Less(t, sizes[len(sizes)-1]-sizes[0], 20, "only the digits of the counters grow: %v", sizes)
}

// TestRestoreRefusesWhatNoMachineWrote takes the snapshots of an iteration and
// breaks one member of each.
func TestRestoreRefusesWhatNoMachineWrote(t *testing.T) {
	plan := compile(t, twoPhases, machine.Settings{})
	trig := machine.Trigger{Phase: "reply", Payload: machine.Of("x")}
	running, _ := at(t, plan, trig, machine.OpRunPhase, "score")
	commit, _ := at(t, plan, trig, machine.OpCommit, "reply")
	ending, _ := at(t, plan, trig, machine.OpEnd, "")
	for name, tc := range map[string]struct {
		of     *machine.Machine
		change func(*machine.Snapshot)
	}{
		"no iteration":           {running, func(s *machine.Snapshot) { s.Iteration = "" }},
		"unknown entry":          {running, func(s *machine.Snapshot) { s.Trigger.Phase = "other" }},
		"unknown fitting phase":  {running, func(s *machine.Snapshot) { s.Trigger.Fits = []string{"other"} }},
		"phases missing":         {running, func(s *machine.Snapshot) { s.Phases = s.Phases[:1] }},
		"nothing issued":         {running, func(s *machine.Snapshot) { s.Issued = 0 }},
		"unknown status":         {running, func(s *machine.Snapshot) { s.Status = "dreaming" }},
		"final without an end":   {running, func(s *machine.Snapshot) { s.Status = machine.Completed }},
		"ending that is no end":  {ending, func(s *machine.Snapshot) { s.Ending = machine.Running }},
		"another end":            {ending, func(s *machine.Snapshot) { s.Status = machine.Failed }},
		"nothing runs":           {running, func(s *machine.Snapshot) { s.Active = nil }},
		"two run":                {running, func(s *machine.Snapshot) { s.Active = append(s.Active, s.Active[0]) }},
		"runs before the begin":  {running, func(s *machine.Snapshot) { s.Begun = false }},
		"runs after the end":     {running, func(s *machine.Snapshot) { s.Ending = machine.Aborted }},
		"previous below":         {running, func(s *machine.Snapshot) { s.Previous = -2 }},
		"previous above":         {running, func(s *machine.Snapshot) { s.Previous = 2 }},
		"act of no phase":        {running, func(s *machine.Snapshot) { s.Act.Phase = -1 }},
		"memo of no phase":       {running, func(s *machine.Snapshot) { s.Memo = []machine.Remembered{{Phase: 2}} }},
		"runs below zero":        {running, func(s *machine.Snapshot) { s.Phases[0].Runs = -1 }},
		"run of no phase":        {running, func(s *machine.Snapshot) { s.Active[0].Phase = 2 }},
		"input of no phase":      {running, func(s *machine.Snapshot) { s.Active[0].From = -1 }},
		"unknown source":         {running, func(s *machine.Snapshot) { s.Active[0].Source = "air" }},
		"command never issued":   {running, func(s *machine.Snapshot) { s.Active[0].ID = 1 << 40 }},
		"attempt zero":           {running, func(s *machine.Snapshot) { s.Active[0].Attempt = 0 }},
		"attempt below zero":     {running, func(s *machine.Snapshot) { s.Active[0].Attempt = -1 }},
		"unknown operation":      {running, func(s *machine.Snapshot) { s.Active[0].Op = "dance" }},
		"sleep without a cause":  {running, func(s *machine.Snapshot) { s.Active[0].Op = machine.OpSleep }},
		"escalate without cause": {running, func(s *machine.Snapshot) { s.Active[0].Op = machine.OpEscalate }},
		"undo without a cause":   {running, func(s *machine.Snapshot) { s.Active[0].Op = machine.OpCompensate }},
		"wait for nothing":       {running, func(s *machine.Snapshot) { s.Active[0].Op = machine.OpAwait }},
		"commit of nothing":      {running, func(s *machine.Snapshot) { s.Active[0].Op = machine.OpCommit }},
		"record of another":      {commit, func(s *machine.Snapshot) { changeRecord(s, func(r *machine.Record) { r.Phase = "score" }) }},
		"record that never ends": {commit, func(s *machine.Snapshot) { changeRecord(s, func(r *machine.Record) { r.Ended = "" }) }},
		"skipped for no reason":  {commit, func(s *machine.Snapshot) { changeRecord(s, func(r *machine.Record) { r.Ended = machine.EndedSkipped }) }},
		"failed for no reason":   {commit, func(s *machine.Snapshot) { changeRecord(s, func(r *machine.Record) { r.Ended = machine.EndedFailed }) }},
		"completed and over":     {commit, func(s *machine.Snapshot) { s.Active[0].Then = machine.Aborted }},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.of.Snapshot()
			_, err := machine.Restore(plan, s)
			require.NoError(t, err, "before the change")
			tc.change(&s)
			_, err = machine.Restore(plan, s)
			require.ErrorIs(t, err, machine.ErrFormat)
		})
	}
}

// TestRestoredMachinesAreIndependent lets two machines go on from one snapshot.
func TestRestoredMachinesAreIndependent(t *testing.T) {
	plan := compile(t, "phase read retrieve from=external idempotent\nphase pick route next=read,reply\nphase reply act", machine.Settings{})
	m, _ := at(t, plan, machine.Trigger{Phase: "read", Payload: machine.Of("x")}, machine.OpRunPhase, "read")
	s := m.Snapshot()
	s.Memo = append(make([]machine.Remembered, 0, 8), machine.Remembered{Signature: "old"})
	for _, sig := range []signature.Digest{"left", "right"} {
		other, err := machine.Restore(plan, s)
		require.NoError(t, err)
		r := worked(plan, other.Next()[0], start)
		r.Signature = sig
		require.NoError(t, other.Done(other.Next()[0].ID, r))
		require.NoError(t, other.Done(other.Next()[0].ID, machine.Result{Time: start}))
		_, ok := other.Memo("read", sig)
		require.True(t, ok)
	}
	require.Empty(t, s.Memo[:2][1].Signature, "the spare room of the snapshot's slice is not the machine's")
	require.Empty(t, s.Phases[0].Ended)
}

func changeRecord(s *machine.Snapshot, change func(*machine.Record)) {
	r := *s.Active[0].Record
	change(&r)
	s.Active[0].Record = &r
}

const fuzzedLoop = twoPhases + " fail=retry\nphase tidy consolidate idempotent\nphase pick route next=score,tidy"

// FuzzRestore reads snapshots that nobody wrote: one that is accepted must run to
// its end.
func FuzzRestore(f *testing.F) {
	plan := compile(f, fuzzedLoop, machine.Settings{MaxRuns: 2})
	f.Fuzz(func(t *testing.T, text []byte) {
		var s machine.Snapshot
		if json.Unmarshal([]byte(strings.ReplaceAll(string(text), "PLAN", string(plan.Digest()))), &s) != nil {
			return
		}
		m, err := machine.Restore(plan, s)
		if err != nil {
			return
		}
		for n := 0; len(m.Next()) > 0 && n < 1000; n++ {
			c := m.Next()[0]
			if err := m.Done(c.ID, worked(plan, c, start)); err != nil {
				require.ErrorIs(t, err, machine.ErrResult)
				require.NoError(t, m.Cancel("enough", start))
			}
		}
		require.Empty(t, m.Next())
	})
}
