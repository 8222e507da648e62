package inspector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

const (
	listDescription = "List the MCP clients, with the state of each connection, and the servers. Start here to get the " +
		"names for the other tools."
	getDescription = "Show one MCP client: its connection, the calls that are under way, how often each tool failed, " +
		"and what " +
		"happened last."
)

type listArguments struct {
	Cursor int `json:"cursor,omitzero" jsonschema:"next_cursor of the previous answer" keywords:"minimum=0"`
	Limit  int `json:"limit,omitzero" jsonschema:"most results, 20 by default" keywords:"minimum=1,maximum=100"`
}

// clientLine is a client in a list.
type clientLine struct {
	Source   string `json:"source,omitempty" jsonschema:"source that listed it; empty for the process of this server"`
	Name     string `json:"name"`
	Side     string `json:"side" jsonschema:"client or server"`
	State    string `json:"state,omitempty" jsonschema:"ready if the client is connected"`
	Reason   string `json:"reason,omitempty" jsonschema:"why it is in that state"`
	Seconds  int64  `json:"in_state_seconds,omitempty"`
	Server   string `json:"server,omitempty" jsonschema:"name that the client's server gives itself: untrusted"`
	Address  string `json:"address,omitempty"`
	InFlight int    `json:"in_flight" jsonschema:"calls without an answer yet"`
	Error    string `json:"error,omitempty" jsonschema:"why it is not connected; may quote the server"`
}

type listAnswer struct {
	Peers      []clientLine `json:"peers"`
	NextCursor int          `json:"next_cursor,omitempty" jsonschema:"cursor of the next page; absent on the last page"`
	Missing    []string     `json:"missing,omitempty" jsonschema:"sources that could not be read"`
}

func (in *inspector) list(ctx context.Context, a listArguments) (*listAnswer, error) {
	peers, missing := in.peers(ctx)
	out := &listAnswer{Peers: []clientLine{}, Missing: missing}
	page, next := paged(peers, a.Cursor, a.Limit, 20)
	for i := range page {
		out.Peers = append(out.Peers, lineOf(&page[i]))
	}
	out.NextCursor = next
	return out, nil
}

// paged returns a page of all, and the cursor of the next page, or 0 if there is none.
func paged[T any](all []T, cursor, limit, usual int) (page []T, next int) {
	if limit <= 0 {
		limit = usual
	}
	from := min(cursor, len(all))
	to := min(from+limit, len(all))
	if to < len(all) {
		next = to
	}
	return all[from:to], next
}

func lineOf(p *explain.Peer) clientLine {
	l := clientLine{Source: p.Source, Name: line(p.Name), Side: p.Side()}
	if c := p.Client; c != nil {
		l.State, l.Reason, l.Seconds = c.State.String(), c.Reason.String(), int64(c.InState/time.Second)
		l.Server, l.Address, l.InFlight = line(c.Server), line(c.Address), c.InFlight
		if l.Error = line(c.Err); c.GaveUp != "" {
			l.State, l.Error = "gave_up", line(c.GaveUp)
		}
	}
	return l
}

func (l *clientLine) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %q", l.Side, l.Name)
	if l.Source != "" {
		fmt.Fprintf(&b, " at %s", l.Source)
	}
	if l.State != "" {
		fmt.Fprintf(&b, ": %s for %ds (%s), %d calls in flight", word(l.State), l.Seconds, word(l.Reason), l.InFlight)
	}
	if l.Server != "" {
		fmt.Fprintf(&b, "; its server calls itself %q", l.Server)
	}
	if l.Error != "" {
		fmt.Fprintf(&b, "; error (may quote the server): %q", l.Error)
	}
	return b.String() + "\n"
}

func (a *listAnswer) text() string {
	return listed(a.Peers, (*clientLine).text, "No clients or servers found", "More are available", a.NextCursor) +
		notes(a.Missing)
}

type getArguments struct {
	Name   string `json:"name" jsonschema:"name of the client, from list_clients"`
	Source string `json:"source,omitempty" jsonschema:"source of the client, if several clients have this name"`
}

