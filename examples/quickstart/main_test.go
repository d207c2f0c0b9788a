package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

var update = flag.Bool("update", false, "rewrite the golden report in testdata")

// spied is a run whose substrates were watched.
type spied struct {
	history History
	store   *Store
	log     *Log

	retrieved map[string][]string // by day asked about: the nodes that came back
	newest    map[string]string   // by day asked about: the newest day in memory at that moment
	audit     []substrate.AuditEvent
	traceless int // memory calls without a trace id
}

// spy runs the days with every memory call and audit event on record. Learning
// is switched off by frozen: outcomes then change no confidence.
func spy(days []Day, frozen bool) (*spied, error) {
	s := &spied{store: NewStore("seattle"), log: NewLog(), retrieved: map[string][]string{}, newest: map[string]string{}}
	loop, err := newLoop(s.substrates(frozen), s.log)
	if err != nil {
		return nil, err
	}
	s.history, err = live(context.Background(), loop, days, io.Discard)
	return s, err
}

// all is the run over all days, made once; tests only read it.
var all = sync.OnceValues(func() (*spied, error) {
	days, err := readWeather()
	if err != nil {
		return nil, err
	}
	return spy(days, false)
})

func whole(t *testing.T) *spied {
	t.Helper()
	s, err := all()
	require.NoError(t, err)
	return s
}

func (s *spied) substrates(frozen bool) substrate.Set {
	set, memory := substrates(s.store, s.log), s.store.Memory()
	latest := ""
	memory.StoreNodeFunc = func(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
		s.trace(r.Origination)
		latest = max(latest, r.Node.ID)
		return s.store.keep(ctx, r)
	}
	memory.RetrieveContextFunc = func(ctx context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
		s.trace(r.Origination)
		var today Day
		if err := json.Unmarshal([]byte(r.Query), &today); err != nil {
			return substrate.RetrieveContextResponse{}, err
		}
		resp, err := s.store.retrieve(ctx, r)
		s.newest[today.ID()] = latest
		for _, n := range resp.Nodes {
			s.retrieved[today.ID()] = append(s.retrieved[today.ID()], n.ID)
		}
		return resp, err
	}
	if frozen {
		memory.LearnFromOutcomeFunc = func(_ context.Context, r substrate.LearnFromOutcomeRequest) (substrate.LearnFromOutcomeResponse, error) {
			return substrate.LearnFromOutcomeResponse{Receipt: substrate.Receipt{ID: "frozen", TraceID: r.TraceID}}, nil
		}
	}
	set.Memory = memory
	set.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
		s.audit = append(s.audit, r.Event)
		return s.log.Append(ctx, r)
	})
	return set
}

func (s *spied) trace(o substrate.Origination) {
	if o.TraceID == "" {
		s.traceless++
	}
}

func weather(t testing.TB) []Day {
	t.Helper()
	days, err := readWeather()
	require.NoError(t, err)
	return days
}

func TestWholeRun(t *testing.T) {
	s := whole(t)
	require.Len(t, s.history, 1460)
	require.InDelta(t, 1.0, s.log.Metric("quickstart.closure_rate"), 0, "every forecast must be learned from")
	require.InDelta(t, 1460+48, s.log.Metric("quickstart.iteration_count"), 0, "a forecast for each day but the last, and 48 months")
	require.Zero(t, s.traceless, "memory calls without a trace id")
}

func TestForecastsUseOnlyThePast(t *testing.T) {
	s := whole(t)
	days := weather(t)
	for i, today := range days[:len(days)-1] {
		id := today.ID()
		require.Contains(t, s.retrieved[id], ruleID)
		if i > 0 {
			require.Equal(t, days[i-1].ID(), s.newest[id], "memory must end with the day whose outcome is today")
		}
		for _, node := range s.retrieved[id] {
			if node != ruleID {
				require.Less(t, node, id, "what followed a day is known only when that is over")
			}
		}
	}
}

// A forecast that peeked would change with the days that come after it.
func TestForecastsDoNotChangeWithTheFuture(t *testing.T) {
	days := weather(t)[:240]
	other := append([]Day(nil), days...)
	for i := 181; i < len(other); i++ {
		other[i].Precipitation, other[i].High, other[i].Wind = 30-other[i].Precipitation, -other[i].High, 3*other[i].Wind
	}
	one, err := spy(days, false)
	require.NoError(t, err)
	two, err := spy(other, false)
	require.NoError(t, err)
	said, saidOther := wets(one.history), wets(two.history)
	require.Equal(t, said[:181], saidOther[:181], "forecasts of days 0 to 180 know days 0 to 180")
	require.NotEqual(t, said, saidOther, "later forecasts do change")
}

func wets(h History) []bool {
	said := make([]bool, len(h))
	for i, r := range h {
		said[i] = r.Forecast.Wet
	}
	return said
}

