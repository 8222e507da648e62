package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/introduction"
	"github.com/mcpotel/mcpotel/mcp"
)

// sessionRecord is what a [store.Sessions] keeps of a session, as JSON. What is added to it must be zero in the records
// of older processes, and is lost in those that replace it.
type sessionRecord struct {
	Principal string    `json:"principal,omitzero"`
	Created   time.Time `json:"created"`
	Heard     int64     `json:"heard,omitzero"`   // position among the messages to all at which it was created
	Process   string    `json:"process,omitzero"` // that has the stream of a session of HTTP+SSE

	sessionState
}

// sessionState is what there is in a session that outlives a process.
type sessionState struct {
	Version      mcp.Version            `json:"version"`
	Client       mcp.Implementation     `json:"client"`
	Capabilities mcp.ClientCapabilities `json:"capabilities"`
	Declared     mcp.ServerCapabilities `json:"declared"`
	Confirmed    bool                   `json:"confirmed,omitzero"`
	Level        mcp.LoggingLevel       `json:"level,omitzero"`   // of log messages, if the client has set one
	Watched      []string               `json:"watched,omitzero"` // URIs of resources
}

// maxRecord is how large the record of a session may be, in bytes: clients say part of what is in it.
const maxRecord = 1 << 20

var errRecordTooLarge = errors.New("the session's record is too large")

// state returns what is to be kept of a session. With setState it is all there is to say about that.
func (c *connection) state() (st sessionState) {
	if a := c.exchange.terms.agreed.Load(); a != nil {
		st.Version, st.Client, st.Capabilities, st.Declared = a.version, a.client, a.capabilities, a.declared
	}
	st.Confirmed = c.exchange.terms.confirmed.Load()
	if level := c.exchange.terms.level.Load(); level != nil {
		st.Level = *level
	}
	st.Watched = c.watched.snapshot()
	return st
}

// setState makes a session what it was when state was called, but for its agreement, which never changes.
func (c *connection) setState(st *sessionState) {
	c.exchange.terms.confirmed.Store(st.Confirmed)
	if st.Level.Defined() {
		c.exchange.terms.level.Store(&st.Level)
	}
	c.watched.replace(st.Watched)
}

// agreement returns what client and server have agreed on.
func (st *sessionState) agreement() *agreement {
	a := &agreement{version: st.Version, client: st.Client, capabilities: st.Capabilities, declared: st.Declared}
	for _, said := range []any{st.Client, st.Capabilities} {
		text, _ := json.Marshal(said) // has been decoded from such
		a.weight += introduction.Weight(text, introduction.Values(text))
	}
	return a
}

func (r *sessionRecord) encode() ([]byte, error) {
	raw, err := json.Marshal(r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("session record: %w", err)
	case len(raw) > maxRecord:
		return nil, errRecordTooLarge
	}
	return raw, nil
}

func decodeSessionRecord(raw []byte) (r sessionRecord, err error) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("session record: %w", err)
	}
	return r, nil
}

// amend changes what is to be kept of a session, in the way of others.
func (x *exchange) amend(ctx context.Context, change func()) error {
	if x.conn == nil || x.conn.others == nil {
		change()
		return nil
	}
	return x.conn.others.amend(ctx, change)
}
