package substrate_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/substrate"
)

func TestUnavailable(t *testing.T) {
	spec.Covers(t, "C-049")
	require.NoError(t, substrate.Unavailable(substrate.OpStoreNode, nil))
	err := substrate.Unavailable(substrate.OpStoreNode, io.ErrUnexpectedEOF)
	require.EqualError(t, err, "substrate: memory.store_node is unavailable: unexpected EOF")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the cause stays reachable")
	var unavailable *substrate.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.Equal(t, substrate.SlotMemory, unavailable.Slot)
	require.EqualError(t, &substrate.UnavailableError{Slot: "auth", Err: io.EOF}, "substrate: slot auth is unavailable: EOF")
}

func TestVerdict(t *testing.T) {
	spec.Covers(t, "C-097", "P-9.2-1")
	require.False(t, substrate.Verdict{}.Allow, "the zero verdict denies")
	require.NoError(t, substrate.Allow().Err("agent-7", "send", "mail"))
	err := substrate.Deny("over budget").Err("agent-7", "send", "mail")
	require.ErrorIs(t, err, substrate.ErrDenied)
	require.EqualError(t, err, `substrate: "agent-7" may not "send" on "mail": over budget`)
	var denied *substrate.DeniedError
	require.ErrorAs(t, err, &denied)
	require.Equal(t, "over budget", denied.Reason)
	require.EqualError(t, substrate.Verdict{}.Err("agent-7", "send", ""), `substrate: "agent-7" may not "send": no reason given`)
	require.NotErrorIs(t, err, errors.ErrUnsupported)
}

func TestCheckWorkspace(t *testing.T) {
	spec.Covers(t, "C-095", "P-12-11")
	call := substrate.Origination{Workspace: "acme", Loop: "acme.triage", Phase: "reply"}
	require.NoError(t, substrate.CheckWorkspace("acme", call))
	for _, bound := range []string{"globex", "", "acme "} {
		err := substrate.CheckWorkspace(bound, call)
		require.ErrorIs(t, err, substrate.ErrCrossWorkspace)
		require.ErrorContains(t, err, "workspace acme, loop acme.triage, phase reply")
	}
	require.ErrorContains(t, substrate.CheckWorkspace("acme", substrate.Origination{}), "outside a loop")
}

func TestCheckEcho(t *testing.T) {
	spec.Covers(t, "P-7.7-1", "C-089")
	call := substrate.Origination{Workspace: "acme", Loop: "acme.triage", Phase: "reply", TraceID: "t1"}
	require.NoError(t, substrate.CheckEcho(substrate.OpStoreNode, call, substrate.Receipt{TraceID: "t1"}))
	for _, trace := range []string{"", "t2"} {
		err := substrate.CheckEcho(substrate.OpStoreNode, call, substrate.Receipt{TraceID: trace})
		require.ErrorIs(t, err, substrate.ErrNoEcho)
		require.ErrorContains(t, err, "loop acme.triage, phase reply: memory.store_node")
	}
}
