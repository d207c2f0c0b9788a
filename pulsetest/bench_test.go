package pulsetest_test

import (
	"strconv"
	"testing"

	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
)

func BenchmarkPolicyCheck(b *testing.B) {
	p, ctx := new(pulsetest.Policy), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.CheckPolicy(ctx, substrate.CheckPolicyRequest{Origination: acme, Action: "send"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAuditAppend(b *testing.B) {
	for name, a := range map[string]*pulsetest.Audit{"keep": {}, "discard": {Discard: true}} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				event := substrate.AuditEvent{EventID: strconv.Itoa(i), Class: substrate.ClassTransition, PhaseID: "reply"}
				if _, err := a.AppendEvent(ctx, substrate.AppendEventRequest{Origination: acme, Event: event}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMemoryStore(b *testing.B) {
	m, ctx := &pulsetest.Memory{MaxNodes: 1000}, b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.StoreNode(ctx, substrate.StoreNodeRequest{Origination: acme, Node: note("reset the password", 0.5)}); err != nil {
			b.Fatal(err)
		}
	}
}
