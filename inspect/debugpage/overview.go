package debugpage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Limits of lists on the overview.
const (
	maxRows   = 200 // maximum number of servers
	maxOldest = 20
)

// overview is the JSON of the overview. It omits the last events of each client and server, which their own pages have.
type overview struct {
	Time    time.Time        `json:"time"`
	Process process          `json:"process"`
	Clients []inspect.Client `json:"clients"`
	Servers []inspect.Server `json:"servers"`
	Members []inspect.Member `json:"on_demand,omitempty"` // members of groups whose clients start on demand
}

// process identifies this process.
type process struct {
	Program    string    `json:"program"`
	PID        int       `json:"pid"`
	Go         string    `json:"go"`
	Goroutines int       `json:"goroutines"`
	Since      time.Time `json:"since"` // time when package debugpage was initialized
}

var begun = time.Now()

func (h *handler) look() *overview {
	o := &overview{
		Time: time.Now(),
		Process: process{
			Program: filepath.Base(os.Args[0]), PID: os.Getpid(), Go: runtime.Version(), Goroutines: runtime.NumGoroutine(),
			Since: begun,
		},
		Clients: []inspect.Client{}, Servers: []inspect.Server{},
	}
	clients := h.clients()
	o.Clients = slices.Grow(o.Clients, len(clients))
	for _, c := range clients {
		i := c.Inspect()
		i.Recent = nil
		o.Clients = append(o.Clients, i)
	}
	for _, m := range h.members() {
		o.Members = append(o.Members, m.Inspect())
	}
	for _, s := range h.servers() {
		i := s.Inspect()
		for n := range i.Networks {
			i.Networks[n].Recent = nil
		}
		o.Servers = append(o.Servers, i)
	}
	return o
}

// chosenOverview is the JSON of an overview with the chosen clients, on all pages.
type chosenOverview struct {
	*overview
	choice
}

func (c chosenOverview) MarshalJSON() ([]byte, error) {
	some := *c.overview
	some.Clients = slices.DeleteFunc(slices.Clone(some.Clients), func(i inspect.Client) bool { return !c.wants(&i) })
	return json.Marshal(some)
}

// overviewModel is the data of the overview.
type overviewModel struct {
	overview
	Up                         time.Duration
	EndedClients, EndedServers int // ended clients and servers, not shown; counted only if none runs

	Tiles       []tile
	ServerTiles []tile
	Clients     []clientRow
	Fleet       fleetModel
	Servers     []serverRow
	More        int // number of servers that are not shown
	Members     []memberRow
	MoreMembers int // number of members that are not shown
	Oldest      []callRow
	Calls       int // number of calls in flight that are not in the list of the oldest
}

type clientRow struct {
	inspect.Client
	Href    string
	State   stateBadge
	Oldest  time.Duration // age of the oldest call
	Traffic traffic
}

func clientHref(c *inspect.Client) string { return "?client=" + number(c.Number) }

func rowOf(c *inspect.Client) clientRow {
	row := clientRow{Client: *c, Href: clientHref(c), State: badgeOf(c), Traffic: trafficOf(c.Operations)}
	for _, call := range c.Calls {
		if !call.Stream {
			row.Oldest = max(row.Oldest, call.Age)
		}
	}
	return row
}

// memberRow is a member of a group whose client starts on demand.
type memberRow struct {
	inspect.Member
	Href string        // page of the client; empty if none is running
	For  time.Duration // time since the latest start or stop
}

func memberRows(o *overview) (rows []memberRow, more int) {
	for _, m := range o.Members[:min(len(o.Members), maxRows)] {
		row := memberRow{Member: m}
		if m.Client != 0 {
			row.Href = "?client=" + number(m.Client)
		}
		if !m.Since.IsZero() {
			row.For = o.Time.Sub(m.Since)
		}
		rows = append(rows, row)
	}
	return rows, len(o.Members) - len(rows)
}

type serverRow struct {
	inspect.Server
	Href    string
	Oldest  time.Duration
	Traffic traffic
}

func (h *handler) overviewPage(o *overview, chosen choice) *overviewModel {
	m := &overviewModel{overview: *o, Up: o.Time.Sub(o.Process.Since), Fleet: fleetModel{choice: chosen},
		EndedClients: h.endedClients(), EndedServers: h.endedServers()}
	m.Members, m.MoreMembers = memberRows(o)
	var unready, inFlight int
	var sum traffic
	var wanted []*inspect.Client
	for i := range o.Clients {
		c := &o.Clients[i]
		inFlight += c.InFlight
		for _, call := range c.Calls {
			if !call.Stream {
				m.Oldest = append(m.Oldest, h.callRow(&call, c.Time, c.Name, clientHref(c)))
			}
		}
		if c.State != connstate.Ready {
			unready++
		}
		sum.add(trafficOf(c.Operations))
		if chosen.wants(c) {
			wanted = append(wanted, c)
		}
	}
	m.Tiles = []tile{
		{Value: len(o.Clients), Name: plural(len(o.Clients), "client")},
		{Value: unready, Name: "not ready", Bad: unready > 0},
		{Value: inFlight, Name: "calls in flight"},
		{Value: sum.Count, Name: "requests sent"},
		{Text: percent(sum.Failed, sum.Count), Name: "failed", Bad: sum.Failed > 0},
	}
	// Clients in trouble come first.
	slices.SortStableFunc(wanted, func(a, b *inspect.Client) int { return cmp.Compare(badgeOf(b).Rank, badgeOf(a).Rank) })
	for _, c := range m.Fleet.part(wanted, len(o.Clients)) {
		m.Clients = append(m.Clients, rowOf(c))
	}
	m.Fleet.group(o.Clients)
	slices.SortStableFunc(m.Oldest, func(a, b callRow) int { return cmp.Compare(b.Age, a.Age) })
	m.Oldest, _ = bound(m.Oldest, maxOldest)
	m.Calls = inFlight - len(m.Oldest)
	m.addServers(o)
	return m
}

// NoneRuns returns the text for a process without running clients or servers, with the number that have ended.
func (m *overviewModel) NoneRuns(kind string, ended int) string {
	if ended == 0 {
		return "No " + kind + " runs in this process."
	}
	return fmt.Sprintf("No %s runs now: %d %s of this process ended. This page shows only running ones; see the traces "+
		"and logs for the others.", kind, ended, plural(ended, kind))
}

func (m *overviewModel) addServers(o *overview) {
	var inFlight, connected int
	var sum traffic
	for _, s := range o.Servers {
		row := serverRow{Server: s, Href: "?server=" + number(s.Number)}
		for _, n := range s.Networks {
			row.Traffic.add(trafficOf(n.Operations))
		}
		for _, r := range s.Requests {
			row.Oldest = max(row.Oldest, r.Age)
		}
		inFlight, connected = inFlight+s.InFlight, connected+s.Connected
		sum.add(row.Traffic)
		m.Servers = append(m.Servers, row)
	}
	if len(o.Servers) > 0 {
		m.ServerTiles = []tile{
			{Value: len(o.Servers), Name: plural(len(o.Servers), "server")},
			{Value: connected, Name: "connected"},
			{Value: inFlight, Name: "in progress"},
			{Value: sum.Count, Name: "requests answered"},
			{Text: percent(sum.Failed, sum.Count), Name: "failed", Bad: sum.Failed > 0},
		}
	}
	m.Servers, m.More = bound(m.Servers, maxRows)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// bound returns the first n elements and the number of the rest.
func bound[T any](all []T, n int) (some []T, more int) {
	n = min(n, len(all))
	return all[:n], len(all) - n
}
