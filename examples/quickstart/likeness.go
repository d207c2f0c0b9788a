package main

import "math"

// sight is a day in numbers that can be compared. Each is scaled so that a
// difference of 1 is about as telling as in any other.
type sight [9]float64

// see puts a day into numbers, in the light of the day kept before it.
func (s *Store) see(d Day) sight {
	before := s.latest
	if len(s.kept) == 0 {
		before = d
	}
	season := 2 * math.Pi * float64(d.Date.YearDay()) / 365.25
	return sight{
		0.5 * math.Sin(season),
		0.5 * math.Cos(season),
		indicator(d.Wet()),
		math.Log1p(d.Precipitation),
		2 * s.spellOn(d),
		(d.High - d.Low) / 6, // a small range is a sign of clouds
		d.Wind / 2,
		(d.High - before.High) / 5,
		(d.Low - before.Low) / 4,
	}
}

// spellOn tells how wet it has been lately, in [0, 1]: a day counts for a
// quarter, those before it for the rest.
func (s *Store) spellOn(d Day) float64 { return 0.75*s.spell + 0.25*indicator(d.Wet()) }

// likeness is 1 for days that look the same and falls towards 0.
func (a *sight) likeness(b *sight) float64 {
	square := 0.0
	for i := range a {
		square += (a[i] - b[i]) * (a[i] - b[i])
	}
	return 1 / (1 + 3*square)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
