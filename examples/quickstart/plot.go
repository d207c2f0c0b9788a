package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

const (
	plotWidth, plotHeight = 860, 440
	plotLeft, plotRight   = 72, 836
	plotTop, plotBottom   = 76, 376

	trailing = 180 // days over which accuracy is taken
)

// The loop is drawn last, over the others. The colors can be told apart without
// seeing red or green.
var strokes = [len(predictors)]struct {
	color string
	width float64
}{{"#0072b2", 2.6}, {"#d55e00", 1.6}, {"#8a8a8a", 1.6}}

// Plot draws the accuracy over time of the loop and of the two baselines as an
// SVG that needs no other file.
func Plot(h History) []byte {
	p := plotter{history: h, accuracy: h.trailingAccuracy(trailing)}
	p.low, p.high = p.bounds()
	fmt.Fprintf(&p.svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&p.svg, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	p.text(plotLeft, 26, "start", `font-size="17" font-weight="bold"`, "Will the next day be wet? Forecasts for Seattle")
	p.yAxis()
	p.xAxis()
	for j := len(predictors) - 1; j >= 0; j-- {
		p.line(j)
	}
	p.legend()
	p.svg.WriteString("</svg>\n")
	return p.svg.Bytes()
}

// trailingAccuracy gives, for each day with n results up to it, the share in
// percent of them that each predictor foresaw.
func (h History) trailingAccuracy(n int) [][len(predictors)]float64 {
	var accuracy [][len(predictors)]float64
	var right [len(predictors)]int
	rights := h.Right()
	for i := range rights {
		for j := range right {
			if rights[i][j] {
				right[j]++
			}
			if i >= n && rights[i-n][j] {
				right[j]--
			}
		}
		if i >= n-1 {
			var a [len(predictors)]float64
			for j := range a {
				a[j] = percent(right[j], n)
			}
			accuracy = append(accuracy, a)
		}
	}
	return accuracy
}

type plotter struct {
	history   History
	accuracy  [][len(predictors)]float64 // of the last days of the history
	low, high float64                    // percent at the bottom and top
	svg       bytes.Buffer
}

// bounds are the tens around the lines.
func (p *plotter) bounds() (low, high float64) {
	low, high = 50, 60
	for _, a := range p.accuracy {
		for _, v := range a {
			low, high = min(low, 10*math.Floor(v/10)), max(high, 10*math.Ceil(v/10))
		}
	}
	return low, high
}

// x is the place of the i-th result.
func (p *plotter) x(i int) float64 {
	return plotLeft + (plotRight-plotLeft)*float64(i)/float64(max(len(p.history)-1, 1))
}

func (p *plotter) y(percent float64) float64 {
	return plotBottom - (plotBottom-plotTop)*(percent-p.low)/(p.high-p.low)
}

func (p *plotter) text(x, y float64, anchor, attrs, s string) {
	fmt.Fprintf(&p.svg, `<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>`+"\n", x, y, anchor, attrs, s)
}

func (p *plotter) rule(x1, y1, x2, y2 float64, color string) {
	fmt.Fprintf(&p.svg, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, color)
}

func (p *plotter) yAxis() {
	for v := p.low; v <= p.high; v += 10 {
		p.rule(plotLeft, p.y(v), plotRight, p.y(v), "#e2e2e2")
		p.text(plotLeft-8, p.y(v)+4.5, "end", "", fmt.Sprintf("%.0f", v))
	}
	middle := float64(plotTop+plotBottom) / 2
	p.text(22, middle, "middle", fmt.Sprintf(`transform="rotate(-90 22 %.1f)"`, middle), fmt.Sprintf("right in the %d days before (%%)", trailing))
}

func (p *plotter) xAxis() {
	p.rule(plotLeft, plotBottom, plotRight, plotBottom, "#222")
	for i, r := range p.history {
		d := r.Came.Date
		if d.Day() != 1 || d.Month() != 1 && d.Month() != 7 {
			continue
		}
		p.rule(p.x(i), plotBottom, p.x(i), plotBottom+5, "#222")
		p.text(p.x(i), plotBottom+20, "middle", "", d.Format("Jan 2006"))
	}
	p.text((plotLeft+plotRight)/2.0, plotBottom+46, "middle", "", "day forecast")
}

func (p *plotter) line(j int) {
	if len(p.accuracy) == 0 {
		return
	}
	var points strings.Builder
	first := len(p.history) - len(p.accuracy)
	for i, a := range p.accuracy {
		fmt.Fprintf(&points, "%.1f,%.1f ", p.x(first+i), p.y(a[j]))
	}
	fmt.Fprintf(&p.svg, `<polyline fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round" points="%s"/>`+"\n",
		strokes[j].color, strokes[j].width, strings.TrimSpace(points.String()))
}

func (p *plotter) legend() {
	x := float64(plotLeft)
	for j, name := range predictors {
		fmt.Fprintf(&p.svg, `<line x1="%.1f" y1="48" x2="%.1f" y2="48" stroke="%s" stroke-width="%.1f"/>`+"\n", x, x+24, strokes[j].color, strokes[j].width+0.8)
		p.text(x+32, 52.5, "start", "", name)
		x += 32 + 8*float64(len(name)) + 24
	}
}
