package pulse

import (
	"fmt"
	"reflect"
	"time"

	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// phase is a declared phase with everything that running it needs, worked out
// once.
type phase struct {
	*binding
	id        string
	decl      *manifest.Phase
	role      manifest.Role
	operation string // <loop>/<phase>, what auth and policy are asked about
	policy    string // action of the policy check; empty: none
	only      string // the one target of a route phase; empty: none or several
	signer    *signature.Encoder
	timeout   time.Duration

	acts, routes, learns, emits bool
	memo                        bool     // idempotent, and may run again in one iteration
	fits                        []string // phases, besides this one, that the payload of a trigger at this phase suits

	connections []connection
	triggers    []trigger // of the inner loops triggered here

	inCarriers, outCarriers *carriers
}

// New builds a loop from its manifest: the functions bound to its phases, its
// substrates and settings are checked against it, and every fault is given at
// once as a [*BuildError]. The manifest must not be changed afterwards.
func New(m *manifest.Manifest, cfg Config) (*Loop, error) {
	if m == nil {
		return nil, &BuildError{Faults: []Fault{{Code: "manifest.nil", Message: "the manifest is nil"}}}
	}
	b := &builder{m: m, cfg: &cfg, fault: BuildError{Loop: m.LoopID}}
	l := b.build()
	if len(b.fault.Faults) > 0 {
		return nil, &b.fault
	}
	return l, nil
}

// builder collects the faults of a loop.
type builder struct {
	m     *manifest.Manifest
	cfg   *Config
	fault BuildError
}

func (b *builder) add(f Fault) { b.fault.Faults = append(b.fault.Faults, f) }

func (b *builder) addf(code, phase, pointer, format string, args ...any) {
	b.add(Fault{Code: code, Phase: phase, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) build() *Loop {
	if b.cfg.Settings.Aliases == nil {
		b.cfg.Settings.Aliases = manifest.ReferenceAliases(b.m.LoopID)
	}
	if !b.checkManifest() {
		return nil
	}
	plan, err := machine.Compile(b.m, b.cfg.Settings)
	if err != nil {
		b.add(Fault{Code: "plan", Message: err.Error(), Err: err})
		return nil
	}
	limits := b.cfg.Limits.withDefaults()
	l := &Loop{
		manifest: b.m, plan: plan, cfg: *b.cfg, limits: limits, index: map[string]int{},
		gate: newGate(limits.PerWorkspace, limits.Queue), closing: b.m.Index(b.m.Closure.FromPhase),
		immediate: b.m.Closure.Guarantee == manifest.GuaranteeImmediate,
		echoes:    b.m.Invariants[manifest.TraceIDPropagation],
		learner:   learner(b.m),
		previous:  closings{by: map[string]machine.Payload{}},
		flights:   flights{by: map[flightKey]*flight{}},
		waits:     waits{by: map[waitKey]*wait{}, due: map[string]*due{}, earlyOf: map[string]int{}},
	}
	if l.immediate {
		l.gate.limit = 1
	}
	if v, err := manifest.ParseProtocol(b.m.ProtocolVersion); err == nil {
		l.minor = v.Minor
	}
	l.journal, l.durable = b.cfg.Journal, b.cfg.Journal != nil
	if !l.durable {
		l.journal = newVolatile()
	}
	for i, rule := range b.cfg.Invariants {
		if isNil(rule) {
			b.addf("invariant.nil", "", "", "Config.Invariants[%d] is nil", i)
		}
	}
	for i, o := range b.cfg.Observers {
		if isNil(o) {
			b.addf("observer.nil", "", "", "Config.Observers[%d] is nil", i)
		}
	}
	if b.cfg.Journal != nil && isNil(b.cfg.Journal) {
		b.addf("journal.nil", "", "", "Config.Journal holds a nil pointer: leave it out, or give a journal")
	}
	if b.cfg.Tracer != nil && isNil(b.cfg.Tracer) {
		b.addf("tracer.nil", "", "", "Config.Tracer holds a nil pointer: leave it out, or give a tracer")
	}
	l.rules = append(invariant.Rules(b.m), b.cfg.Invariants...)
	l.metrics.init(l)
	b.phases(l)
	b.checkTypes(l)
	b.checkSubstrates(l)
	b.checkGraph(l)
	return l
}

// phases joins declarations and bindings.
func (b *builder) phases(l *Loop) {
	bound := b.bindings()
	l.phases = make([]phase, len(b.m.Phases))
	for i := range b.m.Phases {
		d := &b.m.Phases[i]
		l.index[d.ID] = i
		p := &l.phases[i]
		*p = phase{
			id: d.ID, decl: d, role: l.cfg.Settings.Aliases.Role(d), operation: b.m.LoopID + "/" + d.ID,
			timeout: time.Duration(d.TimeoutMS) * time.Millisecond, policy: d.PolicyCheck,
			routes: d.Kind == manifest.KindRoute, learns: d.Kind == manifest.KindLearn,
			binding: bound[d.ID],
		}
		if p.binding == nil {
			b.addf("phase.unbound", d.ID, pointer(i), "no function is bound to it: add pulse.BindFunc(…) to Config.Phases")
			continue
		}
		p.acts = d.Kind == manifest.KindAct || p.role == manifest.RoleAct || p.form == formAct
		if p.policy == "" && (d.Kind == manifest.KindAct || p.role == manifest.RoleAct) {
			p.policy = d.ID
		}
		// κ may have come since a route phase decided, so a remembered decision does
		// not stand where κ-routing is on (C-083).
		p.memo = d.Idempotent && l.plan.Repeats(d.ID) && (!p.routes || !b.m.Invariants[manifest.KappaRouting])
		if ts := l.plan.Targets(d.ID); p.routes && len(ts) == 1 && len(l.plan.Inner(d.ID)) == 0 {
			p.only = ts[0]
		}
		if d.Invariant == manifest.QuorumBeforeCommit {
			l.elects = d.ID
		}
		p.emits = carriesTokens(p.binding.out)
		p.inCarriers, p.outCarriers = carriersOf(p.in), carriersOf(p.binding.out)
		l.timed = l.timed || p.timeout > 0
		p.signer, _ = signature.EncoderFor(p.in) // its fault is that of the type
	}
	b.connections(l)
	b.triggers(l)
	l.fit()
}

// bindings gives the bindings by phase id.
func (b *builder) bindings() map[string]*binding {
	by := map[string]*binding{}
	for i, bd := range b.cfg.Phases {
		if isNil(bd) {
			b.addf("binding.nil", "", "", "Config.Phases[%d] is nil", i)
			continue
		}
		var e *binding
		if err := guard(func() error { e = bd.binding(); return nil }); err != nil || e == nil {
			b.addf("binding.nil", "", "", "Config.Phases[%d] holds no binding", i)
			continue
		}
		switch {
		case b.m.Phase(e.id) == nil:
			b.addf("binding.unknown", e.id, "", "the manifest has no such phase%s", nearest(e.id, b.ids()))
		case by[e.id] != nil:
			b.addf("binding.twice", e.id, "", "two functions are bound to it: keep one")
		case e.call == nil:
			b.addf("binding.nil", e.id, "", "the function bound to it is nil")
			by[e.id] = e
		default:
			by[e.id] = e
		}
	}
	return by
}

func (b *builder) ids() []string {
	ids := make([]string, len(b.m.Phases))
	for i := range b.m.Phases {
		ids[i] = b.m.Phases[i].ID
	}
	return ids
}

// fit works out which phases besides the entry take the payload of a trigger:
// those of the same input type whose from reads it.
func (l *Loop) fit() {
	for i := range l.phases {
		for j := range l.phases {
			p, q := &l.phases[i], &l.phases[j]
			if i != j && p.binding != nil && q.binding != nil && p.in == q.in {
				p.fits = append(p.fits, q.id)
			}
		}
	}
}

// take gives the phase its input as a value of its input type.
func (p *phase) take(in machine.Input) (any, error) {
	if in.Source == machine.FromOutcome {
		return p.outcome(in)
	}
	if in.Payload.IsZero() {
		return p.zeroIn(), nil
	}
	v, err := p.value(in.Payload, p.decodeIn)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return p.zeroIn(), nil
	}
	if t := reflect.TypeOf(v); t != p.in && !t.AssignableTo(p.in) {
		return nil, &TypeError{Want: p.in, Got: t}
	}
	return v, nil
}

// outcome makes the input of a learn phase from an outcome and the act's value.
func (p *phase) outcome(in machine.Input) (any, error) {
	switch {
	case p.feedback != nil:
		v, err := p.value(in.Payload, p.decodeValue)
		if err != nil {
			return nil, err
		}
		return p.feedback(*in.Outcome, v), nil
	case p.in == reflect.TypeFor[token.OutcomeSignal]():
		return *in.Outcome, nil
	default:
		return p.take(machine.Input{Source: machine.FromPhase, Payload: in.Payload})
	}
}

// out gives an output of the phase as a value of its output type.
func (p *phase) out(pl machine.Payload) (any, error) { return p.value(pl, p.decodeOut) }

// value gives what a payload holds: the value itself in process, decoded JSON
// after a crossing.
func (p *phase) value(pl machine.Payload, decode func([]byte) (any, error)) (any, error) {
	if v, ok := pl.Value(); ok {
		return v, nil
	}
	if raw := pl.JSON(); raw != nil {
		return decode(raw)
	}
	return nil, nil
}

// fits checks the value of a decision against the input type of its target.
func (l *Loop) fits(d Decision) error {
	i, ok := l.index[d.To]
	if !ok {
		return nil // the machine refuses the target
	}
	if t := reflect.TypeOf(d.Value); !t.AssignableTo(l.phases[i].in) {
		return fmt.Errorf("decision for phase %s: %w", d.To, &TypeError{Want: l.phases[i].in, Got: t})
	}
	return nil
}

// learner is the phase under which outcomes are recorded that no iteration takes.
func learner(m *manifest.Manifest) string {
	for i := range m.Phases {
		if m.Phases[i].Kind == manifest.KindLearn {
			return m.Phases[i].ID
		}
	}
	return m.Closure.FromPhase
}

func pointer(i int) string { return fmt.Sprintf("/phases/%d", i) }

// resolved gives the set of a loop whose substrates are the same everywhere.
func (b *builder) resolved() (substrate.Set, bool) {
	s, ok := b.cfg.Substrates.(substrate.Set)
	return s, ok
}

// Must gives the loop, or panics with the error: for loops whose manifest is part
// of the program.
func Must(l *Loop, err error) *Loop {
	if err != nil {
		panic(err) //nolint:forbidigo // the one place that may: its name says so
	}
	return l
}
