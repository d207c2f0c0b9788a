package manifest

// Role is what a phase is to the loop: its kind or, for a custom phase, the role
// that an alias gives its custom kind (C-016).
type Role string

// The roles. RoleDeliberate marks a custom phase that deliberates, which
// κ-routing takes as a target (OS-010 §7.4, C-083).
const (
	RoleNone        Role = ""
	RoleRetrieve    Role = "retrieve"
	RoleRoute       Role = "route"
	RoleAct         Role = "act"
	RoleLearn       Role = "learn"
	RoleConsolidate Role = "consolidate"
	RoleDeliberate  Role = "deliberate"
)

// Aliases gives custom kinds their roles (C-016). A nil map is empty.
type Aliases map[string]Role

// Role gives the role of a phase, RoleNone for a custom one without an alias.
func (a Aliases) Role(p *Phase) Role {
	if p.Kind == KindCustom {
		return a[p.CustomKind]
	}
	return Role(p.Kind)
}

// ReferenceAliases gives the aliases of a reference manifest's custom kinds, nil
// for any other loop (C-016).
func ReferenceAliases(loopID string) Aliases {
	switch loopID {
	case "prism.benchmark":
		return Aliases{"compose": RoleRetrieve, "interact": RoleAct, "diagnose": RoleLearn}
	case "agentromatic.deliberation":
		return Aliases{"bid": RoleRetrieve}
	default:
		return nil
	}
}

// Role gives the role of the phase with an id, RoleNone if there is no such phase.
func (m *Manifest) Role(id string, aliases Aliases) Role {
	p := m.Phase(id)
	if p == nil {
		return RoleNone
	}
	return aliases.Role(p)
}
