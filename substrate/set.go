package substrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
)

// Resolver finds the substrates of a workspace from the references in the
// manifest (C-030). The engine asks once per workspace and keeps the answer. A
// host with one store for all workspaces uses a [Set]; one that opens a
// database per workspace implements Resolver.
type Resolver interface {
	// Resolve returns the substrates for the workspace. In refs, {ws_id} is
	// replaced by the workspace. A reference that the host does not know is an error.
	Resolve(ctx context.Context, workspace string, refs manifest.Substrates) (Set, error)
}

// Set is a loop's substrates. Memory, Policy, Audit and Auth are required by
// OS-010 §3.4; a nil member is an error when a loop is built that needs it, and
// errors.ErrUnsupported when it is called all the same.
type Set struct {
	Memory Memory
	Policy Policy
	Audit  Audit
	Auth   Auth
	Time   Time            // optional
	Host   []HostOperation // the host's own operations
}

// Resolve returns the set itself, for every workspace: a Set is the [Resolver]
// of substrates that keep workspaces apart by the call context.
func (s Set) Resolve(context.Context, string, manifest.Substrates) (Set, error) { return s, nil }

// Member returns the substrate in the slot. It is nil if there is none, and for
// transport.
func (s Set) Member(slot Slot) any {
	// Each member is compared before it becomes an any, which would not be nil
	// otherwise.
	switch {
	case slot == SlotMemory && s.Memory != nil:
		return s.Memory
	case slot == SlotPolicy && s.Policy != nil:
		return s.Policy
	case slot == SlotAudit && s.Audit != nil:
		return s.Audit
	case slot == SlotAuth && s.Auth != nil:
		return s.Auth
	case slot == SlotTime && s.Time != nil:
		return s.Time
	}
	return nil
}

// Supports reports whether the set can answer op, one of [Operations] or a
// [HostOperation] of the set.
func (s Set) Supports(op Operation) bool {
	if op.Known() {
		return Supports(s.Member(op.Slot()), op)
	}
	_, ok := s.HostOperation(op)
	return ok
}

// HostOperation returns the host's operation of that name.
func (s Set) HostOperation(name Operation) (HostOperation, bool) {
	for _, h := range s.Host {
		if h.Name == name {
			return h, true
		}
	}
	return HostOperation{}, false
}

// Validate returns every fault of the host's operations, joined: each on its
// own (HostOperation.Validate), and names given twice.
func (s Set) Validate() error {
	var faults []error
	seen := make(map[Operation]bool, len(s.Host))
	for _, h := range s.Host {
		if seen[h.Name] {
			faults = append(faults, fmt.Errorf("substrate: host operation %q is declared twice", h.Name))
			continue
		}
		seen[h.Name] = true
		if err := h.Validate(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