func TestEveryEndedPhaseHasOneTransition(t *testing.T) {
	spec.Covers(t, "P-7.3-1")
	s := whole(t)
	type ended struct{ iteration, phase string }
	count, phases := map[ended]int{}, map[string]int{}
	for _, ev := range s.audit {
		if ev.Class == substrate.ClassTransition {
			count[ended{ev.IterationID, ev.PhaseID}]++
			phases[ev.PhaseID]++
		}
	}
	for e, n := range count {
		require.Equal(t, 1, n, "transition events of %v", e)
	}
	require.Equal(t, map[string]int{"recall": 1460, "choose": 1460, "predict": 1460, "learn": 1460, "tidy": 48}, phases)
}

func TestForecastsRecordTheirCausalParents(t *testing.T) {
	spec.Covers(t, "P-7.6-1")
	s := whole(t)
	i := 0
	for _, ev := range s.audit {
		if ev.Class == substrate.ClassTransition && ev.PhaseID == string(Predict) {
			require.NotEmpty(t, ev.CausalParentIDs)
			require.Equal(t, s.history[i].Forecast.Because, ev.CausalParentIDs)
			i++
		}
	}
	require.Equal(t, len(s.history), i)
}

func TestLearningIsReal(t *testing.T) {
	s := whole(t)
	frozen, err := spy(weather(t), true)
	require.NoError(t, err)
	require.NotEqual(t, wets(s.history), wets(frozen.history), "confidences must matter")
	require.InDelta(t, newConfidence, frozen.store.rule.confidence, 0)
	moved := 0
	for _, d := range s.store.days {
		if d.confidence != newConfidence {
			moved++
		}
	}
	require.Greater(t, moved, s.store.Len()/2, "most days have been a causal parent")
	_, _, with := s.history.scores(s.history.Right())
	_, _, without := frozen.history.scores(frozen.history.Right())

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, right := range append(with.right[:], without.right[loopItself]) {
		require.Contains(t, string(readme), fmt.Sprintf("%.1f %%", percent(right, with.n)), "README.md has old figures")
	}
	require.Contains(t, string(readme), fmt.Sprintf("is %d forecasts", with.right[loopItself]-without.right[loopItself]))
}

// The report of two runs is the same but for the speed.
func TestReport(t *testing.T) {
	var out, again, progress bytes.Buffer
	plot := filepath.Join(t.TempDir(), "accuracy.svg")
	require.NoError(t, run(t.Context(), plot, &out, &progress))
	s := whole(t)
	err := Report{History: s.history, Remembered: s.store.Len(), Log: s.log, Took: time.Second}.Print(&again)
	require.NoError(t, err)
	first, speed := cutSpeed(t, out.String())
	second, _ := cutSpeed(t, again.String())
	require.Equal(t, first, second)
	require.Regexp(t, `^speed +[\d,]+ iterations a second\n$`, speed)
	require.Equal(t, 48, strings.Count(progress.String(), "\n"), "a line of progress for each month")
	svg, err := os.ReadFile(plot)
	require.NoError(t, err)
	require.Equal(t, Plot(s.history), svg)

	golden := filepath.Join("testdata", "report.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(first), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), first, "if the change is meant: go test -update")
}

func cutSpeed(t *testing.T, report string) (rest, speed string) {
	t.Helper()
	i := strings.Index(report, "speed ")
	require.Positive(t, i, "the report has no line of speed")
	return report[:i], report[i:]
}

func TestReportSaysWhoWins(t *testing.T) {
	dry, wet := Day{Date: time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)}, Day{Date: time.Date(2012, 1, 2, 0, 0, 0, 0, time.UTC), Precipitation: 3}
	alwaysWrong := History{
		{Forecast: Forecast{Today: dry, Wet: true}, Came: dry}, {Forecast: Forecast{Today: dry, Wet: false}, Came: wet},
		{Forecast: Forecast{Today: wet, Wet: false}, Came: wet}, {Forecast: Forecast{Today: wet, Wet: false}, Came: wet},
	}
	for name, c := range map[string]struct {
		history History
		want    []string
	}{
		"a baseline": {alwaysWrong, []string{`In 2012 "same as today" was better`, `The loop loses to "same as today" by 3 forecasts`, "Chance would do"}},
		"nobody":     {History{{Forecast: Forecast{Today: dry}, Came: dry}}, []string{`The loop and "same as today" are even`}},
		"no days":    {nil, []string{"no forecasts"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := Report{History: c.history, Log: NewLog(), Took: time.Second}.Print(&b)
			require.NoError(t, err)
			for _, w := range c.want {
				require.Contains(t, b.String(), w)
			}
			require.NotContains(t, b.String(), "The loop wins")
		})
	}
}

