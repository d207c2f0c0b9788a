package manifest

import (
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/expr"
)

// closure checks what the closure refers to (OS-010 §4, C-047).
func (c *checker) closure() {
	cl := c.m.Closure
	if cl.FromPhase != "" {
		c.known(cl.FromPhase, func() string { return at("closure", "from_phase") })
	}
	if cl.ToPhase != "" {
		c.known(cl.ToPhase, func() string { return at("closure", "to_phase") })
	}
	if cl.Via == "" {
		return
	}
	via, err := ParseEndpoints(cl.Via)
	if err != nil || len(via) != 1 || via[0].Kind != EndpointSubstrate && via[0].Kind != EndpointSignal {
		c.fail(CodeEndpoint, at("closure", "via"), "%s is no channel of a closure; write substrate:<slot> or signal:<Token>", shorten(cl.Via))
		return
	}
	c.endpoint(via[0], func() string { return at("closure", "via") })
}

// roles checks that the loop has the roles it needs, and that learning follows
// acting (OS-010 §3.2, C-016, C-093). While a custom kind has no role a breach may
// be no breach, so it is a warning.
func (c *checker) roles() {
	if len(c.m.Phases) == 0 || slices.ContainsFunc(c.m.Phases, func(p Phase) bool { return !slices.Contains(Kinds(), p.Kind) }) {
		return // reported, and the roles are not known
	}
	report := c.fail
	if c.unaliased(len(c.m.Phases)) {
		report = c.warn
	}
	for _, role := range []Role{RoleRetrieve, RoleAct} {
		if !slices.ContainsFunc(c.m.Phases, func(p Phase) bool { return c.aliases.Role(&p) == role }) {
			report(CodeMissingRole, at("phases"), "no phase has the role %s, and a loop needs one; add one, or give a custom kind that role by an alias", role)
		}
	}
	if p := c.m.Phase(c.m.Closure.FromPhase); p != nil {
		if r := c.aliases.Role(p); r != RoleLearn && r != RoleConsolidate {
			report(CodeClosureRole, at("closure", "from_phase"), "the closure leads from %s, whose role is %s; it must lead from learn or consolidate", p.ID, r.orNone())
		}
	}
	if p := c.m.Phase(c.m.Closure.ToPhase); p != nil {
		if r := c.aliases.Role(p); r != RoleRetrieve {
			report(CodeClosureRole, at("closure", "to_phase"), "the closure leads to %s, whose role is %s; it must lead to retrieve", p.ID, r.orNone())
		}
	}
	c.learnOrder()
}

func (r Role) orNone() string {
	if r == RoleNone {
		return "unknown"
	}
	return string(r)
}

// unaliased tells whether one of the first n phases is custom and has no role.
func (c *checker) unaliased(n int) bool {
	return slices.ContainsFunc(c.m.Phases[:n], func(p Phase) bool {
		return p.Kind == KindCustom && c.aliases.Role(&p) == RoleNone
	})
}

func (c *checker) learnOrder() {
	report, act := c.fail, false
	for i := range c.m.Phases {
		switch p := &c.m.Phases[i]; c.aliases.Role(p) {
		case RoleAct:
			act = true
		case RoleNone:
			report = c.warn
		case RoleLearn:
			if !act {
				report(CodeLearnOrder, at("phases", i), "%s learns, but no phase before it acts; put an act phase before it", p.ID)
			}
		}
	}
}

// nesting checks the parent and the inner loops (OS-010 §11).
func (c *checker) nesting() {
	n := &c.m.Nesting
	if n.ParentLoop != "" && !isLoopID(n.ParentLoop) {
		c.fail(CodeLoopID, at("nesting", "parent_loop"), "%s", loopIDForm(n.ParentLoop))
	}
	for i := range n.InnerLoops {
		c.innerLoop(i, &n.InnerLoops[i])
	}
}

