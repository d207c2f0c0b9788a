package pulsetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

type question struct{ Text string }

type answer struct{ Text string }

// One phase function of each kind runs alone, with typed input and output.
func TestRunAlone(t *testing.T) {
	echo := func(_ context.Context, q question) (answer, error) { return answer(q), nil }
	for _, kind := range []manifest.Kind{manifest.KindRetrieve, manifest.KindAct, manifest.KindConsolidate, ""} {
		got, err := pulsetest.RunAlone(t, pulsetest.Alone{Kind: kind}, echo, question{"why"})
		require.NoError(t, err, "kind %q", kind)
		require.Equal(t, answer{"why"}, got)
	}
	d, err := pulsetest.RunAlone(t, pulsetest.Alone{Kind: manifest.KindRoute, Targets: []string{"reply", "ask"}},
		func(context.Context, question) (pulse.Decision, error) {
			return pulse.PhaseID[answer, any]("ask").Goto(answer{"what?"}), nil
		}, question{"why"})
	require.NoError(t, err)
	require.Equal(t, "ask", d.To)
}

// The phase works on the substrates given, through handles.
func TestRunAloneHasHandles(t *testing.T) {
	s := pulsetest.NewSubstrates()
	_, err := pulsetest.RunAlone(t, pulsetest.Alone{Substrates: s}, func(ctx context.Context, q question) (answer, error) {
		_, err := pulse.Handles().Memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "note", Content: []byte(`"x"`), Confidence: 0.5}})
		return answer(q), err
	}, question{"why"})
	require.NoError(t, err)
	require.Len(t, s.Memory.Nodes("test"), 1)
}

// A failure is the phase's, as in a loop.
func TestRunAloneFails(t *testing.T) {
	_, err := pulsetest.RunAlone(t, pulsetest.Alone{Kind: manifest.KindRetrieve}, func(ctx context.Context, _ question) (answer, error) {
		_, err := pulse.Handles().Memory.StoreNode(ctx, substrate.StoreNodeRequest{})
		return answer{}, err
	}, question{})
	var refused *substrate.RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, fmt.Sprintf("phase %s", "alone"))
}
