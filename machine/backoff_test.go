package machine_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
)

func TestBackoffNeverCollapses(t *testing.T) {
	spec.Covers(t, "R01", "P-5.4-2")
	plan := compile(t, "phase read retrieve fail=retry retries=100", machine.Settings{
		Backoff: machine.Backoff{Base: time.Second, Factor: 2, Cap: time.Minute},
	})
	attempts, gaps := failing(t, plan)
	require.Equal(t, 101, attempts)

	want := []time.Duration{1, 2, 4, 8, 16, 32}
	for len(want) < 100 {
		want = append(want, 60)
	}
	var sum time.Duration
	for i := range want {
		want[i] *= time.Second
		sum += want[i]
	}
	require.Equal(t, want, gaps)
	require.Equal(t, 5703*time.Second, sum)
}

func TestWatchingDelaysDoesNotChangeThem(t *testing.T) {
	spec.Covers(t, "R04")
	backoff := machine.Backoff{Base: 20 * time.Millisecond, Factor: 2, Cap: time.Second, NoJitter: true}
	plan := compile(t, "phase read retrieve fail=retry retries=5", machine.Settings{Backoff: backoff})
	for watchers := range 3 {
		var told []time.Duration
		_, gaps := failing(t, plan, func(c machine.Command) {
			for range watchers {
				told = append(told, backoff.Delay(c.Attempt-1, 0))
			}
		})
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms}, gaps)
		for i, d := range told {
			require.Equal(t, gaps[i/watchers], d, "what watcher %d was told", i%watchers)
		}
	}
}

// failing runs a loop of one phase that always fails and gives the number of
// attempts and the delays between them.
func failing(t *testing.T, plan *machine.Plan, watch ...func(machine.Command)) (attempts int, gaps []time.Duration) {
	m, err := machine.New(plan, "iteration-1", machine.Trigger{Phase: plan.Phases()[0], Payload: machine.Of("x")})
	require.NoError(t, err)
	for len(m.Next()) > 0 {
		c := m.Next()[0]
		r := worked(plan, c, start)
		switch c.Op {
		case machine.OpRunPhase:
			attempts++
			r = machine.Result{Time: start, Failure: &machine.Failure{Code: machine.CodeError, Text: "no"}}
		case machine.OpSleep:
			gaps = append(gaps, c.Delay)
			for _, w := range watch {
				w(c)
			}
		}
		require.NoError(t, m.Done(c.ID, r))
	}
	require.Equal(t, machine.Aborted, m.Status())
	return attempts, gaps
}

func TestBackoffDefaults(t *testing.T) {
	spec.Covers(t, "C-042")
	b := machine.Backoff{NoJitter: true}
	require.Equal(t, 100*time.Millisecond, b.Delay(1, 0))
	require.Equal(t, 200*time.Millisecond, b.Delay(2, 0))
	require.Equal(t, 25600*time.Millisecond, b.Delay(9, 0))
	require.Equal(t, 30*time.Second, b.Delay(10, 0))
}

func TestBackoffIsTotal(t *testing.T) {
	for name, tc := range map[string]struct {
		backoff machine.Backoff
		attempt int
		want    time.Duration
	}{
		"attempt zero":         {machine.Backoff{}, 0, 100 * time.Millisecond},
		"attempt negative":     {machine.Backoff{}, math.MinInt, 100 * time.Millisecond},
		"attempt huge":         {machine.Backoff{}, math.MaxInt, 30 * time.Second},
		"factor NaN":           {machine.Backoff{Factor: math.NaN()}, 9, 100 * time.Millisecond},
		"factor infinite":      {machine.Backoff{Factor: math.Inf(1)}, 2, 30 * time.Second},
		"factor minus inf":     {machine.Backoff{Factor: math.Inf(-1)}, 2, 100 * time.Millisecond},
		"factor negative":      {machine.Backoff{Factor: -2}, 4, 100 * time.Millisecond},
		"factor shrinking":     {machine.Backoff{Factor: 0.5}, 64, 100 * time.Millisecond},
		"factor tiny":          {machine.Backoff{Factor: math.SmallestNonzeroFloat64}, 2, 100 * time.Millisecond},
		"factor one":           {machine.Backoff{Factor: 1}, math.MaxInt, 100 * time.Millisecond},
		"factor huge":          {machine.Backoff{Factor: math.MaxFloat64}, 3, 30 * time.Second},
		"base negative":        {machine.Backoff{Base: -time.Hour}, 1, 100 * time.Millisecond},
		"base above cap":       {machine.Backoff{Base: time.Hour}, 1, 30 * time.Second},
		"base of a nanosecond": {machine.Backoff{Base: 1, Factor: 1.1}, 2, 1},
		"cap without limit":    {machine.Backoff{Base: math.MaxInt64, Cap: math.MaxInt64}, 3, math.MaxInt64},
		"cap negative":         {machine.Backoff{Cap: -1}, 50, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			tc.backoff.NoJitter = true
			require.Equal(t, tc.want, tc.backoff.Delay(tc.attempt, 0))
		})
	}
}

func TestDelayIsPositiveAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := machine.Backoff{
			Base:   time.Duration(rapid.Int64().Draw(t, "base")),
			Factor: rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)})).Draw(t, "factor"),
			Cap:    time.Duration(rapid.Int64().Draw(t, "cap")),
		}
		attempt, seed := rapid.Int().Draw(t, "attempt"), rapid.Uint64().Draw(t, "seed")
		jittered := b.Delay(attempt, seed)
		require.Equal(t, jittered, b.Delay(attempt, seed), "asking again")
		b.NoJitter = true
		whole := b.Delay(attempt, seed)
		require.Positive(t, jittered)
		require.Positive(t, whole)
		require.LessOrEqual(t, jittered, whole)
		if b.Cap > 0 {
			require.LessOrEqual(t, whole, b.Cap)
		}
	})
}

func TestJitterFillsTheRange(t *testing.T) {
	spec.Covers(t, "C-042")
	b := machine.Backoff{Base: time.Second}
	const draws, parts = 4000, 4
	var hits [parts]int
	for seed := range uint64(draws) {
		d := b.Delay(1, seed)
		hits[min(int(d*parts/time.Second), parts-1)]++
	}
	for part, n := range hits {
		require.InDelta(t, draws/parts, n, draws/parts/5, "quarter %d of the range: %v", part, hits)
	}
}

func TestJitterDiffersBetweenAttempts(t *testing.T) {
	b := machine.Backoff{Base: time.Second, Factor: 1}
	seen := map[time.Duration]bool{}
	for attempt := range 100 {
		seen[b.Delay(attempt+1, 42)] = true
	}
	require.Len(t, seen, 100)
}

func TestJitterDiffersBetweenIterationsPhasesAndRuns(t *testing.T) {
	m, err := loop("phase a retrieve from=external fail=retry\nphase b retrieve from=external fail=retry\nphase c route next=a,b\nclosure c b")
	require.NoError(t, err)
	plan, err := machine.Compile(m, machine.Settings{})
	require.NoError(t, err)
	seen := map[time.Duration]string{}
	for _, iteration := range []string{"i1", "i2"} {
		mc, err := machine.New(plan, iteration, machine.Trigger{Phase: "a", Payload: machine.Of("x"), Fits: []string{"b"}})
		require.NoError(t, err)
		for len(mc.Next()) > 0 {
			c := mc.Next()[0]
			r := worked(plan, c, start)
			switch {
			case c.Op == machine.OpSleep:
				other, dup := seen[c.Delay]
				require.False(t, dup, "%s of %s waits as long as %s", c.Phase, iteration, other)
				seen[c.Delay] = show(c)
			case c.Op == machine.OpRunPhase && c.Attempt == 1 && c.Phase != "c":
				r = machine.Result{Time: start, Failure: &machine.Failure{Code: machine.CodeError, Text: "no"}}
			case c.Op == machine.OpRunPhase && c.Phase == "c" && c.Run == 2:
				require.NoError(t, mc.Cancel("enough", start))
				continue
			}
			require.NoError(t, mc.Done(c.ID, r))
		}
	}
	require.Len(t, seen, 8)
}
