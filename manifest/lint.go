package manifest

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/token"
)

// lint finds what is allowed but likely not meant, or worth knowing.
func (c *checker) lint() {
	connected := make(map[[2]string]bool, len(c.m.Connections))
	for i := range c.m.Connections {
		connected[[2]string{c.m.Connections[i].EmitPhase, c.m.Connections[i].Token}] = true
	}
	for i := range c.m.Phases {
		p := &c.m.Phases[i]
		c.idempotentSaid(i, p)
		c.retriesUsed(i, p)
		c.undelivered(i, p, connected)
		c.severalTargets(i, p)
	}
	c.conditionalLinear()
	for i := range c.m.Connections {
		c.emitRole(i, &c.m.Connections[i])
	}
	c.unstableReads()
}

// idempotentSaid applies to documents: a struct cannot tell false from unsaid (C-038).
func (c *checker) idempotentSaid(i int, p *Phase) {
	if c.m.doc != nil && (p.Kind == KindRetrieve || p.Kind == KindRoute) && !p.Idempotent && !wrote(p, "idempotent") {
		c.warn(CodeIdempotentUnsaid, at("phases", i), "%s does not say whether it is idempotent, so its output is never replayed; write idempotent", p.ID)
	}
}

func (c *checker) retriesUsed(i int, p *Phase) {
	if p.MaxRetries != nil && p.OnFailure != FailRetry {
		c.warn(CodeUnusedMember, at("phases", i, "max_retries"), "max_retries has an effect with on_failure retry only; remove it, or write retry")
	}
}

// undelivered: connections are the only way a token leaves the loop (C-022).
func (c *checker) undelivered(i int, p *Phase, connected map[[2]string]bool) {
	if !strings.Contains(p.Outputs.To, "signal:") {
		return
	}
	endpoints, _ := ParseEndpoints(p.Outputs.To) // a fault is reported elsewhere
	for _, e := range endpoints {
		if _, err := token.ParseName(e.Name); err != nil {
			continue
		}
		if e.Kind == EndpointSignal && !connected[[2]string{p.ID, e.Name}] {
			c.warn(CodeUndelivered, at("phases", i, "outputs", "to"), "%s produces %s, and no connection delivers it; add one, or remove it here", p.ID, e.Name)
		}
	}
}

// severalTargets: only a route chooses, so that a phase of another kind has one
// phase after it.
func (c *checker) severalTargets(i int, p *Phase) {
	if strings.Contains(p.Outputs.To, "|") && c.aliases.Role(p) != RoleRoute && len(phaseTargets(p.Outputs.To)) > 1 {
		c.warn(CodeUnusedMember, at("phases", i, "outputs", "to"), "%s is no route, so it cannot choose among several phases; name one", p.ID)
	}
}

// precious tells whether a token must not be lost, and its linearity.
func (c *checker) precious(name string) (bool, token.Linearity) {
	n, err := token.ParseName(name)
	if err != nil {
		return false, ""
	}
	l := c.linearity(n)
	return l == token.Linear || l == token.Relevant, l
}

// conditionalLinear warns of linear tokens that every connection may hold back
// (C-073).
func (c *checker) conditionalLinear() {
	free := make(map[[2]string]bool)
	for _, k := range c.m.Connections {
		if k.EmitCondition == "" {
			free[[2]string{k.EmitPhase, k.Token}] = true
		}
	}
	for i, k := range c.m.Connections {
		if precious, _ := c.precious(k.Token); precious && !free[[2]string{k.EmitPhase, k.Token}] {
			c.warn(CodeConditionalLinear, at("connections", i, "emit_condition"), "%s is to be consumed, and this condition may hold it back; add a connection without a condition if none may be missed", k.Token)
		}
	}
}

// emitRoles are the roles that usually emit a token (C-078).
var emitRoles = map[token.Name][]Role{
	token.TopologyContextName:     {RoleRetrieve},
	token.DeliberationRequestName: {RoleRoute},
	token.OutcomeSignalName:       {RoleLearn},
	token.ConsolidationEventName:  {RoleConsolidate},
	token.SurpriseSignalName:      {RoleAct, RoleLearn},
}

func (c *checker) emitRole(i int, k *Connection) {
	emitter, ok := c.index[k.EmitPhase]
	if !ok {
		return
	}
	p := &c.m.Phases[emitter]
	role := c.aliases.Role(p)
	switch roles := emitRoles[token.Name(k.Token)]; {
	case token.Name(k.Token) == token.SessionFidelityViolationName:
		c.warn(CodeEmitRole, at("connections", i, "emit_phase"), "SessionFidelityViolation comes from the engine, not from a phase; remove the connection")
	case roles != nil && role != RoleNone && !slices.Contains(roles, role):
		c.warn(CodeEmitRole, at("connections", i, "emit_phase"), "%s is usually emitted by a phase of the role %s, and %s is %s", k.Token, roles[0], p.ID, role)
	}
}

// unstableReads warns of phases that read memory while an inner loop, which the
// outer one does not wait for, may still be writing it (C-085).
func (c *checker) unstableReads() {
	next, after := -1, make([]int, len(c.m.Phases)) // the first reader after each phase
	for i := len(c.m.Phases) - 1; i >= 0; i-- {
		after[i] = next
		if readsMemory(&c.m.Phases[i]) {
			next = i
		}
	}
	for _, inner := range c.m.Nesting.InnerLoops {
		t, err := ParseTrigger(inner.Trigger)
		from, ok := c.index[t.Phase]
		if err != nil || !ok || after[from] < 0 || inner.Wait != WaitFireForget && inner.Wait != WaitBounded {
			continue
		}
		reader := after[from]
		c.warn(CodeUnstableRead, at("phases", reader), "%s reads memory while %s may still write it; wait until_stable, or read another slot", c.ids[reader], inner.LoopID)
	}
}

func readsMemory(p *Phase) bool {
	if p.Kind == KindRetrieve || slices.Contains(p.Inputs.Substrates, SlotMemory) {
		return true
	}
	endpoints, _ := ParseEndpoints(p.Inputs.From)
	return slices.Contains(endpoints, Endpoint{Kind: EndpointSubstrate, Name: string(SlotMemory)})
}

// newerToken: vendor tokens exist since 0.1.2, SurpriseSignal since 0.1.1 (C-001).
func (c *checker) newerToken(name token.Name, place func() string) {
	since, what := Protocol{0, 1, 2}, "vendor tokens exist"
	if name == token.SurpriseSignalName {
		since, what = Protocol{0, 1, 1}, "SurpriseSignal exists"
	}
	if c.m.ProtocolVersion != "" && c.version.Compare(since) < 0 {
		c.warn(CodeNewerFeature, place(), "%s since protocol %v, and %v is declared; declare %v", what, since, c.version, since)
	}
}

// aliasesIn notes the short names that predicates may use (C-059).
func (c *checker) aliasesIn(src, pointer string) {
	e, err := expr.Parse(src)
	if err != nil {
		return
	}
	for _, alias := range e.Aliases() {
		c.note(CodePathAlias, pointer, "%s is an alias; write %s", alias, map[string]string{"kappa": "max_kappa", "outcome": "status"}[alias])
	}
}
