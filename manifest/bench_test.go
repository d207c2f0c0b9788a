package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/opensentience/pulse-go/manifest"
)

// The budget: 10,000 phases are read and checked in less than 150 ms; reading keeps
// within 1.5 times what encoding/json takes for the same text and structs.
func BenchmarkManyPhases(b *testing.B) {
	text := []byte(largeManifest(10_000, soundPhase))
	m, err := manifest.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := manifest.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var m manifest.Manifest
			if err := m.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		type plain manifest.Manifest // without the methods
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var m plain
			if err := json.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("validate", func(b *testing.B) {
		for b.Loop() {
			if err := manifest.Validate(m, manifest.Options{}).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
