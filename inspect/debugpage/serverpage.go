package debugpage

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
)

// serverModel is the data of a server's page.
type serverModel struct {
	inspect.Server
	Tiles       []tile
	Facts       []fact
	Connections []connectionRow
	MoreConns   int // number of connections that are not shown
	Rows        []requestRow
	More        int // number of requests that are not shown
	TaskRows    []inspect.Task
	MoreTasks   int
	Networks    []networkPart
}

type connectionRow struct {
	inspect.Connection
	Carrier string
	Held    string // size of the frames that are waiting
}

type requestRow struct {
	inspect.Request
	About string
	Trace trace
}

// networkPart describes the server's work over one kind of network.
type networkPart struct {
	Name     string
	Sent     []opRow
	Received []opRow
	Recent   recent
}

func (h *handler) serverPage(s *inspect.Server) *serverModel {
	m := &serverModel{
		Server: *s, Facts: serverFacts(s),
		MoreConns: s.Connected - len(s.Connections), More: s.InFlight - len(s.Requests),
		TaskRows: s.Tasks, MoreTasks: s.RunningTasks - len(s.Tasks),
	}
	var t traffic
	for i, n := range s.Networks {
		t.add(trafficOf(n.Operations))
		part := networkPart{Name: carrier(n.Transport, strings.TrimSpace(n.Protocol+" "+n.Version))}
		part.Sent, part.Received = opRows(n.Operations)
		part.Recent = h.recent(n.Recent, s.Time, "older"+strconv.Itoa(i))
		m.Networks = append(m.Networks, part)
	}
	waiting := 0
	for _, c := range s.Connections {
		waiting += c.Waiting
		row := connectionRow{Connection: c, Carrier: carrier(c.Transport, c.Protocol)}
		if c.Bytes > 0 {
			row.Held = unit.Size(int64(c.Bytes))
		}
		m.Connections = append(m.Connections, row)
	}
	for _, r := range s.Requests {
		m.Rows = append(m.Rows, requestRow{r, cmp.Or(r.Target, r.URI), h.trace(r.TraceID)})
	}
	m.Tiles = []tile{
		{Value: s.Connected, Name: "connected"},
		{Value: s.InFlight, Name: "in progress"},
		{Value: waiting, Name: "of those waiting", Bad: waiting > 0},
		{Value: t.Count, Name: "requests answered"},
		{Text: t.Percent(), Name: "failed", Bad: t.Failed > 0},
	}
	if s.Subscriptions > 0 {
		m.Tiles = append(m.Tiles, tile{Value: s.Subscriptions, Name: "subscriptions"})
	}
	if s.RunningTasks > 0 {
		m.Tiles = append(m.Tiles, tile{
			Text: fmt.Sprintf("%d / %d", s.RunningTasks, s.MaxTasks), Name: "tasks", Bad: s.RunningTasks >= s.MaxTasks,
		})
	}
	if s.Limits.MaxTotal > 0 {
		m.Tiles = append(m.Tiles, tile{
			Text: fmt.Sprintf("%d / %d", s.Places.Used, s.Limits.MaxTotal), Name: "places taken",
			Bad: s.Places.Used >= s.Limits.MaxTotal || s.Places.Scarce,
		})
	}
	return m
}

func serverFacts(s *inspect.Server) []fact {
	timeout := "none"
	if s.Limits.RequestTimeout > 0 {
		timeout = unit.Duration(s.Limits.RequestTimeout)
	}
	all := facts(
		fact{"Instance", s.InstanceID},
		fact{"Server", strings.TrimSpace(s.Server + " " + s.Version)},
		fact{"Protocol", joined(s.Versions)},
		fact{"Offers", offers(s)},
		fact{"At once, of one client", fmt.Sprintf("%d, and %d waiting", s.Limits.MaxConcurrent, s.Limits.MaxQueued)},
		fact{"Request timeout", timeout},
		fact{"Largest frame", unit.Size(int64(s.Limits.FrameLimit))},
	)
	for _, h := range s.Handlers {
		all = append(all, fact{"HTTP", httpFact(&h)})
	}
	return all
}

func httpFact(h *inspect.HTTP) string {
	text := fmt.Sprintf("%d of %d requests, %d of %d sessions, %d of %d subscriptions",
		h.Requests, h.MaxRequests, h.Sessions, h.MaxSessions, h.Subscriptions, h.MaxSubscriptions)
	if h.Shared {
		text += ", sessions shared with other processes"
	}
	if h.Closing {
		text += ", closing"
	}
	return text
}

func offers(s *inspect.Server) string {
	var all []string
	for _, o := range []struct {
		n    int
		name string
	}{{s.Tools, "tool"}, {s.Resources, "resource"}, {s.Templates, "template"}, {s.Prompts, "prompt"}} {
		switch {
		case o.n == 1:
			all = append(all, "1 "+o.name)
		case o.n > 1:
			all = append(all, fmt.Sprintf("%d %ss", o.n, o.name))
		}
	}
	return strings.Join(all, ", ")
}

func joined(versions []mcp.Version) string {
	var all []string
	for _, v := range versions {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}
