// Quickstart closes a loop over four years of real weather: every day it
// forecasts whether the next one is wet, and learns from what came.
//
//	go run ./examples/quickstart -plot accuracy.svg
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// The phases of weather.pulse.json with the Go types that go in and come out.
const (
	Recall  pulse.PhaseID[Day, Found]                                             = "recall"
	Choose  pulse.PhaseID[Found, pulse.Decision]                                  = "choose"
	Predict pulse.PhaseID[Plan, Forecast]                                         = "predict"
	Learn   pulse.PhaseID[pulse.Feedback[Forecast], []substrate.ConfidenceUpdate] = "learn"
	Tidy    pulse.PhaseID[Month, token.ConsolidationEvent]                        = "tidy"
)

//go:embed weather.pulse.json
var weatherLoop []byte

func main() {
	plot := flag.String("plot", "", "write the accuracy over time to this SVG `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *plot, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run forecasts every day that has a next one, and reports.
func run(ctx context.Context, plot string, out, progress io.Writer) error {
	days, err := readWeather()
	if err != nil {
		return err
	}
	store, log := NewStore("seattle"), NewLog()
	loop, err := newLoop(substrates(store, log), log)
	if err != nil {
		return err
	}
	began := time.Now()
	history, err := live(ctx, loop, days, progress)
	if err != nil {
		return err
	}
	report := Report{History: history, Remembered: store.Len(), Log: log, Took: time.Since(began)}
	if err := report.Print(out); err != nil || plot == "" {
		return err
	}
	return os.WriteFile(plot, Plot(history), 0o644)
}

// newLoop joins the manifest, the phase functions and what they run on.
func newLoop(on substrate.Set, metrics pulse.Recorder) (*pulse.Loop, error) {
	m, err := manifest.Parse(weatherLoop)
	if err != nil {
		return nil, err
	}
	f := Forecaster{memory: pulse.Handles().Memory}
	return pulse.New(m, pulse.Config{
		Phases: []pulse.Binding{
			pulse.BindFunc(Recall, f.recall), pulse.BindFunc(Choose, f.choose), pulse.BindAct(Predict, f.predict),
			pulse.BindFunc(Learn, f.learn), pulse.BindFunc(Tidy, f.tidy),
		},
		Substrates: on, Recorder: metrics,
	})
}

// live goes through the days as they came. A forecast is made when its day is
// over; its iteration then waits, suspended, for the next day.
func live(ctx context.Context, loop *pulse.Loop, days []Day, progress io.Writer) (History, error) {
	who := pulse.Trigger{Workspace: "seattle", Actor: "forecaster"}
	var history History
	for i, today := range days[:max(len(days)-1, 0)] {
		it, err := Recall.Enter(ctx, loop, who, today)
		if err != nil {
			return nil, err
		}
		forecast, err := Predict.Output(it)
		if err != nil {
			return nil, err
		}
		tomorrow := days[i+1]
		if _, err := loop.Deliver(ctx, who, forecast.Outcome(tomorrow)); err != nil {
			return nil, err
		}
		history = append(history, Result{Forecast: forecast, Came: tomorrow})
		if tomorrow.EndsMonth() {
			if _, err := Tidy.Enter(ctx, loop, who, tomorrow.Month()); err != nil {
				return nil, err
			}
			if _, err := fmt.Fprintln(progress, history.LastMonth()); err != nil {
				return nil, err
			}
		}
	}
	return history, nil
}
