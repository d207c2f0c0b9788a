package machine

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// The defaults of [Backoff] (C-042).
const (
	DefaultBackoffBase   = 100 * time.Millisecond
	DefaultBackoffFactor = 2.0
	DefaultBackoffCap    = 30 * time.Second
)

// Backoff says how long to wait between the attempts of a phase (OS-010 §5.4,
// C-042). It is plain data without a position: asking for a delay changes
// nothing. The zero value of each member stands for its default.
type Backoff struct {
	Base     time.Duration `json:"base,omitempty"`      // after the first failed attempt, nanoseconds; default 100 ms
	Factor   float64       `json:"factor,omitempty"`    // growth per further attempt, at least 1; default 2
	Cap      time.Duration `json:"cap,omitempty"`       // upper bound of every delay, nanoseconds; default 30 s
	NoJitter bool          `json:"no_jitter,omitempty"` // wait the full delay and not a random part of it
}

// Delay gives the wait that follows the failure of the given attempt, counted
// from 1: Base·Factor^(attempt−1), at most Cap. With jitter it is drawn evenly
// from the whole range above zero, as a function of seed and attempt, so the
// same arguments always give the same delay.
//
// The result is positive for every argument: growth saturates at Cap, and a
// base, factor or cap that [Compile] would refuse never shortens the wait below
// what a factor of 1 gives.
func (b Backoff) Delay(attempt int, seed uint64) time.Duration {
	b = b.withDefaults()
	d := b.bound(max(attempt, 1))
	if b.NoJitter {
		return d
	}
	high, _ := bits.Mul64(mix(seed+uint64(attempt)*goldenRatio), uint64(d))
	return time.Duration(high) + 1
}

// bound gives the delay before jitter, in [1 ns, Cap].
func (b Backoff) bound(attempt int) time.Duration {
	if attempt == 1 || b.Factor == 1 {
		return min(b.Base, b.Cap)
	}
	d := float64(b.Base) * math.Pow(b.Factor, float64(attempt-1))
	if !(d < float64(b.Cap)) { // also where d is infinite or no number
		return b.Cap
	}
	return max(time.Duration(d), 1)
}

func (b Backoff) withDefaults() Backoff {
	if b.Base <= 0 {
		b.Base = DefaultBackoffBase
	}
	if b.Cap <= 0 {
		b.Cap = DefaultBackoffCap
	}
	switch {
	case b.Factor == 0:
		b.Factor = DefaultBackoffFactor
	case !(b.Factor >= 1): // also NaN
		b.Factor = 1
	}
	return b
}

func (b Backoff) check() error {
	var faults []error
	if b.Base < 0 {
		faults = append(faults, fmt.Errorf("backoff base %s is negative: give a positive duration, or 0 for %s", b.Base, DefaultBackoffBase))
	}
	if b.Cap < 0 {
		faults = append(faults, fmt.Errorf("backoff cap %s is negative: give a positive duration, or 0 for %s", b.Cap, DefaultBackoffCap))
	}
	if b.Factor != 0 && !(b.Factor >= 1 && !math.IsInf(b.Factor, 1)) {
		faults = append(faults, fmt.Errorf("backoff factor %v would shrink the delay or is not finite: give 1 or more, or 0 for %v", b.Factor, DefaultBackoffFactor))
	}
	return errors.Join(faults...)
}

const goldenRatio = 0x9e3779b97f4a7c15

// mix scatters the bits of x evenly; it is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash is FNV-1a: stable across processes, which the standard library's
// hash/maphash is not.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
