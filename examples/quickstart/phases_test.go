package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/substrate"
)

// A phase function is tested as any function: with a memory of the test's own.
func TestRecallTellsTheRuleFromTheDays(t *testing.T) {
	f := Forecaster{memory: substrate.MemoryFuncs{
		RetrieveContextFunc: func(_ context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
			require.Equal(t, similarDays+1, r.K)
			return substrate.RetrieveContextResponse{Nodes: []substrate.Node{
				{ID: "2011-12-31", Type: dayType, Confidence: 0.9, Content: json.RawMessage(`{"days":2,"wet":true,"likeness":0.5}`)},
				{ID: ruleID, Type: ruleType, Confidence: 0.7, Content: json.RawMessage(`{"days":1,"wet":false,"likeness":1}`)},
			}}, nil
		},
	}}
	today := january(1)[0]
	found, err := f.recall(t.Context(), today)
	require.NoError(t, err)
	require.Equal(t, Found{
		Today:   today,
		Similar: []Precedent{{ID: "2011-12-31", Confidence: 0.9, Days: 2, Wet: true, Likeness: 0.5}},
		Rule:    Precedent{ID: ruleID, Confidence: 0.7, Days: 1, Likeness: 1},
	}, found)
}

func TestChooseWantsEnoughDays(t *testing.T) {
	for n, want := range map[int]string{0: byRule, enoughDays - 1: byRule, enoughDays: bySimilarDays} {
		d, err := Forecaster{}.choose(t.Context(), Found{Similar: make([]Precedent, n)})
		require.NoError(t, err)
		require.Equal(t, string(Predict), d.To)
		require.Equal(t, want, d.Value.(Plan).By, "%d days", n)
	}
}

func TestPredictNeedsACall(t *testing.T) {
	_, err := Forecaster{}.predict(t.Context(), Plan{})
	require.ErrorIs(t, err, pulse.ErrNoCall)
}
