package stack_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// node is an expected span of a trace, with the spans directly below it.
type node struct {
	kind, name, service string
	errorType           string         // empty: the status is unset and there is no error.type; else it is ERROR
	message             string         // description of the status
	attributes          map[string]any // further attributes; nil for an attribute that must be absent
	link                string         // label of the span in this trace that the only link refers to; empty for no link
	label               string         // name of this span in links
	many                bool           // one or more such spans
	loose               bool           // of another program, with possible further spans above, beside and below it
	free                bool           // there may be further spans of other services below it
	below               []node
}

// anyValue matches any existing value.
type anyValue struct{}

// leeway is the tolerance between the clocks of two processes, or of a runtime other than Go's.
const leeway = 2 * time.Millisecond

// patience is how much later than its parent a span may end. A server ends its span after it has written the answer,
// so on a busy machine the client may run first and end its span before.
const patience = 100 * time.Millisecond

// proof compares one trace with the expected trace, and collects the differences.
type proof struct {
	trace    *jaeger.Trace
	labelled map[string]*jaeger.Span
	used     map[string]bool // ids of spans that match a node
	free     bool            // additional spans are allowed
	wrong    []string
}

// verify returns the differences between a trace and the expected trace with the root want.
func verify(trace *jaeger.Trace, want node) []string {
	p := &proof{trace: trace, labelled: map[string]*jaeger.Span{}, used: map[string]bool{}}
	for _, s := range trace.Orphans() {
		p.say("%v is an orphan of %s", s, s.ParentID)
	}
	p.nodes("", []node{want})
	for _, s := range trace.Spans {
		if !p.used[s.ID] && !(p.free && s.Service != want.service) {
			p.say("%v is too much", s)
		}
	}
	p.times()
	return p.wrong
}

func (p *proof) say(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// nodes compares the children of a span with the expected ones, in the order of their starts.
func (p *proof) nodes(parent string, want []node) {
	for _, n := range want {
		p.free = p.free || n.loose || n.free
		s := p.find(parent, n)
		if s == nil {
			p.say("no %s %s of %s below %v", n.kind, n.name, n.service, p.trace.Span(parent))
		}
		for ; s != nil; s = p.find(parent, n) {
			p.used[s.ID] = true
			if n.label != "" {
				p.labelled[n.label] = s
			}
			p.span(s, n)
			p.nodes(s.ID, n.below)
			if !n.many {
				break
			}
		}
	}
}

// find returns the first unused child that matches n. For a loose node it also searches the descendants.
func (p *proof) find(parent string, n node) *jaeger.Span {
	for _, s := range p.trace.Spans {
		if !p.used[s.ID] && s.Kind == n.kind && s.Name == n.name && s.Service == n.service &&
			(s.ParentID == parent || n.loose && p.descends(s, parent)) {
			return s
		}
	}
	return nil
}

func (p *proof) descends(s *jaeger.Span, ancestor string) bool {
	for s != nil && s.ParentID != ancestor {
		s = p.trace.Span(s.ParentID)
	}
	return s != nil
}

// span compares one span with its node.
func (p *proof) span(s *jaeger.Span, n node) {
	status := "UNSET"
	if n.errorType != "" {
		status = "ERROR"
	}
	if got, _ := s.Attributes["error.type"].(string); (s.Status != status || got != n.errorType) &&
		!(n.loose && n.errorType == "") {
		p.say("%v: want status %s and error.type %q, got %s and %q", s, status, n.errorType, s.Status, got)
	}
	if n.message != "" && s.StatusMessage != n.message {
		p.say("%v: want the message %q, got %q", s, n.message, s.StatusMessage)
	}
	for _, key := range slices.Sorted(maps.Keys(n.attributes)) {
		want, got := n.attributes[key], s.Attributes[key]
		if want == (anyValue{}) && got != nil {
			continue
		}
		if want != got {
			p.say("%v: want %s = %v, got %v", s, key, want, got)
		}
	}
	p.links(s, n)
}

func (p *proof) links(s *jaeger.Span, n node) {
	if n.link == "" {
		if len(s.Links) > 0 && !n.loose {
			p.say("%v: want no link, got %v", s, s.Links)
		}
		return
	}
	target := p.labelled[n.link]
	if target == nil || len(s.Links) != 1 || s.Links[0] != (jaeger.Link{TraceID: p.trace.ID, SpanID: target.ID}) {
		p.say("%v: want one link, to %s, %v; got %v", s, n.link, target, s.Links)
	}
	if order := target != nil && target.End().After(s.Start.Add(patience)); order {
		p.say("%v begins before %s has ended, which it goes on with", s, n.link)
	}
}

// times requires that each span lies within its parent. Go's SDK reads the wall clock and the monotonic clock at once;
// the SDKs of other languages may not, so for their spans, times requires only that they take no longer than the
// nearest span of a Go program above them.
func (p *proof) times() {
	for _, s := range p.trace.Spans {
		parent := p.trace.Span(s.ParentID)
		switch {
		case parent == nil:
		case !fromGo(s):
			for parent != nil && !fromGo(parent) {
				parent = p.trace.Span(parent.ParentID)
			}
			if parent != nil && s.Duration > parent.Duration+patience && !p.mayOutlast(s) {
				p.say("%v takes %v, longer than %v", s, s.Duration, parent)
			}
		case s.Start.Before(parent.Start.Add(-leeway)):
			p.say("%v begins %v before its parent %v", s, parent.Start.Sub(s.Start), parent)
		case s.End().After(parent.End().Add(patience)) && !p.mayOutlast(s):
			p.say("%v ends %v after its parent %v", s, s.End().Sub(parent.End()), parent)
		}
	}
}

func fromGo(s *jaeger.Span) bool { return s.Resource["telemetry.sdk.language"] == "go" }

// mayOutlast reports whether no caller waits for the operation of a span: the caller has abandoned it, or it belongs to
// a task or a notification.
func (p *proof) mayOutlast(s *jaeger.Span) bool {
	for ; s != nil; s = p.trace.Span(s.ParentID) {
		switch s.Attributes["error.type"] {
		case "timeout", "cancelled":
			return true
		}
		if strings.HasPrefix(s.Name, "mcp_server.task ") || strings.HasPrefix(s.Name, "notifications/") {
			return true
		}
	}
	return false
}

// show lists the differences, followed by the trace.
func show(wrong []string, trace *jaeger.Trace) string {
	return strings.Join(wrong, "\n") + "\n" + trace.String()
}
