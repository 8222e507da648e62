package inspector

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/explain"
)

const (
	flightDescription = "Show what happened last at the clients and servers: requests, attempts to connect, " +
		"connections that " +
		"were lost, messages that broke the protocol, processes that ended. The newest first."
	tracesDescription = "List the latest calls that failed, each with the id of its trace for explain, and with its " +
		"cause as far " +
		"as it is known."
)

// counts formats words with their numbers, sorted by word.
func counts(m map[string]uint64) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(m)) {
		all = append(all, fmt.Sprintf("%s × %d", word(reason), m[reason]))
	}
	return strings.Join(all, ", ")
}

type flightArguments struct {
	Peer    string `json:"peer,omitempty" jsonschema:"only this client or server"`
	Tool    string `json:"tool,omitempty" jsonschema:"only this tool"`
	TraceID string `json:"trace_id,omitempty" jsonschema:"only this trace"`
	Failed  bool   `json:"failed_only,omitempty" jsonschema:"only what failed"`
	Cursor  int    `json:"cursor,omitzero" jsonschema:"next_cursor of the answer before" keywords:"minimum=0"`
	Limit   int    `json:"limit,omitzero" jsonschema:"how many, 30 if not given" keywords:"minimum=1,maximum=100"`
}

// entryLine is an entry of a flight recorder.
type entryLine struct {
	Time    time.Time `json:"time"`
	Peer    string    `json:"peer"`
	Side    string    `json:"side" jsonschema:"client or server"`
	Kind    string    `json:"kind" jsonschema:"what happened, such as request, transition, violation or exit"`
	What    string    `json:"what,omitempty" jsonschema:"method and tool, or from which state to which"`
	Outcome string    `json:"outcome" jsonschema:"ok, failed or pending"`
	Reason  string    `json:"reason,omitempty" jsonschema:"error.type, code or another word"`
	MS      int64     `json:"ms,omitempty" jsonschema:"how long it took"`
	Count   int       `json:"count,omitempty" jsonschema:"how often it happened in a row"`
	TraceID string    `json:"trace_id,omitempty"`
}

func entryOf(h *happening) entryLine {
	e := h.entry
	l := entryLine{Time: e.Time, Peer: line(h.peer.Name), Side: h.peer.Side(), Kind: line(e.Kind), Outcome: "ok",
		Reason: line(e.Reason), MS: e.Elapsed.Milliseconds(), Count: e.Count, TraceID: line(h.id())}
	switch {
	case e.Failed:
		l.Outcome = "failed"
	case e.Pending:
		l.Outcome = "pending"
	}
	if l.What = line(strings.TrimSpace(e.Method + " " + e.Target)); e.From != "" {
		l.What = line(e.From) + " to " + line(e.To)
	}
	return l
}

func (l *entryLine) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q: %s", l.Time.UTC().Format("15:04:05.000"), l.Side, l.Peer, word(l.Kind))
	if l.What != "" {
		fmt.Fprintf(&b, " %q", l.What)
	}
	fmt.Fprintf(&b, " %s", l.Outcome)
	if l.Reason != "" {
		fmt.Fprintf(&b, " (%s)", word(l.Reason))
	}
	if l.MS > 0 {
		fmt.Fprintf(&b, " after %s", milliseconds(l.MS))
	}
	if l.Count > 1 {
		fmt.Fprintf(&b, " × %d", l.Count)
	}
	if l.TraceID != "" {
		fmt.Fprintf(&b, " trace %s", word(l.TraceID))
	}
	return b.String() + "\n"
}

type flightAnswer struct {
	Entries    []entryLine `json:"entries" jsonschema:"the newest first"`
	NextCursor int         `json:"next_cursor,omitempty" jsonschema:"there are older ones: pass it as cursor"`
	Missing    []string    `json:"missing,omitempty"`
}

func (in *inspector) flight(ctx context.Context, a flightArguments) (*flightAnswer, error) {
	peers, missing := in.peers(ctx)
	all := happenings(peers, filter{a.Peer, a.Tool, a.TraceID, a.Failed})
	out := &flightAnswer{Entries: []entryLine{}, Missing: missing}
	page, next := paged(all, a.Cursor, a.Limit, 30)
	for i := range page {
		out.Entries = append(out.Entries, entryOf(&page[i]))
	}
	out.NextCursor = next
	return out, nil
}

func (a *flightAnswer) text() string {
	return listed(a.Entries, (*entryLine).text, "Nothing of that kind is recorded", "There are older ones", a.NextCursor) +
		notes(a.Missing)
}

type tracesArguments struct {
	Peer  string `json:"peer,omitempty" jsonschema:"only of this client or server"`
	Tool  string `json:"tool,omitempty" jsonschema:"only of this tool"`
	All   bool   `json:"all,omitempty" jsonschema:"those that succeeded, too"`
	Limit int    `json:"limit,omitzero" jsonschema:"how many, 10 if not given" keywords:"minimum=1,maximum=50"`
}

// traceLine is a trace in a list.
type traceLine struct {
	TraceID   string          `json:"trace_id" jsonschema:"or correlation id, or empty: explain by tool and peer"`
	Time      time.Time       `json:"time"`
	Peer      string          `json:"peer"`
	Operation string          `json:"operation"`
	Outcome   explain.Outcome `json:"outcome"`
	Cause     string          `json:"cause,omitempty" jsonschema:"id of the cause, as far as it is known"`
	Text      string          `json:"text,omitempty" jsonschema:"the cause in a sentence"`
}

type tracesAnswer struct {
	Traces  []traceLine `json:"traces" jsonschema:"the newest first"`
	Missing []string    `json:"missing,omitempty"`
}

func (in *inspector) traces(ctx context.Context, a tracesArguments) (*tracesAnswer, error) {
	found, missing := in.calls(ctx, filter{peer: a.Peer, tool: a.Tool, failed: !a.All}, cmp.Or(a.Limit, 10))
	out := &tracesAnswer{Traces: []traceLine{}, Missing: missing}
	for i := range found {
		out.Traces = append(out.Traces, found[i].line())
	}
	return out, nil
}

func (a *tracesAnswer) text() string {
	var b strings.Builder
	if len(a.Traces) == 0 {
		b.WriteString("No call that failed is recorded.\n")
	}
	for _, t := range a.Traces {
		fmt.Fprintf(&b, "%s %s", t.Time.UTC().Format("15:04:05"), t.Operation)
		if t.Peer != "" {
			b.WriteString(" of " + t.Peer)
		}
		fmt.Fprintf(&b, " %s. %s", strings.ReplaceAll(string(t.Outcome), "_", " "), t.Text)
		if t.TraceID != "" {
			b.WriteString(" Trace " + word(t.TraceID))
		}
		b.WriteString("\n")
	}
	return b.String() + notes(a.Missing)
}
