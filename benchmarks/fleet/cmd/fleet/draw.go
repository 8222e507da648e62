package main

import (
	"fmt"
	"strings"
	"time"
)

// Sizes of the picture.
const (
	width, height = 900, 260
	left, bottom  = 60, 30
)

// draw returns the attempts in each step as a picture, with the end of the outage.
func draw(counts []int, outage time.Duration) string {
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	x := func(i float64) float64 { return left + i*(width-left-10)/float64(max(1, len(counts))) }
	y := func(n int) float64 { return height - bottom - float64(n)*(height-bottom-20)/float64(most) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`,
		width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`, width, height)
	for i, n := range counts {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#4269d0"/>`, x(float64(i)), y(n),
			x(1)-x(0)-.5, y(0)-y(n))
	}
	back := x(float64(outage) / float64(step))
	fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="10" y2="%.1f" stroke="#c2185b" stroke-dasharray="4 3"/>`,
		back, back, y(0))
	fmt.Fprintf(&b, `<text x="%.1f" y="20" fill="#c2185b">the server is back</text>`, back+6)
	fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%d</text><text x="%d" y="%.1f" text-anchor="end">0</text>`,
		left-6, y(most)+4, most, left-6, y(0)+4)
	for i := 0; i < len(counts); i += int(10 * time.Second / step) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%.0f s</text>`, x(float64(i)), height-10,
			(time.Duration(i) * step).Seconds())
	}
	fmt.Fprintf(&b, `<text x="%d" y="12">attempts to connect within %v</text></svg>`, left, step)
	return b.String() + "\n"
}
