package signature_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"

	"github.com/opensentience/pulse-go/signature"
)

// ticket is about 256 bytes of canonical JSON, as the input of a phase.
type ticket struct {
	ID       string   `json:"id"`
	Customer string   `json:"customer"`
	Subject  string   `json:"subject"`
	Body     string   `json:"body"`
	Priority int      `json:"priority"`
	Score    float64  `json:"score"`
	Open     bool     `json:"open"`
	Tags     []string `json:"tags"`
	Parent   *string  `json:"parent,omitempty"`
}

func oneTicket(i int) ticket {
	return ticket{
		ID: "tck-" + strconv.Itoa(1000+i), Customer: "acme-industries", Subject: "printer is on fire",
		Body:     "The printer on floor three prints \"lp0 on fire\" & smells; please send help before the meeting.",
		Priority: 2, Score: 0.8125, Open: true, Tags: []string{"hardware", "urgent", "floor-3"},
	}
}

// queue is about 4 KB.
type queue struct {
	Name    string            `json:"name"`
	At      time.Time         `json:"at"`
	Tickets []ticket          `json:"tickets"`
	Labels  map[string]string `json:"labels"`
}

func fullQueue() queue {
	q := queue{Name: "support", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Labels: map[string]string{"team": "blue", "region": "eu", "tier": "gold"}}
	for i := range 14 {
		q.Tickets = append(q.Tickets, oneTicket(i))
	}
	return q
}

// floor is the signature in the workspace ws-1 by the reference.
func floor(input any) [32]byte {
	plain, _ := json.Marshal(struct {
		Inputs    any    `json:"inputs"`
		Workspace string `json:"workspace_id"`
	}{input, "ws-1"})
	canonical, _ := jcs.Transform(plain)
	return blake3.Sum256(canonical)
}

// against runs f and the floor in turn and reports the ratio of their times,
// so that a busy machine weighs on both.
func against(b *testing.B, f, floor func()) {
	b.ReportAllocs()
	var fast, slow time.Duration
	const batch = 16
	for n := 0; n < b.N; n += batch {
		b.StopTimer()
		start := time.Now()
		floor()
		slow += time.Since(start) * batch
		b.StartTimer()
		start = time.Now()
		for range min(batch, b.N-n) {
			f()
		}
		fast += time.Since(start) * batch / time.Duration(min(batch, b.N-n))
	}
	b.ReportMetric(float64(fast)/float64(slow), "x-floor")
}

func BenchmarkOf(b *testing.B) {
	small, large := oneTicket(0), fullQueue()
	var decoded any
	raw, _ := json.Marshal(small)
	_ = json.Unmarshal(raw, &decoded)
	for _, c := range []struct {
		name  string
		input any
	}{
		{"256B", small},
		{"4KB", large},
		{"256B-pointer", &small},
		{"256B-decoded", decoded},
		{"256B-raw", json.RawMessage(raw)},
		{"4KB-string", strings.Repeat("plain text ", 370)},
	} {
		b.Run(c.name, func(b *testing.B) {
			require.Equal(b, fmt.Sprintf("blake3:%x", floor(c.input)), string(must(signature.Of("ws-1", c.input))))
			against(b, func() { _, _ = signature.Of("ws-1", c.input) }, func() { _ = floor(c.input) })
		})
	}
}

func BenchmarkEncoder(b *testing.B) {
	small := any(oneTicket(0))
	e, err := signature.EncoderFor(reflect.TypeFor[ticket]())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Of/256B", func(b *testing.B) {
		against(b, func() { _, _ = e.Of("ws-1", small) }, func() { _ = floor(small) })
	})
	buf := make([]byte, 0, 1024)
	b.Run("Append/256B", func(b *testing.B) {
		against(b, func() { _, _ = e.Append(buf, small) }, func() { _, _ = reference(small) })
	})
}

func BenchmarkCanonical(b *testing.B) {
	small := any(oneTicket(0))
	against(b, func() { _, _ = signature.Canonical(small) }, func() { _, _ = reference(small) })
}

func BenchmarkOfJSON(b *testing.B) {
	small := any(oneTicket(0))
	canonical, err := signature.Canonical(small)
	if err != nil {
		b.Fatal(err)
	}
	against(b, func() { _ = signature.OfJSON("ws-1", canonical) }, func() { _ = floor(small) })
}

func BenchmarkBLAKE3(b *testing.B) {
	for _, size := range []int{300, 4096} {
		data := make([]byte, size)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			against(b, func() { _ = signature.BLAKE3(data) }, func() { _ = blake3.Sum256(data) })
		})
	}
}
