package token

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Linearity says how often an instance of a token is consumed (v0.2 addition 1).
// It counts consumptions, not deliveries (C-066).
type Linearity string

// The linearities.
const (
	Linear       Linearity = "linear"       // exactly once
	Affine       Linearity = "affine"       // at most once
	Relevant     Linearity = "relevant"     // at least once
	Unrestricted Linearity = "unrestricted" // as often as may be
)

// Variance says which payload versions fit each other (v0.2 addition 1, C-072).
type Variance string

// The variances.
const (
	Covariant     Variance = "covariant"     // the producer's version may be a subtype of the consumer's
	Contravariant Variance = "contravariant" // the reverse
	Invariant     Variance = "invariant"     // equal name and version
)

// Entry is what the registry promises of a token.
type Entry struct {
	Name      Name
	Linearity Linearity     // zero: linear
	Variance  Variance      // zero: invariant
	TTL       time.Duration // from the event's time to its receipt; zero: no expiry (C-068)
	Reason    string        // why a token is affine; required there
}

// canonicalEntries is the table of v0.2 addition 1.
func canonicalEntries() []Entry {
	return []Entry{
		{TopologyContextName, Linear, Covariant, time.Minute, ""},
		{DeliberationRequestName, Linear, Invariant, 5 * time.Minute, ""},
		{DeliberationResultName, Linear, Invariant, 5 * time.Minute, ""},
		{OutcomeSignalName, Linear, Covariant, time.Hour, ""},
		{ReputationUpdateName, Affine, Covariant, 24 * time.Hour, "aggregated over a long window, which tolerates loss"},
		{ConsolidationEventName, Affine, Covariant, time.Hour, "housekeeping: consolidation is idempotent"},
		{SurpriseSignalName, Linear, Invariant, time.Minute, ""},
		{SessionFidelityViolationName, Linear, Invariant, 24 * time.Hour, ""},
	}
}

// Registry knows the canonical tokens and the vendor tokens of a host. It does
// not change; a nil Registry knows the canonical ones alone.
type Registry struct{ by map[Name]Entry }

// NewRegistry gives a registry of the eight canonical tokens and the vendor
// tokens given. Every fault is in the error: a name that is not of a vendor's
// form or stands twice, an unknown linearity or variance, a negative TTL, an
// affine token without a reason.
func NewRegistry(vendor ...Entry) (*Registry, error) {
	r := &Registry{by: map[Name]Entry{}}
	for _, e := range canonicalEntries() {
		r.by[e.Name] = e
	}
	var faults []error
	for _, e := range vendor {
		if e.Linearity == "" {
			e.Linearity = Linear
		}
		if e.Variance == "" {
			e.Variance = Invariant
		}
		if err := r.admit(e); err != nil {
			faults = append(faults, fmt.Errorf("token: registry: %s: %w", e.Name, err))
			continue
		}
		r.by[e.Name] = e
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return r, nil
}

func (r *Registry) admit(e Entry) error {
	if _, err := ParseName(string(e.Name)); err != nil {
		return err
	}
	_, twice := r.by[e.Name]
	switch {
	case e.Name.Canonical():
		return errors.New("a canonical token cannot be registered anew: use a vendor name (T-1-25)")
	case twice:
		return errors.New("it is registered twice")
	case !slices.Contains([]Linearity{Linear, Affine, Relevant, Unrestricted}, e.Linearity):
		return fmt.Errorf("linearity %q is none of linear, affine, relevant, unrestricted", string(e.Linearity))
	case !slices.Contains([]Variance{Covariant, Contravariant, Invariant}, e.Variance):
		return fmt.Errorf("variance %q is none of covariant, contravariant, invariant", string(e.Variance))
	case e.TTL < 0:
		return fmt.Errorf("the ttl %s is negative", e.TTL)
	case e.Linearity == Affine && e.Reason == "":
		return errors.New("an affine token needs a reason: observational, idempotent or tolerant of loss")
	}
	return nil
}

// Lookup gives the entry of a token. A vendor token that the host did not
// register is unrestricted without expiry (C-076), any other unknown name linear
// and invariant without expiry (C-071); known is false for both.
func (r *Registry) Lookup(n Name) (e Entry, known bool) {
	if r == nil {
		for _, e := range canonicalEntries() {
			if e.Name == n {
				return e, true
			}
		}
	} else if e, ok := r.by[n]; ok {
		return e, true
	}
	if _, _, _, ok := n.Vendor(); ok {
		return Entry{Name: n, Linearity: Unrestricted, Variance: Invariant}, false
	}
	return Entry{Name: n, Linearity: Linear, Variance: Invariant}, false
}

// Entries gives all entries, by name.
func (r *Registry) Entries() []Entry {
	if r == nil {
		r = &Registry{by: map[Name]Entry{}}
		for _, e := range canonicalEntries() {
			r.by[e.Name] = e
		}
	}
	var out []Entry
	for _, n := range slices.Sorted(maps.Keys(r.by)) {
		out = append(out, r.by[n])
	}
	return out
}
