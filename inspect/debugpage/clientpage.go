package debugpage

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// clientModel is the data of a client's page.
type clientModel struct {
	inspect.Client
	Badge    stateBadge
	Lead     string // explanation of the current state
	Tiles    []tile
	Facts    []fact
	Rows     []callRow
	More     int // number of calls that are not shown
	Sent     []opRow
	Received []opRow
	Recent   recent
	Watched  int // number of subscriptions that are not shown
}

func (h *handler) clientPage(c *inspect.Client) *clientModel {
	m := &clientModel{Client: *c, Badge: badgeOf(c), Lead: lead(c), Facts: clientFacts(c)}
	t := trafficOf(c.Operations)
	m.Tiles = []tile{
		{Value: c.InFlight, Name: "calls in flight"},
		{Value: t.Count, Name: "requests"},
		{Text: t.Percent(), Name: "failed", Bad: t.Failed > 0},
		{Value: c.Tombstones, Name: "unanswered"},
		{Value: reconnections(c), Name: "reconnections"},
	}
	if c.SendQueue > 0 {
		m.Tiles = append(m.Tiles, tile{Value: c.SendQueue, Name: "frames to be sent"})
	}
	if c.Notifications > 0 {
		m.Tiles = append(m.Tiles, tile{
			Text: fmt.Sprintf("%d / %d", c.Notifications, c.QueueLimit), Name: "notifications waiting",
			Bad: c.Notifications >= c.QueueLimit,
		})
	}
	for _, call := range c.Calls {
		m.Rows = append(m.Rows, h.callRow(&call, c.Time, "", ""))
	}
	m.More = c.InFlight - len(m.Rows)
	m.Sent, m.Received = opRows(c.Operations)
	m.Recent = h.recent(c.Recent, c.Time, "older")
	m.Watched = c.Subscribed - len(c.Subscriptions)
	return m
}

func reconnections(c *inspect.Client) uint64 { return max(1, c.Sessions) - 1 }

// lead explains the current state.
func lead(c *inspect.Client) string {
	for_ := unit.Duration(c.InState)
	left := unit.Duration(max(0, c.Due.Sub(c.Time)))
	switch {
	case c.GaveUp != "":
		return "It gave up " + for_ + " ago and does not reconnect: " + word(c.Reason.String()) + "."
	case c.Ended:
		return "It was stopped " + for_ + " ago."
	case c.State == connstate.Ready:
		return "Ready for " + for_ + "."
	case c.State == connstate.Backoff && c.Attempt == 0:
		return "The connection was lost " + for_ + " ago (" + word(c.Reason.String()) + "). The next attempt begins in " +
			left + "."
	case c.State == connstate.Backoff:
		return fmt.Sprintf("Attempt %d failed %s ago (%s). The next begins in %s.", c.Attempt, for_, word(c.Reason.String()),
			left)
	case c.State == connstate.Starting:
		return fmt.Sprintf("Opening a connection for %s, attempt %d, which times out in %s.", for_, c.Attempt, left)
	case c.State == connstate.Initializing:
		return fmt.Sprintf("Negotiating with the server for %s, attempt %d, which times out in %s.", for_,
			c.Attempt, left)
	}
	return "Closes for " + for_ + "."
}

// word converts an identifier to words.
func word(w string) string { return strings.ReplaceAll(w, "_", " ") }

func clientFacts(c *inspect.Client) []fact {
	return facts(
		fact{"Instance", c.InstanceID},
		fact{"Group", c.Group},
		fact{"Server", strings.TrimSpace(c.Server + " " + c.ServerVersion)},
		fact{"Protocol", strings.TrimSpace(string(c.Version) + " " + parenthesized(c.Era))},
		fact{"Transport", carrier(c.Transport, c.Protocol)},
		fact{"Address", c.Address},
		fact{"Process", positive(uint64(c.PID))},
		fact{"State since", stamp(c.Since)},
		fact{"Connection", positive(c.Epoch)},
		fact{"Times ready", strconv.FormatUint(c.Sessions, 10)},
		fact{"Waiting goroutines", positive(uint64(c.Waiting))},
		fact{"Server requests in progress", positive(uint64(c.Answering))},
		fact{"Subscribed to list changes", yes(c.Listening)},
		fact{"Subscriptions", positive(uint64(c.Subscribed))},
		fact{"Tools listed", toolsOf(c.Tools)},
	)
}

// toolsOf describes the number of tools and their size in a model's context.
func toolsOf(l *inspect.ToolList) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%d, %s, about %d tokens", l.Tools, unit.Size(int64(l.Bytes)), l.EstimatedTokens)
}

func parenthesized(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func positive(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// carrier names the transport of the messages.
func carrier(transport, protocol string) string {
	switch {
	case transport == "":
		return "in memory"
	case transport == "pipe":
		return "pipes of a process"
	case protocol != "":
		return protocol + " over " + transport
	}
	return transport
}
