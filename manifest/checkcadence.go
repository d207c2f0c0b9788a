package manifest

import (
	"maps"
	"slices"
)

// cadences checks the primary cadence and its fallbacks (OS-010 §3.3, §8).
func (c *checker) cadences() {
	place := []any{"cadence"}
	for cad := &c.m.Cadence; cad != nil; cad = cad.Fallback {
		if slices.Contains(CadenceTypes(), cad.Type) {
			c.cadence(cad, place)
		}
		place = append(slices.Clone(place), "fallback")
	}
}

// paramNames are the parameters that OS-010 §8 defines; the first ones are needed
// for an iteration ever to start.
func (t CadenceType) paramNames() (names []string, needed int) {
	switch t {
	case CadenceEvent:
		return []string{"trigger", "filter"}, 1
	case CadencePeriodic:
		return []string{"interval", "phase_offset"}, 1
	case CadenceStreaming:
		return []string{"stream", "batch_size"}, 1
	case CadenceIdle:
		return []string{"min_idle_ms", "max_iteration_per_idle"}, 1
	case CadenceCrossLoopSignal:
		return []string{"from_loop", "token", "from_phase"}, 2
	default:
		return []string{"interface", "rate_limit"}, 0
	}
}

func (c *checker) cadence(cad *Cadence, place []any) {
	param := func(name string) []any { return append(slices.Clone(place), "params", name) }
	p := c.readParams(cad, param)
	for _, f := range p.faults {
		c.fail(f.code, at(param(f.Param)...), "%s", f.Problem)
	}
	names, needed := cad.Type.paramNames()
	for _, name := range names[:needed] {
		if _, given := cad.Params[name]; !given {
			c.warn(CodeCadenceParam, at(append(slices.Clone(place), "params")...), "without %s no iteration starts by this cadence; add it", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cad.Params)) {
		if !slices.Contains(names, name) {
			c.unknownParam(name, names, param(name))
		}
	}
	if cad.Params != nil {
		c.writable(cad.Params, func() string { return at(append(slices.Clone(place), "params")...) })
	}
}

// readParams reads the parameters as the accessors do, and checks what they refer
// to.
func (c *checker) readParams(cad *Cadence, param func(string) []any) *params {
	p := cad.params(cad.Type)
	switch cad.Type {
	case CadenceEvent:
		p.text("trigger")
		if filter := p.text("filter"); filter != "" {
			c.predicate(filter, at(param("filter")...))
		}
	case CadencePeriodic:
		parsed(p, "interval", CodeInterval, ParseInterval)
		parsed(p, "phase_offset", CodeInterval, ParseOffset)
	case CadenceStreaming:
		p.text("stream")
		p.integer("batch_size", 1, 1)
	case CadenceIdle:
		p.integer("min_idle_ms", 0, 0)
		p.integer("max_iteration_per_idle", 1, 1)
	case CadenceCrossLoopSignal:
		if id := p.text("from_loop"); id != "" && !isLoopID(id) {
			c.fail(CodeLoopID, at(param("from_loop")...), "%s", loopIDForm(id))
		}
		if id := p.text("from_phase"); id != "" && !isPhaseID(id) {
			c.fail(CodePhaseID, at(param("from_phase")...), "%s is no phase id; write a–z, 0–9 and _", shorten(id))
		}
		if name := p.text("token"); name != "" {
			c.token(name, func() string { return at(param("token")...) })
		}
	case CadenceManual:
		p.text("interface")
		parsed(p, "rate_limit", CodeRate, ParseRate)
	}
	return p
}

// unknownParam: parameters are free-form, so one that nobody knows is only worth a
// look.
func (c *checker) unknownParam(name string, known []string, place []any) {
	hint := c.meant(name, known)
	report := c.note
	if hint != "" {
		report = c.warn
	}
	report(CodeCadenceParam, at(place...), "%s is no parameter of this cadence, and is left to the host%s", shorten(name), hint)
}
