//go:build !race

// Tests of one goroutine whose result or cost the race detector changes: it
// makes pools drop what they are given, and large values slow.

package signature_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/signature"
)

func TestAllocations(t *testing.T) {
	var small, large any = oneTicket(1), fullQueue()
	for _, v := range []any{small, large} {
		n := testing.AllocsPerRun(200, func() { _, _ = signature.Of("ws", v) })
		require.LessOrEqual(t, n, 3.0, "%T", v)
	}
}

func TestSize(t *testing.T) {
	large := strings.Repeat("10 MB of text\u2028", 10<<20/16)
	got, err := signature.Canonical(large)
	require.NoError(t, err)
	require.True(t, string(got) == `"`+large+`"`, "nothing in the text needs an escape")
	requireReference(t, json.RawMessage(`["`+large[:1<<20]+`"]`))
	_, err = signature.Canonical([]string{large, large, large, large})
	requireRefused(t, err, signature.ErrSize, "")
	_, err = signature.CanonicalJSON(make([]byte, signature.MaxSize+1))
	require.ErrorIs(t, err, signature.ErrSize)

	// Values whose form is out of all proportion to their memory.
	_, err = signature.Canonical([1 << 40]struct{}{})
	require.ErrorIs(t, err, signature.ErrSize)
	type pair struct{ L, R any }
	var shared any = "leaf"
	for range 60 {
		shared = &pair{shared, shared}
	}
	_, err = signature.Canonical(shared)
	require.ErrorIs(t, err, signature.ErrSize)
}
