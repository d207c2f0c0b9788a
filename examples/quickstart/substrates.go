package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
)

// substrates wraps what the example has: a store, a log and two rules.
func substrates(store *Store, log *Log) substrate.Set {
	return substrate.Set{
		Memory: store.Memory(),
		Policy: substrate.PolicyFunc(mayPublish),
		Audit:  substrate.AuditFunc(log.Append),
		Auth:   substrate.AuthFunc(knowsAgent),
	}
}

// mayPublish is the policy: the one action that the loop takes.
func mayPublish(_ context.Context, r substrate.CheckPolicyRequest) (substrate.Verdict, error) {
	if r.Action == "forecast.publish" {
		return substrate.Allow(), nil
	}
	return substrate.Deny("only forecasts are published here"), nil
}

// knowsAgent is the auth: the one agent that there is.
func knowsAgent(_ context.Context, r substrate.PermissionCheckRequest) (substrate.Verdict, error) {
	if r.AgentID == "forecaster" {
		return substrate.Allow(), nil
	}
	return substrate.Deny("the agent is not known"), nil
}

// Log takes audit events and metrics. It counts the events by class, which is
// all that the report wants; a service would write each to append-only storage.
type Log struct {
	mu      sync.Mutex
	events  map[substrate.EventClass]int
	metrics map[string]float64 // the newest value of each
}

// NewLog gives an empty log.
func NewLog() *Log {
	return &Log{events: map[substrate.EventClass]int{}, metrics: map[string]float64{}}
}

// Append takes an audit event.
func (l *Log) Append(_ context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[r.Event.Class]++
	return substrate.Receipt{ID: r.Event.EventID, TraceID: r.TraceID}, nil
}

// Record takes a metric.
func (l *Log) Record(_ context.Context, name string, value float64, _ ...slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.metrics[name] = value
}

// Events gives the number of events of a class.
func (l *Log) Events(c substrate.EventClass) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[c]
}

// Metric gives the newest value of a metric.
func (l *Log) Metric(name string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.metrics[name]
}
