package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/opensentience/pulse-go/substrate"
)

// Result is a forecast and the day that came.
type Result struct {
	Forecast Forecast
	Came     Day
}

// History is all results, oldest first.
type History []Result

// predictors are what the report compares: the loop, and two that need no loop.
var predictors = [...]string{"loop", "same as today", "more frequent so far"}

const loopItself, sameAsToday = 0, 1

// Right says for each result which predictors were right.
func (h History) Right() [][len(predictors)]bool {
	right := make([][len(predictors)]bool, len(h))
	wet := 0 // days so far, today among them
	for i, r := range h {
		if r.Forecast.Today.Wet() {
			wet++
		}
		frequent := 2*wet > i+1
		for j, said := range [...]bool{r.Forecast.Wet, r.Forecast.Today.Wet(), frequent} {
			right[i][j] = said == r.Came.Wet()
		}
	}
	return right
}

// LastMonth gives the line of progress for the newest month.
func (h History) LastMonth() string {
	month, n, right := h[len(h)-1].Came.Month(), 0, 0
	for i := len(h) - 1; i >= 0 && h[i].Came.Month() == month; i-- {
		n++
		if h[i].Forecast.Wet == h[i].Came.Wet() {
			right++
		}
	}
	return fmt.Sprintf("%s  %d of %d days foreseen", month, right, n)
}

// Report is what a whole run comes to.
type Report struct {
	History    History
	Remembered int // nodes of memory that hold days
	Log        *Log
	Took       time.Duration
}

// Print writes the report. All of it but the last line is the same on every
// run.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	h := r.History
	if len(h) == 0 {
		_, err := io.WriteString(w, "no forecasts\n")
		return err
	}
	fmt.Fprintf(&b, "Will the next day be wet? Seattle, %s to %s, %s forecasts.\n\n", h[0].Came.ID(), h[len(h)-1].Came.ID(), thousands(len(h)))
	rights := h.Right()
	years, by, all := h.scores(rights)
	table(&b, years, by, all)
	verdict(&b, rights, all)
	r.books(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// score counts who was right how often.
type score struct {
	n     int
	right [len(predictors)]int
}

// best is who was right most often, the loop in doubt.
func (s score) best() int {
	best := 0
	for j := range s.right {
		if s.right[j] > s.right[best] {
			best = j
		}
	}
	return best
}

// scores counts by year, and over all years.
func (h History) scores(rights [][len(predictors)]bool) (years []int, by map[int]*score, all score) {
	by = map[int]*score{}
	for i, r := range h {
		y := r.Came.Date.Year()
		if by[y] == nil {
			years, by[y] = append(years, y), &score{}
		}
		for _, s := range [...]*score{by[y], &all} {
			s.n++
			for j, ok := range rights[i] {
				if ok {
					s.right[j]++
				}
			}
		}
	}
	return years, by, all
}

func table(b *strings.Builder, years []int, by map[int]*score, all score) {
	b.WriteString("year    forecasts")
	for _, p := range predictors {
		fmt.Fprintf(b, "  %s", p)
	}
	row := func(name string, s *score) {
		fmt.Fprintf(b, "\n%-6s  %9s", name, thousands(s.n))
		for j, p := range predictors {
			fmt.Fprintf(b, "  %*s", max(len(p), 6), fmt.Sprintf("%.1f %%", percent(s.right[j], s.n)))
		}
	}
	for _, y := range years {
		row(fmt.Sprint(y), by[y])
	}
	row("all", &all)
	b.WriteString("\n\n")
	for _, y := range years {
		if best := by[y].best(); best != loopItself {
			fmt.Fprintf(b, "In %d %q was better than the loop.\n", y, predictors[best])
		}
	}
}

// verdict says plainly who won, and whether chance would do as an explanation.
func verdict(b *strings.Builder, rights [][len(predictors)]bool, all score) {
	rival := sameAsToday
	for j := sameAsToday; j < len(predictors); j++ {
		if all.right[j] > all.right[rival] {
			rival = j
		}
	}
	gained, lost := 0, 0
	for _, ok := range rights {
		switch {
		case ok[loopItself] && !ok[rival]:
			gained++
		case !ok[loopItself] && ok[rival]:
			lost++
		}
	}
	switch {
	case gained > lost:
		fmt.Fprintf(b, "The loop wins over %q by %d forecasts", predictors[rival], gained-lost)
	case gained < lost:
		fmt.Fprintf(b, "The loop loses to %q by %d forecasts", predictors[rival], lost-gained)
	default:
		fmt.Fprintf(b, "The loop and %q are even", predictors[rival])
	}
	fmt.Fprintf(b, ": right in %d where that was wrong, wrong in %d where that was right.\n", gained, lost)
	// Sign test: under mere chance gained − lost has the variance gained + lost.
	if math.Abs(float64(gained-lost)) < 1.96*math.Sqrt(float64(gained+lost)) {
		b.WriteString("Chance would do as an explanation (sign test, 5 %).\n")
	} else {
		b.WriteString("Chance hardly explains that (sign test, 5 %).\n")
	}
	if gained > lost {
		b.WriteString("Hindsight may have helped: the scales in likeness.go were chosen with these years in view.\n")
	}
	b.WriteByte('\n')
}

// books says what the engine and the store did meanwhile.
func (r Report) books(b *strings.Builder) {
	n := len(r.History)
	similar := 0
	for _, x := range r.History {
		if x.Forecast.By == bySimilarDays {
			similar++
		}
	}
	total := 0
	for _, c := range classes {
		total += r.Log.Events(c)
	}
	fmt.Fprintf(b, "forecasts     %s from similar days, %s by the rule\n", thousands(similar), thousands(n-similar))
	fmt.Fprintf(b, "memory        %s days in %s nodes\n", thousands(n), thousands(r.Remembered))
	fmt.Fprintf(b, "closure rate  %.3f\n", r.Log.Metric("quickstart.closure_rate"))
	fmt.Fprintf(b, "audit events  %s:", thousands(total))
	for i, c := range classes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, " %s %s", thousands(r.Log.Events(c)), c)
	}
	fmt.Fprintf(b, "\nspeed         %s iterations a second\n", thousands(int(r.Log.Metric("quickstart.iteration_count")/r.Took.Seconds())))
}

var classes = [...]substrate.EventClass{
	substrate.ClassTransition, substrate.ClassMutation, substrate.ClassSignal, substrate.ClassLifecycle,
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

// thousands writes a number as 1,460.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
