package manifest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/manifest"
)

// whole demands that a text gives a manifest or placed issues, and that a manifest
// survives being written and read.
func whole(t *testing.T, m *manifest.Manifest, err error) {
	if err != nil {
		var issues manifest.Issues
		if !errors.As(err, &issues) || issues.Err() == nil {
			t.Fatalf("the error holds no issues: %v", err)
		}
		for _, i := range issues {
			if i.Line < 1 || i.Column < 1 || i.Message == "" || i.Code == "" {
				t.Fatalf("issue without a place: %+v", i)
			}
		}
		return
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	again, err := manifest.Parse(text)
	require.NoError(t, err, "%s", text)
	require.Equal(t, exportedValue(*m), exportedValue(*again))
}

func FuzzParse(f *testing.F) {
	for _, name := range manifest.References() {
		text, err := manifest.ReferenceText(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := manifest.Parse(text)
		whole(t, m, err)
	})
}

func FuzzParseYAML(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := manifest.ParseYAML(text)
		whole(t, m, err)
	})
}

func FuzzInterval(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		if i, err := manifest.ParseInterval(s); err == nil {
			if (i.Fixed > 0) == (i.Months > 0) {
				t.Fatalf("%q: %+v is not one of fixed and months", s, i)
			}
			again, err := manifest.ParseInterval(i.String())
			require.NoError(t, err)
			require.Equal(t, i, again)
		}
		if r, err := manifest.ParseRate(s); err == nil {
			if r.N < 1 || r.Per <= 0 {
				t.Fatalf("%q: %+v", s, r)
			}
			again, err := manifest.ParseRate(r.String())
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if d, err := manifest.ParseOffset(s); err == nil && d < 0 {
			t.Fatalf("%q: %v", s, d)
		}
	})
}
