package waterfall

import (
	"fmt"
	"strings"
)

// maxLinks bounds the lines of links below one span.
const maxLinks = 4

// details draws the lines below a span, each with the prefix lead: its attributes, its links, and notes about its
// position.
func (d *drawing) details(n *node, lead string) {
	var failure string
	if n.Error {
		failure = "error.type=" + n.errorType()
	}
	var pairs []string
	for _, a := range d.attributes(n.Span) {
		pairs = append(pairs, a.Key+"="+a.Value)
	}
	if failure != "" || len(pairs) > 0 {
		d.detail(lead, failure, strings.Join(pairs, " "))
	}
	for i, l := range n.Links {
		if i == maxLinks {
			d.detail(lead, "", fmt.Sprintf("%d more links", len(n.Links)-i))
			break
		}
		d.detail(lead, "", d.link(n, l))
	}
	for _, note := range n.notes(d.pen.ascii) {
		d.detail(lead, "", note)
	}
}

func (d *drawing) detail(lead, failure, rest string) {
	p := &d.pen
	room := d.layout.width - d.layout.nameStart() - columns(lead)
	p.put(plain, strings.Repeat(" ", d.layout.nameStart()))
	p.put(faint, lead)
	if failure != "" {
		failure = p.fit(failure, room)
		p.put(red, failure)
		p.put(plain, " ")
		room = max(room-columns(failure)-1, 0)
	}
	p.put(faint, p.fit(rest, room))
	p.end()
}

func (d *drawing) link(n *node, l Link) string {
	to := "link " + d.glyphs.arrow + " "
	if name, here := d.names[l.SpanID]; here && l.TraceID == n.TraceID {
		return to + name
	}
	return to + "span " + shortID(l.SpanID) + " of trace " + shortID(l.TraceID)
}

func shortID(id string) string { return id[:min(len(id), 8)] }
