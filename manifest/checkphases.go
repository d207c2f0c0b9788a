package manifest

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/token"
)

func (c *checker) phases() {
	for i := range c.m.Phases {
		c.phase(i, &c.m.Phases[i])
	}
}

func (c *checker) phase(i int, p *Phase) {
	if p.ID != "" {
		c.phaseID(i, p.ID)
	}
	c.customKind(i, p)
	c.endpoints(p.Inputs.From, func() string { return at("phases", i, "inputs", "from") })
	c.endpoints(p.Outputs.To, func() string { return at("phases", i, "outputs", "to") })
	if s := p.Inputs.Schema; s != "" && !isSchemaName(s) {
		c.fail(CodeSchemaName, at("phases", i, "inputs", "schema"), "%s is no type name; write a name without spaces, with [] after it for a list", shorten(s))
	}
	if s := p.Outputs.Schema; s != "" && !isSchemaName(s) {
		c.fail(CodeSchemaName, at("phases", i, "outputs", "schema"), "%s is no type name; write a name without spaces, with [] after it for a list", shorten(s))
	}
	if p.Signature != "" && !isSignature(p.Signature) {
		c.fail(CodeSignature, at("phases", i, "signature"), "%s is no recipe; write name(field, field)", shorten(p.Signature))
	}
	if p.Invariant != "" {
		c.phaseInvariant(i, p.Invariant)
	}
	c.tokens(p.Inputs.Tokens, func() string { return at("phases", i, "inputs", "tokens") })
	c.tokens(p.Outputs.Tokens, func() string { return at("phases", i, "outputs", "tokens") })
	if p.Effects != nil {
		c.tokens(p.Effects.MayEmit, func() string { return at("phases", i, "effects", "may_emit") })
	}
	for j, id := range p.Successors {
		c.successor(id, i, j)
	}
	if p.Refinements != nil {
		c.writable(p.Refinements, func() string { return at("phases", i, "refinements") })
	}
}

func (c *checker) phaseID(i int, id string) {
	if !isPhaseID(id) {
		c.fail(CodePhaseID, at("phases", i, "id"), "%s is no phase id; write a–z, 0–9 and _", shorten(id))
	}
	if first := c.index[id]; first != i {
		c.fail(CodeDuplicateID, at("phases", i, "id"), "phase %d has the id %s already; ids are unique in the loop", first, shorten(id))
	}
}

func (c *checker) customKind(i int, p *Phase) {
	switch {
	case p.Kind == KindCustom && p.CustomKind == "":
		c.fail(CodeCustomKind, at("phases", i, "custom_kind"), "a phase of kind custom needs a custom_kind; write which kind it is")
	case p.Kind != KindCustom && p.Kind != "" && p.CustomKind != "":
		c.fail(CodeCustomKind, at("phases", i, "custom_kind"), "custom_kind goes with kind custom only; remove it, or write kind custom")
	}
}

// endpoints checks a from or to. Its place, here and below, is asked for only if
// there is a fault.
func (c *checker) endpoints(s string, place func() string) {
	endpoints, err := ParseEndpoints(s)
	if err != nil {
		c.fail(CodeEndpoint, place(), "%v", err)
		return
	}
	for _, e := range endpoints {
		c.endpoint(e, place)
	}
}

func (c *checker) endpoint(e Endpoint, place func() string) {
	switch e.Kind {
	case EndpointPhase:
		c.known(e.Name, place)
	case EndpointSubstrate:
		c.slot(e.Name, place)
	case EndpointSignal:
		c.token(e.Name, place)
	}
}

// known checks that a phase exists. Without phases that is not worth saying again.
func (c *checker) known(id string, place func() string) {
	if _, ok := c.index[id]; ok || len(c.ids) == 0 {
		return
	}
	c.fail(CodeUnknownPhase, place(), "there is no phase %s%s", shorten(id), c.didYouMean(id, c.ids))
}

func (c *checker) slot(name string, place func() string) {
	if slices.Contains(Slots(), Slot(name)) {
		return
	}
	slots := texts(Slots()...)
	c.fail(CodeUnknownSlot, place(), "there is no substrate slot %s; the slots are %s%s", shorten(name), strings.Join(slots, ", "), c.didYouMean(name, slots))
}

func (c *checker) tokens(names []string, place func() string) {
	for j, name := range names {
		c.token(name, func() string { return place() + at(j) })
	}
}

// token checks the name of a token: canonical in the declared minor version, or a
// vendor's (OS-010 §6.7, C-002).
func (c *checker) token(s string, place func() string) {
	canonical := texts(token.Canonical(c.version.Minor)...)
	if slices.Contains(canonical, s) {
		if s == string(token.SurpriseSignalName) {
			c.newerToken(token.SurpriseSignalName, place)
		}
		return
	}
	name, err := token.ParseName(s)
	switch {
	case s == "EscalationRequest":
		c.fail(CodeUnknownToken, place(), "EscalationRequest is no token: the host receives it when a phase escalates; remove it")
	case err != nil:
		c.fail(CodeUnknownToken, place(), "there is no token %s; write a canonical one, or a vendor's such as acme.v1.Name%s", shorten(s), c.didYouMean(s, canonical))
	case name.Canonical():
		c.fail(CodeUnknownToken, place(), "the token %s belongs to protocol 0.2; declare pulse_protocol_version 0.2", name)
	default:
		c.newerToken(name, place)
	}
}

func (c *checker) phaseInvariant(i int, name Invariant) {
	switch on := c.m.Invariants[name]; {
	case on:
	case !slices.Contains(Invariants(), name):
		known := texts(Invariants()...)
		c.fail(CodeUnknownInvariant, at("phases", i, "invariant"), "%s is not one of the seven invariants%s", shorten(string(name)), c.didYouMean(string(name), known))
	case c.m.Invariants != nil:
		c.fail(CodeInvariantOff, at("phases", i, "invariant"), "%s is not on in invariants; set it to true there, or remove it here", name)
	}
}

// successor checks one entry of a phase's successors: a phase, or the loop_id of an
// inner loop (C-036).
func (c *checker) successor(id string, i, j int) {
	if _, ok := c.index[id]; ok {
		return
	}
	if _, ok := slices.BinarySearch(c.inner, id); ok {
		return
	}
	hint := c.didYouMean(id, c.ids)
	if hint == "" {
		hint = c.didYouMean(id, c.inner)
	}
	c.fail(CodeUnknownSuccessor, at("phases", i, "successors", j), "%s is neither a phase nor an inner loop%s", shorten(id), hint)
}
