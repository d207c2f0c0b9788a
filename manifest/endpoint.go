package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// EndpointKind is the kind of an endpoint (C-021).
type EndpointKind string

// The four kinds of endpoints.
const (
	EndpointExternal  EndpointKind = "external"
	EndpointPhase     EndpointKind = "phase"
	EndpointSubstrate EndpointKind = "substrate"
	EndpointSignal    EndpointKind = "signal"
)

// Endpoint is one end of a data flow: external, phase:<id>, substrate:<slot> or
// signal:<Token> (OS-010 §4, C-021).
type Endpoint struct {
	Kind EndpointKind
	Name string // empty for external
}

// String writes the endpoint as it stands in a manifest.
func (e Endpoint) String() string {
	if e.Kind == EndpointExternal {
		return string(e.Kind)
	}
	return string(e.Kind) + ":" + e.Name
}

// EndpointError is a text that is no list of endpoints.
type EndpointError struct {
	Source  string // the whole text
	Part    string // the endpoint at fault
	Problem string // what is wrong with it, and the cure
}

// Error quotes the endpoint and says what is wrong.
func (e *EndpointError) Error() string {
	return fmt.Sprintf("endpoint %q: %s", e.Part, e.Problem)
}

// ParseEndpoints reads endpoints joined by |, with or without spaces (C-021). An
// empty text gives none. It checks the form, not whether the phase, slot or token
// exists. The error is an *[EndpointError].
func ParseEndpoints(s string) ([]Endpoint, error) {
	if s == "" {
		return nil, nil
	}
	var all []Endpoint
	for part := range strings.SplitSeq(s, "|") {
		e, problem := parseEndpoint(strings.Trim(part, " "))
		if problem != "" {
			return nil, &EndpointError{Source: s, Part: strings.Trim(part, " "), Problem: problem}
		}
		all = append(all, e)
	}
	return all, nil
}

func parseEndpoint(s string) (e Endpoint, problem string) {
	switch kind, name, named := strings.Cut(s, ":"); {
	case s == "":
		return e, "nothing stands here; write an endpoint on both sides of |"
	case s == string(EndpointExternal):
		return Endpoint{Kind: EndpointExternal}, ""
	case !slices.Contains([]EndpointKind{EndpointPhase, EndpointSubstrate, EndpointSignal}, EndpointKind(kind)):
		return e, "write external, phase:<id>, substrate:<slot> or signal:<Token>"
	case !named || name == "" || strings.ContainsAny(name, " \t\r\n:"):
		return e, "write " + kind + ": and a name without spaces or colons"
	default:
		return Endpoint{Kind: EndpointKind(kind), Name: name}, ""
	}
}
