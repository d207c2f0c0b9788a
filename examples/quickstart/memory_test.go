package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

var seattle = substrate.Origination{Workspace: "seattle", TraceID: "t", Loop: "quickstart.forecast"}

// call is the context of a call that the engine would make for an iteration.
func call(iteration string) substrate.Origination {
	o := seattle
	o.Iteration, o.Phase, o.Run, o.Ordinal = iteration, "learn", 1, 1
	return o
}

func keepDay(t *testing.T, s *Store, o substrate.Origination, d Day, wet bool) (substrate.Receipt, error) {
	t.Helper()
	content, err := json.Marshal(Lived{Day: d, Followed: Followed{Wet: wet}})
	require.NoError(t, err)
	node := substrate.Node{ID: d.ID(), Type: dayType, Content: content, Confidence: newConfidence}
	return s.keep(context.Background(), substrate.StoreNodeRequest{Origination: o, Node: node})
}

func retrieve(t *testing.T, s *Store, d Day, k int) []Precedent {
	t.Helper()
	query, err := json.Marshal(d)
	require.NoError(t, err)
	resp, err := s.retrieve(t.Context(), substrate.RetrieveContextRequest{Origination: seattle, Query: string(query), K: k})
	require.NoError(t, err)
	require.LessOrEqual(t, len(resp.Nodes), max(k, 0))
	var found []Precedent
	for _, n := range resp.Nodes {
		p := Precedent{ID: n.ID, Confidence: n.Confidence}
		require.NoError(t, json.Unmarshal(n.Content, &p))
		found = append(found, p)
	}
	return found
}

// january gives n days that look alike, but for a little more wind each.
func january(n int) []Day {
	days := make([]Day, n)
	for i := range days {
		days[i] = Day{Date: time.Date(2012, 1, 1+i, 0, 0, 0, 0, time.UTC), High: 8, Low: 2, Wind: 3 + 0.1*float64(i)}
	}
	return days
}

func TestStoreAppends(t *testing.T) {
	s, d := NewStore("seattle"), january(1)[0]
	for range 2 { // the engine may repeat a call
		rc, err := keepDay(t, s, call("a"), d, true)
		require.NoError(t, err)
		require.Equal(t, substrate.Receipt{ID: "2012-01-01", TraceID: "t"}, rc)
	}
	require.Equal(t, 1, s.Len())
	_, err := keepDay(t, s, call("b"), d, false)
	require.ErrorIs(t, err, substrate.ErrNodeExists)
	require.True(t, retrieve(t, s, d, 1+1)[0].Wet, "history is not rewritten")
}

func TestStoreFindsTheMostAlikeFirst(t *testing.T) {
	s, days := NewStore("seattle"), january(9)
	for _, d := range days[:8] {
		_, err := keepDay(t, s, call(d.ID()), d, false)
		require.NoError(t, err)
	}
	found := retrieve(t, s, days[8], 4)
	require.Len(t, found, 4)
	require.Equal(t, ruleID, found[3].ID, "the rule is always there, and last")
	for i := 1; i < 3; i++ {
		require.Greater(t, found[i-1].Likeness, found[i].Likeness)
	}
	require.Empty(t, retrieve(t, s, days[8], 0))
	storm := days[8]
	storm.Precipitation, storm.Wind = 60, 20
	require.Len(t, retrieve(t, s, storm, 4), 1, "nothing is like the storm, so the rule is alone")
}

func TestStoreLearnsOnce(t *testing.T) {
	s, d := NewStore("seattle"), january(1)[0]
	_, err := keepDay(t, s, call("a"), d, true)
	require.NoError(t, err)
	signal := token.OutcomeSignal{ActionID: "act", Status: token.StatusSuccess, CausalParentIDs: []string{d.ID(), "unknown", ruleID}}
	learn := func() []substrate.ConfidenceUpdate {
		resp, err := s.learn(t.Context(), substrate.LearnFromOutcomeRequest{Origination: seattle, Signal: signal})
		require.NoError(t, err)
		require.Equal(t, "t", resp.Receipt.TraceID)
		return resp.Updates
	}
	require.Equal(t, []substrate.ConfidenceUpdate{{NodeID: ruleID, Before: 0.5, After: 0.6}, {NodeID: d.ID(), Before: 0.5, After: 0.6}}, learn())
	require.Empty(t, learn(), "the same outcome again changes nothing")
	signal.ActionID, signal.Status = "next", token.StatusFailure
	require.InDelta(t, 0.48, learn()[1].After, 1e-12)
}

func TestStoreMergesWhatSaysTheSame(t *testing.T) {
	s, days := NewStore("seattle"), january(6)
	for i, d := range days {
		_, err := keepDay(t, s, call(d.ID()), d, i == 5)
		require.NoError(t, err)
	}
	merge := func(scope string) token.ConsolidationEvent {
		resp, err := s.merge(t.Context(), substrate.ConsolidateRequest{Origination: seattle, Scope: scope})
		require.NoError(t, err)
		require.NoError(t, resp.Event.Validate())
		return resp.Event
	}
	require.Empty(t, merge("2012-02").AffectedNodeIDs, "the scope is another month")
	ev := merge("2012-01")
	require.Equal(t, token.ConvergenceUnstable, ev.ConvergenceStatus)
	require.Equal(t, []string{"2012-01-02", "2012-01-03", "2012-01-04", "2012-01-05"}, ev.AffectedNodeIDs)
	require.Equal(t, 2, s.Len(), "one day was followed by something else")
	require.Equal(t, token.ConvergenceStable, merge("2012-01").ConvergenceStatus)
	require.Equal(t, 5, s.days[0].days)

	_, err := keepDay(t, s, call("again"), days[1], false)
	require.ErrorIs(t, err, substrate.ErrNodeExists, "a merged day is not forgotten")
}

func TestStoreBelongsToOneWorkspace(t *testing.T) {
	s := NewStore("seattle")
	other := substrate.Origination{Workspace: "portland"}
	_, err := keepDay(t, s, other, january(1)[0], true)
	require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
	_, err = s.retrieve(t.Context(), substrate.RetrieveContextRequest{Origination: other, Query: "{}", K: 1})
	require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
	_, err = s.learn(t.Context(), substrate.LearnFromOutcomeRequest{Origination: other})
	require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
	_, err = s.merge(t.Context(), substrate.ConsolidateRequest{Origination: other})
	require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
}

func TestStoreRefusesWhatItCannotRead(t *testing.T) {
	s := NewStore("seattle")
	_, err := s.retrieve(t.Context(), substrate.RetrieveContextRequest{Origination: seattle, Query: "wet?", K: 1})
	require.ErrorContains(t, err, "query")
	_, err = s.keep(t.Context(), substrate.StoreNodeRequest{Origination: seattle, Node: substrate.Node{ID: "x", Content: json.RawMessage(`[]`)}})
	require.ErrorContains(t, err, "node x")
	require.Zero(t, s.Len())
}
