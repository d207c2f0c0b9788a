package machine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
)

// Compile makes the plan of a loop. It needs no phase functions, and it checks
// only what running depends on; the rest is for [manifest.Validate]. The error
// joins all faults. The plan keeps nothing of m.
func Compile(m *manifest.Manifest, s Settings) (*Plan, error) {
	if m == nil {
		return nil, errors.New("machine: there is no manifest")
	}
	c := compiler{
		manifest: m,
		plan: &Plan{
			loop: m.LoopID, version: m.Version, settings: s.withDefaults(), idle: m.IdleArmed(),
			phases: make([]phase, len(m.Phases)), index: make(map[string]int, len(m.Phases)),
		},
		inner: make(map[string][]string),
	}
	if err := s.check(); err != nil {
		c.faults = append(c.faults, fmt.Errorf("settings: %w", err))
	}
	c.number()
	c.nest()
	for i := range m.Phases {
		c.phase(i)
	}
	c.close()
	c.identify()
	if len(c.faults) > 0 {
		return nil, fmt.Errorf("machine: loop %s: %w", m.LoopID, errors.Join(c.faults...))
	}
	c.plan.markRepeats()
	return c.plan, nil
}

type compiler struct {
	manifest *manifest.Manifest
	plan     *Plan
	inner    map[string][]string // the inner loops of a phase
	faults   []error
}

func (c *compiler) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// number gives the phases their positions.
func (c *compiler) number() {
	if len(c.manifest.Phases) == 0 {
		c.fault("it has no phases")
	}
	for i := range c.manifest.Phases {
		id := c.manifest.Phases[i].ID
		if id == "" {
			c.fault("phases[%d] has no id", i)
		} else if first, twice := c.plan.index[id]; twice {
			c.fault("phases[%d] has the id %q of phases[%d]: ids are unique in a loop", i, id, first)
			continue
		}
		c.plan.index[id] = i
	}
}

// nest finds the phases that trigger inner loops.
func (c *compiler) nest() {
	for n := range c.manifest.Nesting.InnerLoops {
		loop := &c.manifest.Nesting.InnerLoops[n]
		trigger, err := manifest.ParseTrigger(loop.Trigger)
		if err != nil {
			c.fault("inner loop %s: %w", loop.LoopID, err)
			continue
		}
		if _, ok := c.plan.index[trigger.Phase]; !ok {
			c.fault("inner loop %s is triggered by phase %q, which the loop does not have", loop.LoopID, trigger.Phase)
			continue
		}
		c.inner[trigger.Phase] = append(c.inner[trigger.Phase], loop.LoopID)
	}
}

// phase compiles the phase at a position.
func (c *compiler) phase(i int) {
	from := &c.manifest.Phases[i]
	role := c.plan.settings.Aliases.Role(from)
	p := &c.plan.phases[i]
	*p = phase{
		id:         from.ID,
		kind:       from.Kind,
		role:       role,
		onFailure:  from.OnFailure.OrDefault(),
		retries:    from.Retries(),
		timeout:    time.Duration(from.TimeoutMS) * time.Millisecond,
		idempotent: from.Idempotent,
		seed:       hash(from.ID),

		routes:       from.Kind == manifest.KindRoute,
		learns:       from.Kind == manifest.KindLearn,
		acts:         role == manifest.RoleAct,
		consolidates: role == manifest.RoleConsolidate,

		inner: c.inner[from.ID],
	}
	c.limits(p)
	input := from.Inputs.From
	if p.learns && input == "" {
		input = string(manifest.EndpointSignal) + ":" + string(token.OutcomeSignalName) // what else should it learn from
	}
	c.inputs(p, input)
	c.successors(i)
}