func (c *checker) innerLoop(i int, inner *InnerLoop) {
	switch {
	case inner.LoopID == "":
	case !isLoopID(inner.LoopID):
		c.fail(CodeLoopID, at("nesting", "inner_loops", i, "loop_id"), "%s", loopIDForm(inner.LoopID))
	case inner.LoopID == c.m.LoopID:
		c.fail(CodeSelfNesting, at("nesting", "inner_loops", i, "loop_id"), "a loop cannot be its own inner loop; name another")
	}
	if inner.Trigger != "" {
		c.trigger(i, inner.Trigger)
	}
	bounded := inner.Wait == WaitBounded
	switch {
	case bounded && inner.TimeoutMS == 0:
		c.fail(CodeWaitTimeout, at("nesting", "inner_loops", i), "wait bounded needs timeout_ms; write how long the outer phase waits")
	case !bounded && inner.TimeoutMS != 0:
		c.warn(CodeUnusedMember, at("nesting", "inner_loops", i, "timeout_ms"), "timeout_ms has an effect with wait bounded only; remove it, or write bounded")
	}
}

func (c *checker) trigger(i int, s string) {
	pointer := at("nesting", "inner_loops", i, "trigger")
	t, err := ParseTrigger(s)
	if err != nil {
		c.fail(CodeTrigger, pointer, "%v", err)
		return
	}
	c.known(t.Phase, func() string { return pointer })
	if t.When != "" {
		c.aliasesIn(t.When, pointer)
	}
}

// predicate checks an expression (C-058).
func (c *checker) predicate(s, pointer string) {
	if _, err := expr.Parse(s); err != nil {
		c.fail(CodeExpression, pointer, "%v", err)
		return
	}
	c.aliasesIn(s, pointer)
}

// connections checks what the loop emits to others (OS-010 §10).
func (c *checker) connections() {
	seen := make(map[string]int, len(c.m.Connections))
	for i := range c.m.Connections {
		k := &c.m.Connections[i]
		if first, twice := seen[k.ID]; twice && k.ID != "" {
			c.fail(CodeDuplicateID, at("connections", i, "id"), "connection %d has the id %s already; ids are unique in the loop", first, shorten(k.ID))
		} else {
			seen[k.ID] = i
		}
		c.connection(i, k)
	}
}

func (c *checker) connection(i int, k *Connection) {
	if k.EmitPhase != "" {
		c.known(k.EmitPhase, func() string { return at("connections", i, "emit_phase") })
	}
	if k.EmitCondition != "" {
		c.predicate(k.EmitCondition, at("connections", i, "emit_condition"))
	}
	if k.Envelope != "" && k.Envelope != Envelope {
		c.fail(CodeBadValue, at("connections", i, "envelope"), "%s is no envelope; the only one is %s", shorten(k.Envelope), Envelope)
	}
	if k.Token != "" {
		c.token(k.Token, func() string { return at("connections", i, "token") })
	}
	if k.ToLoop != "" && !isLoopID(k.ToLoop) {
		c.fail(CodeLoopID, at("connections", i, "to_loop"), "%s", loopIDForm(k.ToLoop))
	}
	if k.ToPhase != "" && !isPhaseID(k.ToPhase) {
		c.fail(CodePhaseID, at("connections", i, "to_phase"), "%s is no phase id; write a–z, 0–9 and _", shorten(k.ToPhase))
	}
	if k.OverflowPolicy != "" && k.MaxInflight == 0 {
		c.fail(CodeOverflow, at("connections", i, "overflow_policy"), "overflow_policy needs max_inflight; write how many may be in flight")
	}
	c.delivery(i, k)
}

// delivery refuses to lose a token that must not be lost (C-066).
func (c *checker) delivery(i int, k *Connection) {
	mode, drops := k.Delivery.OrDefault(), strings.HasPrefix(string(k.OverflowPolicy), "drop_")
	precious, linearity := c.precious(k.Token)
	switch {
	case drops && mode != DeliveryAtMostOnce:
		c.fail(CodeDelivery, at("connections", i, "overflow_policy"), "%s loses tokens, which %s forbids; use block or escalate, or delivery at_most_once", k.OverflowPolicy, mode)
	case drops && precious:
		c.fail(CodeDelivery, at("connections", i, "overflow_policy"), "%s loses tokens, and %s is %s; use block or escalate", k.OverflowPolicy, k.Token, linearity)
	}
	if mode == DeliveryAtMostOnce && precious {
		c.fail(CodeDelivery, at("connections", i, "delivery"), "at_most_once may lose tokens, and %s is %s; use at_least_once or exactly_once", k.Token, linearity)
	}
}
