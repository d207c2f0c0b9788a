package pulse_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// spans is a tracer that keeps its spans.
type spans struct {
	embedded.Tracer
	mu  sync.Mutex
	all []*span
}

// span is a span that is kept.
type span struct {
	noop.Span
	name    string
	context trace.SpanContext
	parent  trace.SpanContext
	attrs   map[string]string
	status  codes.Code
	ended   int
}

func (s *spans) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := trace.SpanContextFromContext(ctx)
	var id trace.SpanID
	binary.BigEndian.PutUint64(id[:], uint64(len(s.all)+1))
	sp := &span{name: name, parent: parent, attrs: map[string]string{}, context: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: parent.TraceID(), SpanID: id, TraceFlags: trace.FlagsSampled,
	})}
	cfg := trace.NewSpanStartConfig(opts...)
	sp.SetAttributes(cfg.Attributes()...)
	s.all = append(s.all, sp)
	return trace.ContextWithSpan(ctx, sp), sp
}

func (s *span) SpanContext() trace.SpanContext   { return s.context }
func (s *span) SetStatus(c codes.Code, _ string) { s.status = c }
func (s *span) End(...trace.SpanEndOption)       { s.ended++ }
func (s *span) IsRecording() bool                { return true }
func (s *span) SetAttributes(kv ...attribute.KeyValue) {
	for _, a := range kv {
		s.attrs[string(a.Key)] = a.Value.String()
	}
}

// An iteration is a span, and each attempt is one within it, in the trace of the
// iteration.
func TestSpans(t *testing.T) {
	spec.Covers(t, "P-5.5-1", "P-7.7-1", "P-0-4", "C-079")
	for name, traceID := range map[string]string{
		"hexadecimal": "0af7651916cd43dd8448eb211c80319c", "UUID": "0af76519-16cd-43dd-8448-eb211c80319c", "text": "order 7",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s spans
				calls := 0
				w := newWorld(t, small(retrying("do", 2)), bind(flawed(1, &calls, errFlaw), "do"), func(c *pulse.Config) { c.Tracer = &s })
				it, err := read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "acme", TraceID: traceID}, Ask{"x"})
				require.NoError(t, err)
				require.Equal(t, traceID, it.TraceID)
				require.Len(t, s.all, 5)
				root := s.all[0]
				require.Equal(t, "pulse.iteration", root.name)
				require.Equal(t, []string{"test.small", it.ID, "acme", traceID, "completed"},
					[]string{root.attrs["pulse.loop"], root.attrs["pulse.iteration"], root.attrs["pulse.workspace"], root.attrs["pulse.trace_id"], root.attrs["pulse.status"]})
				require.True(t, root.context.TraceID().IsValid())
				if name != "text" {
					require.Equal(t, "0af7651916cd43dd8448eb211c80319c", root.context.TraceID().String())
				}
				byID := map[string]*span{root.context.SpanID().String(): root}
				for i, phase := range []string{"read", "do", "do", "score"} {
					sp := s.all[i+1]
					require.Equal(t, []string{"pulse.phase", phase}, []string{sp.name, sp.attrs["pulse.phase"]})
					require.Equal(t, root.context.SpanID(), sp.parent.SpanID())
					require.Equal(t, root.context.TraceID(), sp.context.TraceID())
					require.Equal(t, map[bool]codes.Code{true: codes.Error, false: codes.Unset}[i == 1], sp.status)
					byID[sp.context.SpanID().String()] = sp
				}
				for _, sp := range s.all {
					require.Equal(t, 1, sp.ended, "%s ended once", sp.name)
				}
				for _, e := range w.Audit.Events() {
					require.Equal(t, traceID, e.TraceID)
					require.Contains(t, byID, e.SpanID, "%s", e.EventID)
					if e.EventType == "phase.completed" {
						require.Equal(t, e.PhaseID, byID[e.SpanID].attrs["pulse.phase"])
					}
				}
				for _, c := range w.calls() {
					require.Equal(t, traceID, c.Origination.TraceID, "%s", c.Operation)
					require.Contains(t, byID, c.Origination.SpanID, "%s", c.Operation)
				}
			})
		})
	}
}

// A trigger without a trace joins that of its context.
func TestTraceOfTheContext(t *testing.T) {
	spec.Covers(t, "C-079", "P-5.5-1")
	var s spans
	w := newWorld(t, small(), func(c *pulse.Config) { c.Tracer = &s })
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3}, TraceFlags: trace.FlagsSampled})
	it, err := read.Enter(trace.ContextWithSpanContext(t.Context(), parent), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, parent.TraceID().String(), it.TraceID)
	require.Equal(t, parent.SpanID(), s.all[0].parent.SpanID())
	other, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
	require.NoError(t, err)
	require.NotEqual(t, it.TraceID, other.TraceID, "else it is a new one")
	require.Len(t, other.TraceID, 32)
}