func (c *compiler) limits(p *phase) {
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	ms := c.manifest.Phases[c.plan.index[p.id]].TimeoutMS
	if ms < 0 || int64(ms) > longest {
		c.fault("phase %s: timeout_ms %d is not in 0 … %d", p.id, ms, longest)
	}
	if p.retries < 0 {
		c.fault("phase %s: max_retries %d is negative: 0 means no further attempt", p.id, p.retries)
	}
	switch p.onFailure {
	case manifest.FailRetry, manifest.FailRollback, manifest.FailEscalate, manifest.FailSkip, manifest.FailAbortLoop:
	default:
		c.fault("phase %s: on_failure %q is none of retry, rollback, escalate, skip, abort_loop", p.id, p.onFailure)
	}
	if !slices.Contains(manifest.Kinds(), p.kind) {
		c.fault("phase %s: kind %q is none of retrieve, route, act, learn, consolidate, custom", p.id, p.kind)
	}
}

// inputs compiles inputs.from.
func (c *compiler) inputs(p *phase, from string) {
	endpoints, err := manifest.ParseEndpoints(from)
	if err != nil {
		c.fault("phase %s: inputs.from: %w", p.id, err)
		return
	}
	for _, e := range endpoints {
		to := endpoint{text: e.String()}
		switch e.Kind {
		case manifest.EndpointExternal:
			to.from, p.external = fromExternal, true
		case manifest.EndpointPhase:
			at, ok := c.plan.index[e.Name]
			if !ok {
				c.fault("phase %s: inputs.from names phase %q, which the loop does not have", p.id, e.Name)
			}
			to.from, to.phase = fromPhase, at
		case manifest.EndpointSubstrate:
			to.from = fromSubstrate
		case manifest.EndpointSignal:
			to.from, to.token = fromSignal, token.Name(e.Name)
			p.outcome = p.outcome || to.token == token.OutcomeSignalName
		}
		p.from = append(p.from, to)
	}
}

// successors compiles where a phase leads (C-134). Loops that are nested into
// the phase may be named among them (C-036); they are no place to go to.
func (c *compiler) successors(i int) {
	p := &c.plan.phases[i]
	p.next = -1
	named := c.manifest.Successors(p.id)
	var targets []int
	for _, id := range named {
		at, ok := c.plan.index[id]
		switch {
		case ok && !slices.Contains(targets, at):
			targets = append(targets, at)
		case !ok && !slices.Contains(p.inner, id):
			c.fault("phase %s leads to %q, which is no phase of the loop and no inner loop of the phase", p.id, id)
		}
	}
	after := i + 1
	if len(targets) == 0 && len(named) > 0 && after < len(c.plan.phases) {
		targets = []int{after} // nothing but inner loops: they come back to the declared order
	}
	switch {
	case p.routes:
		p.targets = targets
		if slices.Contains(targets, after) {
			p.next = after
			return
		}
	case len(targets) > 1:
		c.fault("phase %s of kind %s leads to several phases: only a route phase may choose (C-044)", p.id, p.kind)
	}
	if len(targets) > 0 {
		p.next = targets[0]
	}
}

// close finds the closure (OS-010 §1.1, C-047).
func (c *compiler) close() {
	closure := &c.manifest.Closure
	c.plan.from, c.plan.to = c.end("from_phase", closure.FromPhase), c.end("to_phase", closure.ToPhase)
}

func (c *compiler) end(member, id string) int {
	i, ok := c.plan.index[id]
	if !ok {
		c.fault("closure.%s names phase %q, which the loop does not have", member, id)
	}
	return i
}

// identify computes the digest of everything that decides.
func (c *compiler) identify() {
	s := &c.plan.settings
	canonical, err := signature.Canonical(struct {
		Manifest *manifest.Manifest `json:"manifest"`
		Settings *Settings          `json:"settings"`
		Waits    [4]string          `json:"waits"` // as text: the canonical form ends at 104 days of nanoseconds
	}{
		Manifest: c.manifest,
		Settings: &Settings{
			Backoff: Backoff{Factor: s.Backoff.Factor, NoJitter: s.Backoff.NoJitter},
			Quorum:  s.Quorum, Aliases: s.Aliases, Vars: s.Vars, Transactional: s.Transactional, MaxRuns: s.MaxRuns,
		},
		Waits: [...]string{s.Backoff.Base.String(), s.Backoff.Cap.String(), s.InnerWait.String(), s.AwaitMax.String()},
	})
	if err != nil {
		c.fault("manifest and settings have no canonical form: %w", err)
		return
	}
	c.plan.digest = signature.BLAKE3(canonical)
}
