//go:build !race

package signature_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/signature"
)

// Under the race detector pools drop what they are given, so the count means
// nothing there.
func TestAllocations(t *testing.T) {
	var small, large any = oneTicket(1), fullQueue()
	for _, v := range []any{small, large} {
		n := testing.AllocsPerRun(200, func() { _, _ = signature.Of("ws", v) })
		require.LessOrEqual(t, n, 3.0, "%T", v)
	}
}
