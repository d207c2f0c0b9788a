package bench

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/stretchr/testify/require"
)

const million = 1_000_000

// BenchmarkMillion runs one loop a million times, with an audit that keeps
// nothing, and reports how the heap grew and what an iteration cost at the end
// compared with the beginning. Budget: less than 5 MB, and 1 within noise.
func BenchmarkMillion(b *testing.B) {
	ctx := context.Background()
	l := newLoop(b, 0)
	in := sample()
	run := func(n int) time.Duration {
		start := time.Now()
		for range n {
			if _, err := read.Enter(ctx, l, pulse.Trigger{Workspace: "acme"}, in); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start) / time.Duration(n)
	}
	for b.Loop() {
		run(10)
		first := run(million / 20)
		before := heap()
		run(million - million/10 - 10)
		grown := float64(heap()) - float64(before)
		last := run(million / 20)
		b.ReportMetric(grown/(1<<20), "grown-MB")
		b.ReportMetric(float64(last)/float64(first), "x-first")
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkGovernedDoubles is the governed iteration over the in-memory
// substrates of pulsetest, with an audit that keeps nothing.
func BenchmarkGovernedDoubles(b *testing.B) {
	f := floor(b)
	s := pulsetest.NewSubstrates()
	s.Audit.Discard = true
	enter(b, newLoop(b, 0, func(c *pulse.Config) { c.Substrates = s.Set() }))
	ratio(b, f)
}

// BenchmarkGovernedJournal writes every step to an in-memory journal that keeps
// each entry as JSON, as a real one would have to.
func BenchmarkGovernedJournal(b *testing.B) {
	f := floor(b)
	var j pulsetest.Journal
	enter(b, newLoop(b, 0, func(c *pulse.Config) { c.Journal = &j }))
	ratio(b, f)
}

// BenchmarkSuspend is an iteration that suspends on its act and is resumed by
// its outcome, one hundred at a time.
func BenchmarkSuspend(b *testing.B) {
	f := floor(b)
	var ids []string
	l := suspending(b, &ids)
	ctx := context.Background()
	in := sample()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if _, err := read.Enter(ctx, l, pulse.Trigger{Workspace: fmt.Sprint(n % 100)}, in); err != nil {
			b.Fatal(err)
		}
		id := ids[len(ids)-1]
		ids = ids[:0]
		it, err := l.Deliver(ctx, pulse.Trigger{Workspace: fmt.Sprint(n % 100)}, outcome(id))
		require.NoError(b, err)
		require.Equal(b, pulse.Completed, it.Status)
	}
	ratio(b, f)
}
