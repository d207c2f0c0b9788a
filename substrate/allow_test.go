package substrate_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// everything lists the roles that may call every operation.
var everything = []manifest.Role{manifest.RoleAct, manifest.RoleConsolidate, manifest.RoleDeliberate, manifest.RoleNone}

func TestAllowed(t *testing.T) {
	spec.Covers(t, "P-3.2-2", "P-3.2-4", "P-7.2-1", "P-7.2-2", "C-091", "C-102")
	learn := map[substrate.Operation]bool{ // mutating operations in a learn phase
		substrate.OpStoreNode:        true,
		substrate.OpStoreEdge:        true,
		substrate.OpLearnFromOutcome: true,
		substrate.OpAppendEvent:      true,
		substrate.OpConsolidate:      false,
		substrate.OpErase:            false,
	}
	for _, op := range substrate.Operations() {
		for _, role := range everything {
			require.NoError(t, substrate.Allowed(role, op))
		}
		for _, role := range []manifest.Role{manifest.RoleRetrieve, manifest.RoleRoute} {
			requireAllowed(t, !op.Mutates(), role, op, substrate.Allowed(role, op))
		}
		allowed, mutates := learn[op]
		require.Equal(t, op.Mutates(), mutates, "%s is missing from the table", op)
		requireAllowed(t, !mutates || allowed, manifest.RoleLearn, op, substrate.Allowed(manifest.RoleLearn, op))
	}
}

func TestAllowedRefusesWhatItDoesNotKnow(t *testing.T) {
	requireAllowed(t, false, manifest.RoleAct, "memory.drop", substrate.Allowed(manifest.RoleAct, "memory.drop"))
	requireAllowed(t, false, "observe", substrate.OpRetrieveContext, substrate.Allowed("observe", substrate.OpRetrieveContext))
}

func TestAllowedHost(t *testing.T) {
	spec.Covers(t, "P-9-2", "C-091")
	read := substrate.HostOperation{Name: "memory.vector_search", Call: noCall}
	add := substrate.HostOperation{Name: "memory.append_note", Mutates: true, AppendOnly: true, Call: noCall}
	rewrite := substrate.HostOperation{Name: "memory.rewrite", Mutates: true, Call: noCall}
	for _, role := range everything {
		for _, h := range []substrate.HostOperation{read, add, rewrite} {
			require.NoError(t, substrate.AllowedHost(role, h))
		}
	}
	for _, c := range []struct {
		role    manifest.Role
		op      substrate.HostOperation
		allowed bool
	}{
		{manifest.RoleRetrieve, read, true}, {manifest.RoleRetrieve, add, false}, {manifest.RoleRetrieve, rewrite, false},
		{manifest.RoleRoute, read, true}, {manifest.RoleRoute, add, false}, {manifest.RoleRoute, rewrite, false},
		{manifest.RoleLearn, read, true}, {manifest.RoleLearn, add, true}, {manifest.RoleLearn, rewrite, false},
	} {
		requireAllowed(t, c.allowed, c.role, c.op.Name, substrate.AllowedHost(c.role, c.op))
	}
}

func requireAllowed(t *testing.T, allowed bool, role manifest.Role, op substrate.Operation, err error) {
	t.Helper()
	if allowed {
		require.NoError(t, err, "%s in a %s phase", op, role)
		return
	}
	var refused *substrate.RefusedError
	require.ErrorAs(t, err, &refused, "%s in a %s phase", op, role)
	require.Equal(t, op, refused.Operation)
	require.Equal(t, role, refused.Role)
	require.Contains(t, err.Error(), string(op))
	require.NotEmpty(t, refused.Reason)
}

func noCall(context.Context, substrate.HostRequest) (substrate.HostResponse, error) {
	return substrate.HostResponse{}, nil
}
