package manifest

import (
	"slices"
	"strings"
)

// Retries gives how many further attempts retry may make.
func (p *Phase) Retries() int {
	if p.MaxRetries == nil {
		return DefaultMaxRetries
	}
	return *p.MaxRetries
}

// Channel gives the closure's via, substrate:memory if there is none (C-047).
func (c Closure) Channel() string { return orDefault(c.Via, DefaultVia) }

// Ref gives the reference of a slot, empty if it is not provided.
func (s Substrates) Ref(slot Slot) string {
	switch slot {
	case SlotMemory:
		return s.Memory
	case SlotPolicy:
		return s.Policy
	case SlotAudit:
		return s.Audit
	case SlotAuth:
		return s.Auth
	case SlotTransport:
		return s.Transport
	case SlotTime:
		return s.Time
	default:
		return ""
	}
}

// workspaceVariable is the only variable of a reference (C-030).
const workspaceVariable = "{ws_id}"

// Expand gives the references with {ws_id} replaced by the workspace (C-030).
func (s Substrates) Expand(workspace string) Substrates {
	for _, ref := range []*string{&s.Memory, &s.Policy, &s.Audit, &s.Auth, &s.Transport, &s.Time} {
		*ref = strings.ReplaceAll(*ref, workspaceVariable, workspace)
	}
	return s
}

// Index gives the place of a phase in Phases, or -1.
func (m *Manifest) Index(id string) int {
	return slices.IndexFunc(m.Phases, func(p Phase) bool { return p.ID == id })
}

// Phase gives the phase with an id, or nil. It points into Phases.
func (m *Manifest) Phase(id string) *Phase {
	if i := m.Index(id); i >= 0 {
		return &m.Phases[i]
	}
	return nil
}

// Cadences gives the primary cadence and its fallbacks, in order of precedence
// (C-056).
func (m *Manifest) Cadences() []*Cadence {
	var all []*Cadence
	for c := &m.Cadence; c != nil; c = c.Fallback {
		all = append(all, c)
	}
	return all
}

// IdleArmed tells whether the primary cadence or a fallback is idle. Then
// consolidation waits for idleness and other iterations stop before it (C-045).
func (m *Manifest) IdleArmed() bool {
	for c := &m.Cadence; c != nil; c = c.Fallback {
		if c.Type == CadenceIdle {
			return true
		}
	}
	return false
}

// FirstConsolidate gives the first phase with the role consolidate, or nil.
func (m *Manifest) FirstConsolidate(aliases Aliases) *Phase {
	for i := range m.Phases {
		if aliases.Role(&m.Phases[i]) == RoleConsolidate {
			return &m.Phases[i]
		}
	}
	return nil
}

// ClosureTarget gives the phase that the closure leads to: closure.to_phase, else
// the first phase; nil if there is neither.
func (m *Manifest) ClosureTarget() *Phase {
	if p := m.Phase(m.Closure.ToPhase); p != nil {
		return p
	}
	if len(m.Phases) == 0 {
		return nil
	}
	return &m.Phases[0]
}

// Entries gives the phases at which an iteration may start: the closure's target
// and, with idle armed, the first consolidate phase (C-134).
func (m *Manifest) Entries(aliases Aliases) []*Phase {
	var entries []*Phase
	if p := m.ClosureTarget(); p != nil {
		entries = append(entries, p)
	}
	if !m.IdleArmed() {
		return entries
	}
	if p := m.FirstConsolidate(aliases); p != nil && !slices.Contains(entries, p) {
		entries = append(entries, p)
	}
	return entries
}

// Successors gives the ids that may follow a phase: its successors as declared,
// else the phases of its outputs.to, else the next in order (C-134). Declared ones
// may name inner loops (C-036). It is nil for the last phase without a list, and
// empty but not nil for an explicitly empty list.
func (m *Manifest) Successors(id string) []string {
	return m.SuccessorsAt(m.Index(id))
}

// SuccessorsAt is [Manifest.Successors] of the phase at an index, without looking
// for it.
func (m *Manifest) SuccessorsAt(i int) []string {
	if i < 0 || i >= len(m.Phases) {
		return nil
	}
	p := &m.Phases[i]
	if p.Successors != nil {
		return p.Successors
	}
	if to := phaseTargets(p.Outputs.To); to != nil {
		return to
	}
	if i+1 < len(m.Phases) {
		return []string{m.Phases[i+1].ID}
	}
	return nil
}

// Exits gives the phases at which an iteration may end (C-134): closure.from_phase,
// the last phase if nothing follows it by default, and with idle armed the phase
// before the first consolidate phase (C-045).
func (m *Manifest) Exits(aliases Aliases) []*Phase {
	var before *Phase
	if m.IdleArmed() {
		if c := m.FirstConsolidate(aliases); c != nil {
			if i := m.Index(c.ID); i > 0 {
				before = &m.Phases[i-1]
			}
		}
	}
	var exits []*Phase
	for i := range m.Phases {
		p := &m.Phases[i]
		if p.ID == m.Closure.FromPhase || p == before || m.SuccessorsAt(i) == nil {
			exits = append(exits, p)
		}
	}
	return exits
}

// phaseTargets gives the phases among the endpoints of a to, nil if there are none.
func phaseTargets(to string) []string {
	endpoints, err := ParseEndpoints(to)
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range endpoints {
		if e.Kind == EndpointPhase {
			ids = append(ids, e.Name)
		}
	}
	return ids
}
