package pulsetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// Time is a [substrate.Time] in memory. A test feeds it with [Time.Observe]. The
// state at a timescale is the mean of each stream's newest values: 1 for fast,
// 10 for medium, 100 for slow, 1,000 for glacial. A forecast says that a stream
// stays at its mean of the medium timescale. Its limits: values have no times,
// the horizon does not matter, and older values are forgotten.
type Time struct {
	CallLog

	mu      sync.RWMutex
	streams map[stream][]float64
}

var _ substrate.Time = (*Time)(nil)

type stream struct{ workspace, name string }

// longest is how many values of a stream are kept: the window of glacial.
const longest = 1000

func window(timescale token.Timescale) (int, error) {
	switch timescale {
	case token.TimescaleFast:
		return 1, nil
	case token.TimescaleMedium:
		return 10, nil
	case token.TimescaleSlow:
		return 100, nil
	case token.TimescaleGlacial:
		return longest, nil
	}
	return 0, fmt.Errorf("pulsetest: timescale %q is none of fast, medium, slow, glacial", timescale)
}

// Observe appends a value to a stream of the workspace. A value that is not
// finite is an error: JSON cannot hold it.
func (t *Time) Observe(workspace, name string, value float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("pulsetest: stream %q: value %v is not finite", name, value)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.streams == nil {
		t.streams = make(map[stream][]float64)
	}
	key := stream{workspace, name}
	values := t.streams[key]
	values = append(values, value)
	if len(values) > 2*longest { // now and then, so that appending stays cheap
		values = slices.Delete(values, 0, len(values)-longest)
	}
	t.streams[key] = values
	return nil
}

// AtTimescale returns {"timescale", "streams": {name: mean}} of the workspace.
func (t *Time) AtTimescale(ctx context.Context, r substrate.AtTimescaleRequest) (substrate.TimescaleState, error) {
	var out substrate.TimescaleState
	err := t.enter(ctx, substrate.OpAtTimescale)
	if err == nil {
		out.Document, err = t.state(r.Workspace, r.Timescale)
	}
	t.leave(substrate.OpAtTimescale, &r.Origination, string(r.Timescale), "", err)
	return out, err
}

func (t *Time) state(workspace string, timescale token.Timescale) (json.RawMessage, error) {
	n, err := window(timescale)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	means := make(map[string]float64)
	for key, values := range t.streams {
		if key.workspace == workspace {
			means[key.name] = mean(values, n)
		}
	}
	return json.Marshal(struct {
		Timescale token.Timescale    `json:"timescale"`
		Streams   map[string]float64 `json:"streams"`
	}{timescale, means})
}

// Forecast returns {"stream", "horizon_ns", "value", "samples"}. A stream of
// which nothing was observed is an error.
func (t *Time) Forecast(ctx context.Context, r substrate.ForecastRequest) (substrate.Forecast, error) {
	var out substrate.Forecast
	err := t.enter(ctx, substrate.OpForecast)
	if err == nil {
		out.Document, err = t.forecast(&r)
	}
	t.leave(substrate.OpForecast, &r.Origination, r.Stream, r.Horizon.String(), err)
	return out, err
}

func (t *Time) forecast(r *substrate.ForecastRequest) (json.RawMessage, error) {
	n, err := window(token.TimescaleMedium)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	values := t.streams[stream{r.Workspace, r.Stream}]
	if len(values) == 0 {
		return nil, fmt.Errorf("pulsetest: workspace %q has no stream %q: feed it with Observe", r.Workspace, r.Stream)
	}
	return json.Marshal(struct {
		Stream  string  `json:"stream"`
		Horizon int64   `json:"horizon_ns"`
		Value   float64 `json:"value"`
		Samples int     `json:"samples"`
	}{r.Stream, int64(r.Horizon), mean(values, n), min(n, len(values))})
}

// mean is the mean of the newest n values, of which there is at least one. It
// adds quotients, so that no sum of finite values overflows.
func mean(values []float64, n int) float64 {
	newest := values[max(0, len(values)-n):]
	var m float64
	for _, v := range newest {
		m += v / float64(len(newest))
	}
	return m
}
