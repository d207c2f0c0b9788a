package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// EventParams are the parameters of an event cadence (OS-010 §8.1, C-061).
type EventParams struct {
	Trigger string // name of the event
	Filter  string // a predicate over its payload; empty: all
}

// PeriodicParams are the parameters of a periodic cadence (OS-010 §8.2).
type PeriodicParams struct {
	Interval    Interval
	PhaseOffset time.Duration
}

// StreamingParams are the parameters of a streaming cadence (OS-010 §8.3, C-062).
type StreamingParams struct {
	Stream    string
	BatchSize int // values in an iteration, at least 1
}

// IdleParams are the parameters of an idle cadence (OS-010 §8.4).
type IdleParams struct {
	MinIdle    time.Duration // must be exceeded
	MaxPerIdle int           // iterations in one idle period, at least 1
}

// SignalParams are the parameters of a cross_loop_signal cadence (OS-010 §8.5).
type SignalParams struct {
	FromLoop  string
	FromPhase string // empty: any
	Token     string
}

// ManualParams are the parameters of a manual cadence (OS-010 §8.6).
type ManualParams struct {
	Interface string
	RateLimit Rate // zero: no limit
}

// ParamError is a parameter with a wrong value, or parameters asked of another type
// of cadence.
type ParamError struct {
	Param   string // empty if the type is wrong
	Problem string

	code Code
}

// Error says what is wrong.
func (e *ParamError) Error() string { return "cadence: " + e.Problem }

// Event gives the parameters of an event cadence. The error is a *[ParamError], here
// and in its sisters; a manifest without issues gives none for its own type.
func (c *Cadence) Event() (EventParams, error) {
	p := c.params(CadenceEvent)
	v := EventParams{Trigger: p.text("trigger"), Filter: p.text("filter")}
	return v, p.err()
}

// Periodic gives the parameters of a periodic cadence. The interval is zero if the
// manifest gives none.
func (c *Cadence) Periodic() (PeriodicParams, error) {
	p := c.params(CadencePeriodic)
	v := PeriodicParams{
		Interval:    parsed(p, "interval", CodeInterval, ParseInterval),
		PhaseOffset: parsed(p, "phase_offset", CodeInterval, ParseOffset),
	}
	return v, p.err()
}

// Streaming gives the parameters of a streaming cadence; batches hold 1 value unless
// it says more.
func (c *Cadence) Streaming() (StreamingParams, error) {
	p := c.params(CadenceStreaming)
	v := StreamingParams{Stream: p.text("stream"), BatchSize: p.integer("batch_size", 1, 1)}
	return v, p.err()
}

// Idle gives the parameters of an idle cadence; one iteration in an idle period
// unless it says more.
func (c *Cadence) Idle() (IdleParams, error) {
	p := c.params(CadenceIdle)
	v := IdleParams{
		MinIdle:    time.Duration(p.integer("min_idle_ms", 0, 0)) * time.Millisecond,
		MaxPerIdle: p.integer("max_iteration_per_idle", 1, 1),
	}
	return v, p.err()
}

// Signal gives the parameters of a cross_loop_signal cadence.
func (c *Cadence) Signal() (SignalParams, error) {
	p := c.params(CadenceCrossLoopSignal)
	v := SignalParams{FromLoop: p.text("from_loop"), FromPhase: p.text("from_phase"), Token: p.text("token")}
	return v, p.err()
}

// Manual gives the parameters of a manual cadence.
func (c *Cadence) Manual() (ManualParams, error) {
	p := c.params(CadenceManual)
	v := ManualParams{
		Interface: p.text("interface"),
		RateLimit: parsed(p, "rate_limit", CodeRate, ParseRate),
	}
	return v, p.err()
}

// params reads free-form parameters and collects what is wrong with them.
type params struct {
	values map[string]any
	faults []*ParamError
}

func (c *Cadence) params(want CadenceType) *params {
	p := &params{values: c.Params}
	if c.Type != want {
		p.values = nil
		p.fault("", CodeCadenceParam, "a cadence of type %s has no parameters of type %s", c.Type, want)
	}
	return p
}

func (p *params) fault(param string, code Code, format string, args ...any) {
	p.faults = append(p.faults, &ParamError{Param: param, Problem: fmt.Sprintf(format, args...), code: code})
}

func (p *params) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return p.faults[0]
}

func (p *params) text(name string) string {
	v, given := p.values[name]
	if !given {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		p.fault(name, CodeWrongType, "%s must be a string", name)
	case s == "":
		p.fault(name, CodeEmptyMember, "%s is empty; leave it out or give it a value", name)
	}
	return s
}

// parsed reads a text with a grammar of its own.
func parsed[T any](p *params, name string, code Code, parse func(string) (T, error)) T {
	var none T
	s := p.text(name)
	if s == "" {
		return none
	}
	v, err := parse(s)
	if err != nil {
		p.fault(name, code, "%v", err)
		return none
	}
	return v
}

func (p *params) integer(name string, least, otherwise int) int {
	v, given := p.values[name]
	if !given {
		return otherwise
	}
	n, ok := asInteger(v)
	if !ok {
		p.fault(name, CodeBadNumber, "%s must be an integer from %d to %d", name, least, int64(maxInt))
		return otherwise
	}
	if n < int64(least) || n > maxInt {
		p.fault(name, CodeBadNumber, "%s must be from %d to %d, got %d", name, least, int64(maxInt), n)
		return otherwise
	}
	return int(n)
}

// asInteger takes a json.Number from a document and what Go code is likely to
// write.
func asInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= maxInt
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= maxInt
	default:
		return 0, false
	}
}