func TestPlotStandsAlone(t *testing.T) {
	for name, h := range map[string]History{"whole run": whole(t).history, "a month": whole(t).history[:31], "nothing": nil} {
		t.Run(name, func(t *testing.T) {
			svg := Plot(h)
			dec := xml.NewDecoder(bytes.NewReader(svg))
			var err error
			for err == nil {
				_, err = dec.Token()
			}
			require.ErrorIs(t, err, io.EOF, "the SVG is not well-formed")
			for _, p := range append(predictors[:], "day forecast", "right in the 180 days before (%)") {
				require.Contains(t, string(svg), ">"+p+"<")
			}
			require.NotContains(t, string(svg), "NaN")
		})
	}
	require.Equal(t, len(predictors), bytes.Count(Plot(whole(t).history), []byte("<polyline")))
}

// A forecast waits for its outcome without a goroutine, and is resumed at learn.
func TestForecastWaitsForItsDay(t *testing.T) {
	spec.Covers(t, "C-046")
	days, store := weather(t), NewStore("seattle")
	loop, err := newLoop(substrates(store, NewLog()), nil)
	require.NoError(t, err)
	who := pulse.Trigger{Workspace: "seattle", Actor: "forecaster"}
	it, err := Recall.Enter(t.Context(), loop, who, days[0])
	require.NoError(t, err)
	require.Equal(t, pulse.Suspended, it.Status)
	_, err = Learn.Output(it)
	require.ErrorIs(t, err, pulse.ErrNoOutput)
	require.Zero(t, store.Len())

	forecast, err := Predict.Output(it)
	require.NoError(t, err)
	require.Equal(t, byRule, forecast.By, "an empty memory has no days to go by")
	done, err := loop.Deliver(t.Context(), who, forecast.Outcome(days[1]))
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, done.Status)
	require.Equal(t, it.ID, done.ID)
	updates, err := Learn.Output(done)
	require.NoError(t, err)
	require.Len(t, updates, 1)
	require.Equal(t, ruleID, updates[0].NodeID)
	require.NotEqual(t, updates[0].Before, updates[0].After)
	require.Equal(t, 1, store.Len())

	_, err = loop.Deliver(t.Context(), who, forecast.Outcome(days[1]))
	require.ErrorIs(t, err, pulse.ErrDuplicate)
}

// With an idle cadence a forecast stops before tidy, and tidy runs by itself.
func TestTidyRunsApart(t *testing.T) {
	spec.Covers(t, "C-045")
	tidied, forecast := map[string]bool{}, map[string]bool{}
	for _, ev := range whole(t).audit {
		if ev.PhaseID == string(Tidy) {
			tidied[ev.IterationID] = true
		} else {
			forecast[ev.IterationID] = true
		}
	}
	require.Len(t, tidied, 48)
	for id := range tidied {
		require.NotContains(t, forecast, id, "an iteration that tidies does nothing else")
	}

	days := weather(t)
	loop, err := newLoop(substrates(NewStore("seattle"), NewLog()), nil)
	require.NoError(t, err)
	who := pulse.Trigger{Workspace: "seattle", Actor: "forecaster"}
	it, err := Recall.Enter(t.Context(), loop, who, days[0])
	require.NoError(t, err)
	said, err := Predict.Output(it)
	require.NoError(t, err)
	it, err = loop.Deliver(t.Context(), who, said.Outcome(days[1]))
	require.NoError(t, err)
	_, err = Tidy.Output(it)
	require.ErrorIs(t, err, pulse.ErrNoOutput)

	it, err = Tidy.Enter(t.Context(), loop, who, days[0].Month())
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	_, err = Tidy.Output(it)
	require.NoError(t, err)
	_, err = Recall.Output(it)
	require.ErrorIs(t, err, pulse.ErrNoOutput)
}

func TestManifestHasAllInvariantsButQuorum(t *testing.T) {
	m, err := manifest.Parse(weatherLoop)
	require.NoError(t, err)
	for _, i := range manifest.Invariants() {
		require.Equal(t, i != manifest.QuorumBeforeCommit, m.Invariants[i], "%s", i)
	}
	require.Empty(t, manifest.Validate(m, manifest.Options{}).Errors())
}

func TestOnlyTheForecasterForecasts(t *testing.T) {
	loop, err := newLoop(substrates(NewStore("seattle"), NewLog()), nil)
	require.NoError(t, err)
	_, err = Recall.Enter(t.Context(), loop, pulse.Trigger{Workspace: "seattle", Actor: "stranger"}, weather(t)[0])
	require.ErrorIs(t, err, substrate.ErrDenied)
	_, err = Recall.Enter(t.Context(), loop, pulse.Trigger{Workspace: "portland", Actor: "forecaster"}, weather(t)[0])
	require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
	v, err := mayPublish(t.Context(), substrate.CheckPolicyRequest{Action: "forecast.sell"})
	require.NoError(t, err)
	require.ErrorIs(t, v.Err("forecaster", "forecast.sell", ""), substrate.ErrDenied)
}

func TestRunStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("closing time")
	cancel(reason)
	require.ErrorIs(t, run(ctx, "", io.Discard, io.Discard), reason)
}