// Nothing is logged unless the host asks, and then nothing of a payload.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	previous := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(previous)
	watchers := func(c *pulse.Config) { c.Observers = []pulse.Observer{panicky{}} }
	w := newWorld(t, small(), watchers)
	_, err := read.Enter(t.Context(), w.loop, acme, Ask{"secret"})
	require.NoError(t, err)
	require.Empty(t, out.String())

	w = newWorld(t, small(), watchers, func(c *pulse.Config) { c.Logger = slog.Default() })
	_, err = read.Enter(t.Context(), w.loop, acme, Ask{"secret"})
	require.NoError(t, err)
	require.Contains(t, out.String(), "an observer")
	require.Contains(t, out.String(), "test.small")
	require.NotContains(t, out.String(), "secret")
}

// The recorder takes the metrics that the manifest declares, and no others.
func TestMetrics(t *testing.T) {
	spec.Covers(t, "P-4-32", "C-037")
	phases := []string{"duration_ms", "input_size", "output_size", "status"}
	loops := []string{"closure_rate", "iteration_count", "kappa_distribution"}
	run := func(t *testing.T, edit func(*manifest.Manifest)) *pulsetest.Recorder {
		t.Helper()
		var rec pulsetest.Recorder
		type looked struct{ Topology token.TopologyContext }
		look := pulse.PhaseID[Ask, looked]("read")
		act := pulse.PhaseID[looked, Deed]("do")
		w := newWorld(t, small(edit), watched(&rec), func(c *pulse.Config) {
			c.Phases[0] = pulse.BindFunc(look, func(context.Context, Ask) (looked, error) {
				return looked{token.TopologyContext{MaxKappa: 2, Routing: token.RoutingDeliberate}}, nil
			})
			c.Phases[1] = pulse.BindAct(act, func(context.Context, looked) (pulse.Outcome[Deed], error) {
				time.Sleep(250 * time.Millisecond)
				return pulse.Outcome[Deed]{CausalParentIDs: []string{"n1"}}, nil
			})
		})
		for range 2 {
			_, err := look.Enter(t.Context(), w.loop, acme, Ask{"x"})
			require.NoError(t, err)
		}
		return &rec
	}
	values := func(ms []pulsetest.Metric) (v []float64) {
		for _, m := range ms {
			v = append(v, m.Value)
		}
		return v
	}
	t.Run("declared", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rec := run(t, func(m *manifest.Manifest) {
				m.Telemetry = manifest.Telemetry{Namespace: "desk", PhaseMetrics: phases, LoopMetrics: loops}
			})
			require.Equal(t, []float64{0, 250, 0, 0, 250, 0}, values(rec.Metrics("desk.duration_ms")))
			require.Equal(t, []float64{1, 1, 1, 1, 1, 1}, values(rec.Metrics("desk.status")))
			require.EqualValues(t, len(`{"Text":"x"}`), rec.Metrics("desk.input_size")[0].Value)
			require.EqualValues(t, len(`{"ActionID":"","N":0}`), rec.Metrics("desk.output_size")[1].Value)
			require.Equal(t, []float64{1, 2}, values(rec.Metrics("desk.iteration_count")))
			require.Equal(t, []float64{1, 1}, values(rec.Metrics("desk.closure_rate")))
			require.Equal(t, []float64{2, 2}, values(rec.Metrics("desk.kappa_distribution"))[:2])
			attrs := map[string]string{}
			for _, a := range rec.Metrics("desk.status")[1].Attrs {
				attrs[a.Key] = a.Value.String()
			}
			require.Equal(t, map[string]string{"loop": "test.small", "workspace": "acme", "phase": "do", "status": "completed"}, attrs)
		})
	})
	t.Run("not declared", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rec := run(t, func(m *manifest.Manifest) {
				m.Telemetry = manifest.Telemetry{Namespace: "desk", PhaseMetrics: []string{"status"}}
			})
			require.Len(t, rec.Metrics("desk.status"), 6)
			for _, name := range append(phases[:3:3], loops...) {
				require.Empty(t, rec.Metrics("desk."+name), name)
			}
		})
	})
	t.Run("without a namespace", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rec := run(t, func(m *manifest.Manifest) { m.Telemetry = manifest.Telemetry{PhaseMetrics: []string{"status"}} })
			require.Len(t, rec.Metrics("status"), 6)
		})
	})
}
