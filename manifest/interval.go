package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Interval is the time between two slots of a periodic cadence (OS-010 §8.2): a
// fixed length, or a number of calendar months in UTC, never both (C-055).
type Interval struct {
	Fixed  time.Duration
	Months int
}

// ParseInterval reads a positive Go duration, or hourly, daily, weekly or monthly
// (C-055).
func ParseInterval(s string) (Interval, error) {
	switch s {
	case "hourly":
		return Interval{Fixed: time.Hour}, nil
	case "daily":
		return Interval{Fixed: 24 * time.Hour}, nil
	case "weekly":
		return Interval{Fixed: 7 * 24 * time.Hour}, nil
	case "monthly":
		return Interval{Months: 1}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return Interval{}, fmt.Errorf("interval %s: write a positive duration such as 90s or 1h30m, or hourly, daily, weekly or monthly", shorten(s))
	}
	return Interval{Fixed: d}, nil
}

// String writes the interval so that ParseInterval reads it.
func (i Interval) String() string {
	if i.Months == 1 {
		return "monthly"
	}
	return i.Fixed.String()
}

// ParseOffset reads the phase_offset of a periodic cadence: a Go duration that is
// not negative (OS-010 §8.2).
func ParseOffset(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("phase_offset %s: write a duration such as 0s or 15m, not below zero", shorten(s))
	}
	return d, nil
}

// Rate is how often something may happen: N times in every Per, as a token bucket
// (OS-010 §8.6, C-055).
type Rate struct {
	N   int
	Per time.Duration
}

var rateUnits = []struct {
	name string
	per  time.Duration
}{
	{"sec", time.Second}, {"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}, {"day", 24 * time.Hour},
}

// ParseRate reads <n>/<unit> with a positive n and s, sec, min, h or day (C-055).
func ParseRate(s string) (Rate, error) {
	count, unit, _ := strings.Cut(s, "/")
	if n, ok := parseDecimal(count); ok && n > 0 {
		for _, u := range rateUnits {
			if u.name == unit {
				return Rate{N: n, Per: u.per}, nil
			}
		}
	}
	return Rate{}, fmt.Errorf("rate %s: write <n>/<unit> with n at least 1 and the unit s, sec, min, h or day, such as 10/min", shorten(s))
}

// String writes the rate so that ParseRate reads it.
func (r Rate) String() string {
	for _, u := range rateUnits {
		if u.per == r.Per {
			return strconv.Itoa(r.N) + "/" + u.name
		}
	}
	return strconv.Itoa(r.N) + "/" + r.Per.String()
}
