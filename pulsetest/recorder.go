package pulsetest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opensentience/pulse-go"
)

// Recorder is an observer and a recorder that keeps everything: set it as one of
// [pulse.Config.Observers] and as [pulse.Config.Recorder].
type Recorder struct {
	mu      sync.Mutex
	events  []pulse.Event
	metrics []Metric
}

// Metric is a value that the engine recorded.
type Metric struct {
	Name  string
	Value float64
	Attrs []slog.Attr
}

// Observe implements [pulse.Observer].
func (r *Recorder) Observe(_ context.Context, e pulse.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Record implements [pulse.Recorder].
func (r *Recorder) Record(_ context.Context, name string, value float64, attrs ...slog.Attr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = append(r.metrics, Metric{name, value, slices.Clone(attrs)})
}

// Events gives what was observed so far, in order.
func (r *Recorder) Events() []pulse.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Metrics gives the values recorded under a name, in order.
func (r *Recorder) Metrics(name string) []Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Metric
	for _, m := range r.metrics {
		if m.Name == name {
			out = append(out, m)
		}
	}
	return out
}

// Ran gives the phases that ended, in order, each as "phase" if it completed and
// as "phase:skipped" or "phase:failed" otherwise.
func (r *Recorder) Ran() []string {
	var out []string
	for _, e := range r.Events() {
		if e.Kind != pulse.EventRecord {
			continue
		}
		s := e.Phase
		if e.Record.Ended != "completed" {
			s += ":" + string(e.Record.Ended)
		}
		out = append(out, s)
	}
	return out
}

// WantRan fails the test unless exactly these phases ended, in this order, named
// as [Recorder.Ran] does.
func (r *Recorder) WantRan(t testing.TB, phases ...string) {
	t.Helper()
	if got := r.Ran(); !slices.Equal(got, phases) {
		t.Errorf("phases ran:\n\tgot  %s\n\twant %s\n%s", strings.Join(got, " → "), strings.Join(phases, " → "), r.story())
	}
}

// story tells what was observed, a line for each event.
func (r *Recorder) story() string {
	var b strings.Builder
	for _, e := range r.Events() {
		fmt.Fprintf(&b, "\t%s %s", e.Kind, e.Phase)
		if e.Attempt > 0 {
			fmt.Fprintf(&b, " attempt %d", e.Attempt)
		}
		if e.Delay > 0 {
			fmt.Fprintf(&b, " in %s", e.Delay)
		}
		if e.Status != "" {
			fmt.Fprintf(&b, " %s", e.Status)
		}
		if e.Err != nil {
			fmt.Fprintf(&b, ": %v", e.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
