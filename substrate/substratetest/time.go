package substratetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// TimeFixture is a time substrate and what is known of it. An empty Timescale or
// Stream skips the rule that needs it.
type TimeFixture struct {
	Time      substrate.Time
	Timescale token.Timescale // one that the substrate knows
	Stream    string          // one that the substrate can forecast in [Workspace]
	Horizon   time.Duration
}

// Time runs [TimeRules] on the time substrates that open returns.
func Time(t *testing.T, open func(*testing.T) TimeFixture) {
	t.Helper()
	run(t, TimeRules(), open)
}

// TimeRules returns what every time substrate must do (OS-010 §9.5).
func TimeRules() []Rule[TimeFixture] {
	return []Rule[TimeFixture]{{
		ID: "P-9.5-1", Name: "knows_a_timescale", Section: "OS-010 §9.5, C-101",
		Text: "at_timescale returns a JSON document, the same while nothing is observed",
		Check: func(ctx context.Context, f TimeFixture) error {
			if f.Timescale == "" {
				return skipf("the fixture names no timescale")
			}
			return checkDocument("at_timescale", func() (json.RawMessage, error) {
				s, err := f.Time.AtTimescale(ctx, substrate.AtTimescaleRequest{Origination: newCaller(Workspace).next(), Timescale: f.Timescale})
				return s.Document, err
			})
		},
	}, {
		ID: "P-9.5-2", Name: "forecasts", Section: "OS-010 §9.5, C-101",
		Text: "forecast returns a JSON document, the same while nothing is observed",
		Check: func(ctx context.Context, f TimeFixture) error {
			if f.Stream == "" {
				return skipf("the fixture names no stream")
			}
			return checkDocument("forecast", func() (json.RawMessage, error) {
				c, err := f.Time.Forecast(ctx, substrate.ForecastRequest{Origination: newCaller(Workspace).next(), Stream: f.Stream, Horizon: f.Horizon})
				return c.Document, err
			})
		},
	}}
}
