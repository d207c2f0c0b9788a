package expr

// Env is what a condition is evaluated over. Lookup gives the value at a path,
// if there is one: nil (a JSON null), bool, string, float64 or another Go number.
// Values of other types compare with nothing except null.
type Env interface {
	Lookup(path []string) (any, bool)
}

// Map is an environment over a decoded JSON object. Its nested objects are
// map[string]any; lists are values without members.
type Map map[string]any

// Lookup implements [Env].
func (m Map) Lookup(path []string) (any, bool) { return within(m, path) }

func within(v any, path []string) (any, bool) {
	for _, name := range path {
		var object Map
		switch o := v.(type) {
		case map[string]any:
			object = o
		case Map:
			object = o
		}
		var ok bool
		if v, ok = object[name]; !ok {
			return nil, false
		}
	}
	return v, true
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

// Scope is the environment of C-059. Whatever has the first name of a path
// decides, in this order: the payload; the payload again if the name is Alias,
// by the next name; the topology if the name is topology, by the next name; the
// topology; the host's variables.
//
// In payload and topology kappa and outcome stand for max_kappa and status,
// unless a field of their own name is there. The name topology alone is the
// topology as an object: topology != null asks whether there is one.
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
	v, ok, here := s.Payload.read(path)
	if !here && path[0] == s.Alias {
		v, ok, here = s.Payload.read(path[1:])
	}
	if !here && path[0] == topology {
		v, ok, here = s.Topology.read(path[1:])
	}
	if !here {
		v, ok, here = s.Topology.read(path)
	}
	if !here {
		return s.Vars.Lookup(path)
	}
	return v, ok
}

// read is Lookup with aliases; here says that the object has the first name, so
// that no other is asked. The empty path is the object itself, if there is one.
func (m Map) read(path []string) (v any, ok, here bool) {
	if len(path) == 0 {
		return m, m != nil, m != nil
	}
	if v, here = m[path[0]]; !here {
		field, ok := alias(path[0])
		if v, here = m[field]; !ok || !here {
			return nil, false, false
		}
	}
	v, ok = within(v, path[1:])
	return v, ok, true
}
