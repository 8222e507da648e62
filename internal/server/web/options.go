package web

import (
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Options configures a handler. New sets no defaults. mcpserver.HTTPOptions and mcpserver.Options document the fields
// with the same names.
type Options struct {
	Legacy, Modern []mcp.Version  // revisions of the server
	FrameLimit     int            // in bytes
	NullID         bool           // errors without an id have the id null until the client agrees on a revision
	Total          *quota.Limiter // limits the requests of all clients; nil for no limit
	MaxLogBytes    int            // maximum total size of the log messages that wait to be sent to other processes

	AllowedOrigins []string
	AllowedHosts   []string
	Stateless      bool
	NoSSE          bool

	MaxRequests          int
	MaxWaiting           int
	MaxSessions          int
	MaxIntroductionBytes int
	MaxBodies            int

	SessionTimeout time.Duration
	ConfirmTimeout time.Duration
	BodyTimeout    time.Duration
	BodyRate       int
	WriteTimeout   time.Duration
	KeepAlive      time.Duration
	Retry          time.Duration
	Lease          time.Duration

	Account   func(*http.Request) string // nil means that the principal or the address identifies the account
	Principal func(*http.Request) string

	Events   store.Events   // nil for none
	Sessions store.Sessions // nil if only this process knows the sessions
}
