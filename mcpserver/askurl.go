package mcpserver

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// URLElicitationRequired returns an error for a handler to return. The error means that the user must visit one or
// more URLs before the request can succeed, and that waiting for the user makes no sense. The params are as in
// [RequestInfo.Elicit].
//
// A client of 2025-11-25 gets the error -32042 and may send the request again, at once or after
// [Server.ElicitationComplete]. A modern client gets the elicitations in the result of the request. When the user has
// agreed to open the URLs, the client sends the request again and the server calls the handler again. The handler then
// checks, from its own knowledge of the user, whether the visit is complete. A client that has not declared support for
// URLs gets an error with the missing capability. (specification 2025-11-25, client/elicitation, "URL Elicitation
// Required Error")
func URLElicitationRequired(message string, elicitations ...*mcp.ElicitParams) error {
	e := &urlRequired{message: message}
	for i, p := range elicitations {
		if p == nil {
			return fmt.Errorf("elicitations[%d] is nil", i)
		}
		shown := mcp.ElicitParams{Mode: mcp.ElicitURL, Message: p.Message, URL: p.URL, ElicitationID: p.ElicitationID}
		if err := checkURL(&shown); err != nil {
			return fmt.Errorf("elicitations[%d]: %w", i, err)
		}
		if shown.ElicitationID == "" {
			shown.ElicitationID = rand.Text()
		}
		e.elicitations = append(e.elicitations, &shown)
	}
	if len(e.elicitations) == 0 {
		return errors.New("no elicitation; pass at least one")
	}
	return e
}

// urlRequired is the error of URLElicitationRequired.
type urlRequired struct {
	message      string
	elicitations []*mcp.ElicitParams
}

func (e *urlRequired) Error() string { return e.message }

// Unwrap returns the error for a client that cannot be asked.
func (e *urlRequired) Unwrap() error { return errNoInput }

// urlResult returns the result that asks a modern client, or the error for a legacy client.
func (c *call) urlResult(e *urlRequired) (any, error) {
	asks := make([]*Ask, len(e.elicitations))
	for i, p := range e.elicitations {
		asks[i] = AskElicit("", p, nil)
	}
	items, err := inquiries(&c.info.from, c.info.Version, asks)
	switch {
	case err != nil && c.modern():
		return nil, err
	case err != nil:
		return nil, rpc.Fail(errNoInput, err)
	case c.modern() && c.rounds.declined(items):
		return nil, rpc.Refusal(mcp.CodeInternalError, "%s: the user did not agree to open the URL", e.message)
	case c.modern():
		return c.inputResult(&inputRequired{asks: asks})
	}
	data, err := json.Marshal(mcp.URLElicitationRequiredData{Elicitations: e.elicitations})
	if err != nil {
		return nil, err
	}
	if c.x.conn != nil {
		for _, p := range e.elicitations {
			c.x.conn.sites.add(p.ElicitationID)
		}
	}
	return nil, &mcp.Error{Code: mcp.CodeURLElicitationRequired, Message: e.message, Data: data}
}

// declined reports whether the client's answers in this request decline or cancel one of the elicitations.
func (r *rounds) declined(items []*inquiry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(items, func(it *inquiry) bool {
		var said mcp.ElicitResult
		answer, ok := r.given[it.key]
		return ok && (given.Decode(answer, &said) != nil || said.Action != mcp.ElicitAccept)
	})
}

// ElicitationComplete notifies a client of 2025-11-25 that the user has completed the visit to a URL. It notifies
// the client to which the server sent this elicitationID, if that client is still connected. Other revisions have
// no such notification. ElicitationComplete does not wait for the client.
// (specification 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation")
func (s *Server) ElicitationComplete(elicitationID string) {
	for _, c := range s.connections() {
		if c.complete(elicitationID) {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.fleets {
		h.Web.Complete(elicitationID)
	}
}

// complete reports whether the server asked this client for the elicitation. If so, complete notifies the client
// that the elicitation is complete.
func (c *connection) complete(elicitationID string) bool {
	asked := c.sites.remove(elicitationID)
	if asked {
		c.exchange.Group.Start(visited{c, elicitationID})
	}
	return asked
}

// visited is the background task that sends notifications/elicitation/complete.
type visited struct {
	c  *connection
	id string
}

func (t visited) Run() {
	params, err := mcp.AppendParams(nil, mcp.ElicitationCompleteParams{ElicitationID: t.id})
	if err != nil {
		return
	}
	x := t.c.exchange
	// best effort
	_ = x.Peer.Notify(x.Work, x.Out, x.Terms.Agreed.Load().Version, mcp.NotificationElicitationComplete, nil, params)
}

// sites holds the ids of the latest URL elicitations of one client.
type sites struct {
	mu  sync.Mutex
	ids []string // guarded by mu; oldest first
}

// maxSites limits the URL elicitations that the server remembers for one client.
const maxSites = 256

// add remembers an elicitation. At the limit, it drops the oldest one.
func (s *sites) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.ids, id) {
		return
	}
	if len(s.ids) == maxSites {
		s.ids = slices.Delete(s.ids, 0, 1)
	}
	s.ids = append(s.ids, id)
}

// remove removes an elicitation. It returns false if the elicitation was not stored.
func (s *sites) remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.ids, id)
	if i < 0 {
		return false
	}
	s.ids = slices.Delete(s.ids, i, i+1)
	return true
}