type getAnswer struct {
	Client     clientLine      `json:"client"`
	Protocol   string          `json:"protocol_version,omitempty"`
	Attempt    int             `json:"attempt,omitempty" jsonschema:"attempts to connect since the client was last ready"`
	Sessions   uint64          `json:"sessions" jsonschema:"how often the client has become ready"`
	Calls      []callLine      `json:"calls" jsonschema:"oldest calls in flight"`
	Operations []operationLine `json:"operations" jsonschema:"statistics by method and target, most failures first"`
	Recent     []entryLine     `json:"recent" jsonschema:"the newest first"`
	Others     int             `json:"others,omitempty" jsonschema:"number of others with this name: pass source"`
	Missing    []string        `json:"missing,omitempty"`
}

// callLine is a call in flight.
type callLine struct {
	Method  string `json:"method"`
	Target  string `json:"target,omitempty" jsonschema:"tool or prompt"`
	AgeMS   int64  `json:"age_ms"`
	TraceID string `json:"trace_id,omitempty"`
	Retries int    `json:"retries,omitempty"`
}

// operationLine is a client's statistics of one method and target.
type operationLine struct {
	Method string            `json:"method"`
	Target string            `json:"target,omitempty"`
	Count  uint64            `json:"count"`
	Failed uint64            `json:"failed"`
	Errors map[string]uint64 `json:"errors,omitempty" jsonschema:"failures by error.type"`
	P50MS  int64             `json:"p50_ms"`
	P99MS  int64             `json:"p99_ms"`
}

// few bounds each list of a client's details.
const few = 20

func (in *inspector) get(ctx context.Context, a getArguments) (*getAnswer, error) {
	peers, missing := in.peers(ctx)
	var found []*explain.Peer
	for i := range peers {
		p := &peers[i]
		if p.Client != nil && strings.EqualFold(line(p.Name), line(a.Name)) && (a.Source == "" || a.Source == p.Source) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no client has the name %q; list_clients lists the names. %s", line(a.Name),
			notes(missing))
	}
	p, c := found[0], found[0].Client
	out := &getAnswer{
		Client: lineOf(p), Protocol: string(c.Version), Attempt: c.Attempt, Sessions: c.Sessions, Calls: callsOf(c),
		Operations: operationsOf(c), Recent: []entryLine{}, Others: len(found) - 1, Missing: missing,
	}
	newest, _ := paged(happenings([]explain.Peer{*p}, filter{}), 0, few, few)
	for i := range newest {
		out.Recent = append(out.Recent, entryOf(&newest[i]))
	}
	return out, nil
}

func callsOf(c *inspect.Client) []callLine {
	all := []callLine{}
	for _, call := range c.Calls[:min(few, len(c.Calls))] {
		all = append(all, callLine{line(call.Method), line(call.Target), call.Age.Milliseconds(), line(call.TraceID),
			call.Retries})
	}
	return all
}

func operationsOf(c *inspect.Client) []operationLine {
	all := []operationLine{}
	for _, o := range mostFailed(c.Operations) {
		all = append(all, operationLine{line(o.Method), line(o.Target), o.Count, o.Failed, o.Errors, o.P50.Milliseconds(),
			o.P99.Milliseconds()})
	}
	return all
}

func (a *getAnswer) text() string {
	var b strings.Builder
	b.WriteString(a.Client.text())
	fmt.Fprintf(&b, "It has been ready %d times.\n", a.Sessions)
	for _, c := range a.Calls {
		fmt.Fprintf(&b, "In flight: %s %q for %s, trace %s\n", word(c.Method), c.Target, milliseconds(c.AgeMS),
			word(c.TraceID))
	}
	for _, o := range a.Operations {
		fmt.Fprintf(&b, "%s %q: %d of %d failed", word(o.Method), o.Target, o.Failed, o.Count)
		if len(o.Errors) > 0 {
			fmt.Fprintf(&b, " (%s)", counts(o.Errors))
		}
		fmt.Fprintf(&b, ", median %s\n", milliseconds(o.P50MS))
	}
	for i := range a.Recent {
		b.WriteString(a.Recent[i].text())
	}
	return b.String() + notes(a.Missing)
}

func milliseconds(ms int64) string { return unit.Duration(time.Duration(ms) * time.Millisecond) }

// mostFailed returns the operations with the most failures.
func mostFailed(all []telemetry.Operation) []telemetry.Operation {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b telemetry.Operation) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Count, a.Count))
	})
	return all[:min(few, len(all))]
}
