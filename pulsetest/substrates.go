package pulsetest

import "github.com/opensentience/pulse-go/substrate"

// Substrates is one substrate of each slot, ready for use and for inspection.
type Substrates struct {
	Memory *Memory
	Policy *Policy
	Audit  *Audit
	Auth   *Auth
	Time   *Time
}

// NewSubstrates returns new, empty substrates.
func NewSubstrates() *Substrates {
	return &Substrates{Memory: new(Memory), Policy: new(Policy), Audit: new(Audit), Auth: new(Auth), Time: new(Time)}
}

// Set returns the substrates as a loop takes them.
func (s *Substrates) Set() substrate.Set {
	return substrate.Set{Memory: s.Memory, Policy: s.Policy, Audit: s.Audit, Auth: s.Auth, Time: s.Time}
}
