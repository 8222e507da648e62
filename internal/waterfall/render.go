package waterfall

import (
	"fmt"
	"io"
	"strings"
)

// Render draws the spans of one trace on w. It sorts siblings by their start, so the order of spans does not change the
// output. The error is from w.
func Render(w io.Writer, spans []Span, opts Options) error {
	if opts.Attributes == nil {
		opts.Attributes = Selected
	}
	roots, from, to := plant(spans)
	l := newLayout(opts.Width, roots, opts.ASCII)
	d := &drawing{
		pen:        pen{w: w, color: opts.Color, ascii: opts.ASCII},
		layout:     l,
		glyphs:     glyphsFor(opts.ASCII),
		axis:       axis{from, to, l.cells, opts.ASCII},
		attributes: opts.Attributes,
		styles:     make(map[string]style),
		names:      make(map[string]string, len(spans)),
	}
	for _, s := range spans {
		d.names[s.ID] = s.Name
	}
	d.header(spans)
	for _, r := range roots {
		d.node(r, 0, "", "")
	}
	return d.pen.err
}

// A drawing is one call of Render.
type drawing struct {
	pen        pen
	layout     layout
	glyphs     glyphs
	axis       axis
	attributes func(Span) []Attribute
	styles     map[string]style  // by service
	names      map[string]string // names of spans, by id
}

func (d *drawing) header(spans []Span) {
	p, l := &d.pen, d.layout
	if len(spans) == 0 {
		p.put(plain, "no spans")
		p.end()
		return
	}
	p.put(bold, p.fit("trace "+spans[0].TraceID, l.width))
	p.end()

	room := l.width - l.cells - 1
	summary, failed := summarize(spans)
	summary = p.fit(summary, room)
	failed = p.fit(failed, room-columns(summary))
	p.put(faint, summary)
	p.put(red, failed)
	p.put(faint, strings.Repeat(" ", room+1-columns(summary+failed))+d.axis.ruler())
	p.end()
}

func summarize(spans []Span) (total, failed string) {
	services, errors := make(map[string]bool), 0
	for _, s := range spans {
		services[s.Service] = true
		if s.Error {
			errors++
		}
	}
	if errors > 0 {
		failed = ", " + count(errors, "error")
	}
	return count(len(spans), "span") + ", " + count(len(services), "service"), failed
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// node draws n and its descendants. lead is the prefix of its first line, and rest the prefix of the lines below.
func (d *drawing) node(n *node, depth int, lead, rest string) {
	d.row(n, max(depth-d.layout.levels, 0), lead)
	below := rest
	if len(n.children) > 0 && depth < d.layout.levels {
		below += d.glyphs.pass
	} else {
		below += d.glyphs.empty
	}
	if !n.missing {
		d.details(n, below)
	}
	for i, c := range n.children {
		switch lastOne := i == len(n.children)-1; {
		case depth >= d.layout.levels:
			d.node(c, depth+1, lead, rest)
		case lastOne:
			d.node(c, depth+1, rest+d.glyphs.last, rest+d.glyphs.empty)
		default:
			d.node(c, depth+1, rest+d.glyphs.branch, rest+d.glyphs.pass)
		}
	}
}

// row draws the line with the bar. hidden is the number of levels that are not indented.
func (d *drawing) row(n *node, hidden int, lead string) {
	p, l := &d.pen, d.layout
	nameStyle, barStyle := plain, d.style(n.Service)
	switch {
	case n.missing:
		nameStyle = faint
	case n.Error:
		nameStyle, barStyle = red, red
	}
	p.put(d.style(n.Service), pad(p.fit(n.Service, l.service), l.service)+" ")
	p.put(faint, pad(p.fit(n.Kind, kindColumns), kindColumns)+" "+lead)
	room := l.name - columns(lead)
	p.put(nameStyle, pad(p.fit(d.title(n, hidden), room), room)+" ")
	if n.missing {
		p.end()
		return
	}
	took := duration(n.End.Sub(n.Start), p.ascii)
	if n.End.Before(n.Start) {
		took = "?"
	}
	p.put(plain, strings.Repeat(" ", max(durationColumns-columns(took), 0))+took+" ")
	p.put(barStyle, d.axis.bar(n.from, n.to))
	p.end()
}

func (d *drawing) title(n *node, hidden int) string {
	var s string
	if hidden > 0 {
		s = fmt.Sprintf("+%d ", hidden)
	}
	if n.missing {
		return s + "(span " + shortID(n.ID) + " is missing)"
	}
	if n.Error {
		s += d.glyphs.failed
	}
	return s + n.Name
}

// style returns the colour of a service, and plain text for an empty service.
func (d *drawing) style(service string) style {
	if service == "" {
		return plain
	}
	st, ok := d.styles[service]
	if !ok {
		st = serviceStyles[len(d.styles)%len(serviceStyles)]
		d.styles[service] = st
	}
	return st
}
