package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// The defaults of [Settings].
const (
	DefaultQuorum    = 0.66            // OS-010 §7.5, C-084
	DefaultInnerWait = 5 * time.Minute // C-086
	DefaultMaxRuns   = 1000
	DefaultAwaitMax  = 24 * time.Hour
)

// Settings are the decisions that a manifest leaves to the host. They are data
// with a JSON form, so that a process without the phase functions can compile
// the same plan. The zero value works: a member that is zero stands for its
// default. Durations are nanoseconds in JSON.
type Settings struct {
	Backoff       Backoff          `json:"backoff,omitzero"`
	Quorum        float64          `json:"quorum,omitempty"`        // confidence that releases a commit, in (0, 1]; default 0.66
	InnerWait     time.Duration    `json:"inner_wait,omitempty"`    // bound of the waits for inner loops; default 5 min
	Aliases       manifest.Aliases `json:"aliases,omitempty"`       // the roles of custom kinds (C-016)
	Vars          map[string]any   `json:"vars,omitempty"`          // host variables of predicates; JSON values
	Transactional []substrate.Slot `json:"transactional,omitempty"` // slots whose substrate has transactions
	MaxRuns       int              `json:"max_runs,omitempty"`      // runs of one phase in one iteration; default 1000
	AwaitMax      time.Duration    `json:"await_max,omitempty"`     // bound of the wait for a signal; default 24 h
}

// withDefaults fills the zero members. The result shares nothing with s but the
// values in Vars.
func (s Settings) withDefaults() Settings {
	s.Backoff = s.Backoff.withDefaults()
	s.Aliases = maps.Clone(s.Aliases)
	s.Vars = maps.Clone(s.Vars)
	s.Transactional = slices.Clone(s.Transactional)
	s.Quorum = orDefault(s.Quorum, DefaultQuorum)
	s.InnerWait = orDefault(s.InnerWait, DefaultInnerWait)
	s.MaxRuns = orDefault(s.MaxRuns, DefaultMaxRuns)
	s.AwaitMax = orDefault(s.AwaitMax, DefaultAwaitMax)
	return s
}

func (s Settings) check() error {
	faults := []error{s.Backoff.check()}
	if !(s.Quorum >= 0 && s.Quorum <= 1) {
		faults = append(faults, fmt.Errorf("quorum %v is not in (0, 1]: give a confidence, or 0 for %v", s.Quorum, DefaultQuorum))
	}
	if s.InnerWait < 0 {
		faults = append(faults, fmt.Errorf("inner_wait %s is negative: give a positive duration, or 0 for %s", s.InnerWait, DefaultInnerWait))
	}
	if s.MaxRuns < 0 {
		faults = append(faults, fmt.Errorf("max_runs %d is negative: give a positive number, or 0 for %d", s.MaxRuns, DefaultMaxRuns))
	}
	if s.AwaitMax < 0 {
		faults = append(faults, fmt.Errorf("await_max %s is negative: give a positive duration, or 0 for %s", s.AwaitMax, DefaultAwaitMax))
	}
	for _, slot := range s.Transactional {
		if !slices.Contains(manifest.Slots(), slot) {
			faults = append(faults, fmt.Errorf("transactional names %q, which is none of the six slots", slot))
		}
	}
	return errors.Join(faults...)
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
