package machine

import (
	"slices"
	"time"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
)

// Plan is a manifest compiled for running. It does not change and may be shared
// by any number of machines and goroutines. Methods that take a phase id give
// the zero value for an id that the loop does not have.
type Plan struct {
	loop     string
	version  string
	digest   signature.Digest
	settings Settings
	idle     bool // an idle cadence is armed
	from, to int  // the closure
	phases   []phase
	index    map[string]int
}

// phase is a phase of a plan. Other phases are named by their position.
type phase struct {
	id         string
	kind       manifest.Kind
	role       manifest.Role
	onFailure  manifest.OnFailure
	retries    int
	timeout    time.Duration
	idempotent bool
	repeats    bool
	seed       uint64 // of the jitter

	from     []endpoint // nil: the output of the phase before, never of a learn phase
	external bool       // external is among them
	outcome  bool       // signal:OutcomeSignal is among them

	routes       bool // it decides where to go; its kind is route
	learns       bool // it takes outcomes; its kind is learn
	acts         bool // its role is act
	consolidates bool // its role is consolidate

	next    int   // without a decision; -1 ends the iteration
	targets []int // what a decision may name
	inner   []string
}

// Loop gives the loop's id.
func (p *Plan) Loop() string { return p.loop }

// Version gives the loop's version.
func (p *Plan) Version() string { return p.version }

// Digest identifies everything that decides: the manifest and the settings.
// Plans with equal digests give equal commands for equal results.
func (p *Plan) Digest() signature.Digest { return p.digest }

// Settings gives the settings with every default filled in. Do not change what
// its maps and slices hold.
func (p *Plan) Settings() Settings { return p.settings }

// Phases gives the ids of the phases in declared order.
func (p *Plan) Phases() []string {
	ids := make([]string, len(p.phases))
	for i := range p.phases {
		ids[i] = p.phases[i].id
	}
	return ids
}

// Index gives the position of a phase in declared order, -1 for an unknown id.
func (p *Plan) Index(phase string) int {
	i, ok := p.index[phase]
	if !ok {
		return -1
	}
	return i
}

// Kind gives the kind of a phase.
func (p *Plan) Kind(phase string) manifest.Kind { return p.phase(phase).kind }

// Role gives the role of a phase: its kind, or what an alias makes of a custom
// kind.
func (p *Plan) Role(phase string) manifest.Role { return p.phase(phase).role }

// OnFailure gives the directive of a phase, the default filled in.
func (p *Plan) OnFailure(phase string) manifest.OnFailure { return p.phase(phase).onFailure }

// Retries gives how many further attempts of a phase, and of its compensation,
// may follow the first.
func (p *Plan) Retries(phase string) int { return p.phase(phase).retries }

// Timeout gives the bound of a phase's run time, 0 for none.
func (p *Plan) Timeout(phase string) time.Duration { return p.phase(phase).timeout }

// Idempotent reports whether equal calls of a phase give one output (OS-010
// §5.2).
func (p *Plan) Idempotent(phase string) bool { return p.phase(phase).idempotent }

// Repeats reports whether a phase can run more than once in one iteration: it
// lies on a cycle of the successor relation, the closure aside. Only then is
// there anything to remember.
func (p *Plan) Repeats(phase string) bool { return p.phase(phase).repeats }

// Next gives the phase that follows without a decision; empty where the
// iteration ends.
func (p *Plan) Next(phase string) string {
	i, ok := p.index[phase]
	if !ok || p.phases[i].next < 0 || p.closes(i, p.phases[i].next) {
		return ""
	}
	return p.phases[p.phases[i].next].id
}

// Targets gives the phases that a route phase may decide for (C-044); nil for
// any other kind.
func (p *Plan) Targets(phase string) []string {
	var ids []string
	for _, i := range p.phase(phase).targets {
		ids = append(ids, p.phases[i].id)
	}
	return ids
}

// Inner gives the loops that the manifest nests into a phase, in declared order
// (OS-010 §11.1).
func (p *Plan) Inner(phase string) []string { return slices.Clone(p.phase(phase).inner) }

func (p *Plan) phase(id string) *phase {
	if i, ok := p.index[id]; ok {
		return &p.phases[i]
	}
	return &phase{}
}

// closes reports whether going from one phase to another is the closure, which
// ends the iteration.
func (p *Plan) closes(from, to int) bool { return from == p.from && to == p.to }
