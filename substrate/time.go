package substrate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/opensentience/pulse-go/token"
)

// Time reasons over several timescales (OS-010 §9.5). The slot is optional.
type Time interface {
	// AtTimescale returns what is known at the given timescale. It changes
	// nothing and may be repeated.
	AtTimescale(context.Context, AtTimescaleRequest) (TimescaleState, error)

	// Forecast returns what is expected of a stream within the horizon. It
	// changes nothing and may be repeated.
	Forecast(context.Context, ForecastRequest) (Forecast, error)
}

// AtTimescaleRequest is the input of [OpAtTimescale].
type AtTimescaleRequest struct {
	Origination
	Timescale token.Timescale `json:"timescale"` // one of OS-010 §6.5, or a substrate's own
}

// TimescaleState is what is known at a timescale, in the substrate's own JSON
// (C-101).
type TimescaleState struct {
	Document json.RawMessage `json:"document"`
}

// ForecastRequest is the input of [OpForecast].
type ForecastRequest struct {
	Origination
	Stream  string        `json:"stream"`
	Horizon time.Duration `json:"horizon_ns"` // nanoseconds in JSON
}

// Forecast is what is expected of a stream, in the substrate's own JSON (C-101).
type Forecast struct {
	Document json.RawMessage `json:"document"`
}
