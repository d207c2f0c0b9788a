package substrate

import "github.com/opensentience/pulse-go/manifest"

// Allowed says whether a phase of the role may call op, one of [Operations],
// through its handles. If not, it returns a [RefusedError].
//
// Retrieve and route phases read (OS-010 §3.2). Learn phases may read, adjust
// confidence and append, and may not merge, compress or erase (OS-010 §7.2,
// C-091). Act and consolidate phases, custom phases without an alias
// (manifest.RoleNone) and those that deliberate may call everything. Policy, auth
// and time are open to every role; every role but retrieve and route may append
// to audit.
func Allowed(role manifest.Role, op Operation) error {
	if !op.Known() {
		return &RefusedError{op, role, "it is not an operation of OS-010 §9: declare it as a HostOperation"}
	}
	return narrow(role, op, op.Mutates(), op.appends())
}

// AllowedHost says whether a phase of the role may call a host's operation, by
// the rules of [Allowed]: in a learn phase a mutating operation must be
// append-only (C-091).
func AllowedHost(role manifest.Role, h HostOperation) error {
	return narrow(role, h.Name, h.Mutates, h.AppendOnly)
}

func narrow(role manifest.Role, op Operation, mutates, appends bool) error {
	switch role {
	case manifest.RoleAct, manifest.RoleConsolidate, manifest.RoleDeliberate, manifest.RoleNone:
		return nil
	case manifest.RoleRetrieve, manifest.RoleRoute:
		if mutates {
			return &RefusedError{op, role, "such phases only read: move the call to an act phase (OS-010 §3.2)"}
		}
		return nil
	case manifest.RoleLearn:
		if mutates && !appends {
			return &RefusedError{op, role, "such phases adjust confidence and append, they do not rewrite history: move the call to an act or consolidate phase (OS-010 §7.2)"}
		}
		return nil
	}
	return &RefusedError{op, role, "the role is none of retrieve, route, act, learn, consolidate, deliberate"}
}

// appends reports whether op, if it mutates, adds or adjusts confidence without
// rewriting what is there (C-091).
func (op Operation) appends() bool {
	switch op {
	case OpStoreNode, OpStoreEdge, OpLearnFromOutcome, OpAppendEvent:
		return true
	}
	return false
}
