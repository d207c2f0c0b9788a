package expr

// Env is what a condition is evaluated over. Lookup gives the value at a path,
// which has at least one name, and whether there is one: nil (a JSON null),
// bool, string, float64 or another Go number. Values of other types are there
// but compare with nothing except null.
type Env interface {
	Lookup(path []string) (any, bool)
}

// Map is an environment over a decoded JSON object. Its nested objects are
// map[string]any; lists are values without members.
type Map map[string]any

// Lookup implements [Env].
func (m Map) Lookup(path []string) (any, bool) {
	if len(path) == 0 {
		return nil, false
	}
	v, ok := m[path[0]]
	for _, name := range path[1:] {
		inner, object := members(v)
		if !object {
			return nil, false
		}
		v, ok = inner[name]
	}
	return v, ok
}

func members(v any) (Map, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case Map:
		return v, true
	}
	return nil, false
}

// topology is the name under which a condition reads a TopologyContext.
const topology = "topology"

// alias gives the field that a name of the specification's examples means
// (C-059).
func alias(name string) (field string, ok bool) {
	switch name {
	case "kappa":
		return "max_kappa", true
	case "outcome":
		return "status", true
	}
	return "", false
}

// Scope is the environment of C-059. The first name of a path decides where it
// is read: in the first of these that has it,
//
//  1. the payload,
//  2. the payload, once more, if the name is Alias: then by the next name,
//  3. the topology, if the name is topology: then by the next name,
//  4. the topology,
//  5. the host's variables.
//
// In payload and topology the names kappa and outcome stand for the fields
// max_kappa and status, unless a field of their own name is there. The name
// topology alone is the topology as an object, so topology != null asks whether
// there is one.
type Scope struct {
	Payload  Map    // fields of the token, or of a phase's output
	Alias    string // name that also stands for the payload; empty: none
	Topology Map    // fields of the newest TopologyContext; nil: none
	Vars     Map    // variables of the host
}

// Lookup implements [Env].
func (s Scope) Lookup(path []string) (any, bool) {
	if len(path) == 0 {
		return nil, false
	}
	head, rest := path[0], path[1:]
	if v, at := field(s.Payload, path); at {
		return within(v, rest)
	}
	if head == s.Alias && s.Alias != "" {
		if len(rest) == 0 {
			return s.Payload, true
		}
		if v, at := field(s.Payload, rest); at {
			return within(v, rest[1:])
		}
	}
	if head == topology && s.Topology != nil {
		if len(rest) == 0 {
			return s.Topology, true
		}
		if v, at := field(s.Topology, rest); at {
			return within(v, rest[1:])
		}
	}
	if v, at := field(s.Topology, path); at {
		return within(v, rest)
	}
	return s.Vars.Lookup(path)
}

// field gives the member that the first name of a path means, by its own name
// or as an alias.
func field(m Map, path []string) (v any, at bool) {
	if v, at = m[path[0]]; at {
		return v, true
	}
	if name, ok := alias(path[0]); ok {
		v, at = m[name]
	}
	return v, at
}

// within gives the value at a path inside a value.
func within(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	inner, ok := members(v)
	if !ok {
		return nil, false
	}
	return inner.Lookup(path)
}
