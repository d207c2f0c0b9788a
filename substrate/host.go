package substrate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// HostOperation is an operation that a host offers beyond those of OS-010 §9,
// which allows it. Phases reach it through the handle of its slot, under the
// same narrowing, audit and effect rules as the others.
type HostOperation struct {
	// Name is "<slot>.<name>", such as memory.vector_search, and none of §9.
	Name Operation

	// Mutates says that the operation changes what the substrate holds. Each
	// call is then audited, and retrieve and route phases may not make it.
	Mutates bool

	// AppendOnly says of a mutating operation that it adds and never rewrites,
	// so that learn phases may call it (C-091).
	AppendOnly bool

	// Call performs the operation. If Mutates is set, the response must carry a
	// receipt that echoes the trace id.
	Call func(context.Context, HostRequest) (HostResponse, error)
}

// HostRequest is the input of a [HostOperation].
type HostRequest struct {
	Origination
	Operation Operation       `json:"operation"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// HostResponse is the output of a [HostOperation]. The receipt is that of a
// mutation, and zero for others.
type HostResponse struct {
	Receipt Receipt         `json:"receipt,omitzero"`
	Output  json.RawMessage `json:"output,omitempty"`
}

// Validate says what is wrong with the declaration: the name lacks a slot's
// prefix, is that of an operation of OS-010 §9, or belongs to transport; Call is
// nil; or AppendOnly is set without Mutates.
func (h HostOperation) Validate() error {
	slot := h.Name.Slot()
	_, name, _ := strings.Cut(string(h.Name), ".")
	switch {
	case slot == "" || name == "":
		return fmt.Errorf("substrate: host operation %q: the name must be <slot>.<name> with one of the slots memory, policy, audit, auth, time", h.Name)
	case slot == SlotTransport:
		return fmt.Errorf("substrate: host operation %q: transport has no operations (C-096); use another slot", h.Name)
	case h.Name.Known():
		return fmt.Errorf("substrate: host operation %q is an operation of OS-010 §9: implement it in the slot's interface, or choose another name", h.Name)
	case h.Call == nil:
		return fmt.Errorf("substrate: host operation %q has no Call function", h.Name)
	case h.AppendOnly && !h.Mutates:
		return fmt.Errorf("substrate: host operation %q is append-only but does not mutate: set Mutates, or clear AppendOnly", h.Name)
	}
	return nil
}
