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
	flightDescription = "Show the recent events of clients and servers, the newest first: requests, attempts to " +
		"connect, lost connections, messages that broke the protocol, ended processes."
	tracesDescription = "List the latest failed calls, each with its trace id for the tool explain, and with its cause " +
		"if known."
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
	Peer    string `json:"peer,omitempty" jsonschema:"only entries of this client or server"`
	Tool    string `json:"tool,omitempty" jsonschema:"only calls of this tool"`
	TraceID string `json:"trace_id,omitempty" jsonschema:"only entries of this trace"`
	Failed  bool   `json:"failed_only,omitempty" jsonschema:"only failed operations"`
	Cursor  int    `json:"cursor,omitzero" jsonschema:"next_cursor of the previous answer" keywords:"minimum=0"`
	Limit   int    `json:"limit,omitzero" jsonschema:"most entries, 30 by default" keywords:"minimum=1,maximum=100"`
}

// entryLine is an entry of a flight recorder.
type entryLine struct {
	Time    time.Time `json:"time"`
	Peer    string    `json:"peer"`
	Side    string    `json:"side" jsonschema:"client or server"`
	Kind    string    `json:"kind" jsonschema:"kind of event, such as request, transition, violation or exit"`
	What    string    `json:"what,omitempty" jsonschema:"method and tool, or the old and the new state"`
	Outcome string    `json:"outcome" jsonschema:"ok, failed or pending"`
	Reason  string    `json:"reason,omitempty" jsonschema:"error.type, error code or other reason"`
	MS      int64     `json:"ms,omitempty" jsonschema:"duration in milliseconds"`
	Count   int       `json:"count,omitempty" jsonschema:"number of consecutive occurrences"`
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
	NextCursor int         `json:"next_cursor,omitempty" jsonschema:"cursor of the next page, absent on the last"`
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
	return listed(a.Entries, (*entryLine).text, "No such entries are recorded", "More are available", a.NextCursor) +
		notes(a.Missing)
}

type tracesArguments struct {
	Peer  string `json:"peer,omitempty" jsonschema:"only calls of this client or server"`
	Tool  string `json:"tool,omitempty" jsonschema:"only calls of this tool"`
	All   bool   `json:"all,omitempty" jsonschema:"include successful calls"`
	Limit int    `json:"limit,omitzero" jsonschema:"most calls, 10 by default" keywords:"minimum=1,maximum=50"`
}

// traceLine is a trace in a list.
type traceLine struct {
	TraceID   string          `json:"trace_id" jsonschema:"id for explain; if empty, pass tool and peer"`
	Time      time.Time       `json:"time"`
	Peer      string          `json:"peer"`
	Operation string          `json:"operation"`
	Outcome   explain.Outcome `json:"outcome"`
	Cause     string          `json:"cause,omitempty" jsonschema:"id of the cause, if known"`
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
		b.WriteString("No failed call is recorded.\n")
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
