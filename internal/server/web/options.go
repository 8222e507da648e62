package web

import (
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Options are the options of a handler. Nothing is filled in. The fields that package mcpserver has too are documented
// at mcpserver.HTTPOptions and mcpserver.Options.
type Options struct {
	Legacy, Modern []mcp.Version  // revisions of the server
	FrameLimit     int            // in bytes
	NullID         bool           // errors without an id have the id null until a revision is agreed on
	Total          *quota.Limiter // of the requests of all clients; nil for none
	MaxLogBytes    int            // of log messages that wait for the other processes

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

	Account   func(*http.Request) string // nil for the principal or the address
	Principal func(*http.Request) string

	Events   store.Events   // nil for none
	Sessions store.Sessions // nil if sessions are known in this process only
}
