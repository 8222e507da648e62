package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Config is the content of a file.
type Config struct {
	// Servers are the servers in the order of the file, including disabled servers.
	Servers []*Server

	// Warnings are about valid entries that are probably mistakes.
	Warnings []Problem
}

// Problem is a problem in a file.
type Problem struct {
	Path string // place of the problem, such as mcpServers.github.args[1]; empty for the whole file
	Text string
}

// Error returns the place and the text of the problem.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// Options configures the reading of a file. A nil *Options, and the zero value of every field, select the defaults.
type Options struct {
	// LookupEnv returns the value of the environment variable for ${VAR}, or false if it is not set. Nil means
	// [os.LookupEnv].
	LookupEnv func(name string) (string, bool)

	// Environ is the environment of all programs, in the form key=value. The env of a server overrides it. Nil means the
	// variables of this process that [DefaultEnviron] lists, so that servers do not see unrelated secrets. Use
	// [os.Environ] to pass all variables to the servers.
	Environ []string
}

// Type is the transport of a server.
type Type string

// The types of servers. A server over HTTP without a type has [TypeAuto].
const (
	TypeStdio      Type = "stdio"
	TypeStreamable Type = "http" // Streamable HTTP
	TypeSSE        Type = "sse"  // HTTP+SSE, of revision 2024-11-05
	TypeAuto       Type = "auto" // Streamable HTTP or HTTP+SSE, depending on the server
)

// Server is one server of a file, with all variables expanded. If Disabled is set, only Name is set too.
type Server struct {
	Name     string
	Disabled bool
	Type     Type
	Timeout  time.Duration // timeout of each request; zero if the file has none

	NoListening bool // the file has "listen": false, see [mcpclient.Options]

	Lazy bool          // the file has "start": "lazy", see [mcpclient.Member]
	Idle time.Duration // see [mcpclient.Member]; zero if the file has none

	// For a program:
	Command string
	Args    []string
	Env     map[string]string // env from the file, in addition to Environ
	Environ []string
	Dir     string

	// For a server over HTTP:
	URL    string
	Header http.Header
}

// Load reads a file. See [Parse].
func Load(path string, o *Options) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	c, err := Parse(data, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Members returns the enabled servers, for [mcpclient.NewGroup]. The options of each member are a copy of shared, which
// may be nil, with the server's own name, timeout and NoListening. The caller can set further options of a server over
// HTTP, such as an authorizer, in Member.Transport. The transport is a [*transport.HTTP] for a server over HTTP, and a
// [transport.Stdio] for a program.
func (c *Config) Members(shared *mcpclient.Options) []mcpclient.Member {
	var members []mcpclient.Member
	for _, s := range c.Servers {
		if s.Disabled {
			continue
		}
		var o mcpclient.Options
		if shared != nil {
			o = *shared
		}
		o.Name = s.Name
		if s.Timeout > 0 {
			o.RequestTimeout = s.Timeout
		}
		o.NoListening = o.NoListening || s.NoListening
		members = append(members, mcpclient.Member{
			Name: s.Name, Transport: s.Transport(), Options: &o, Lazy: s.Lazy, Idle: s.Idle,
		})
	}
	return members
}

// Transport returns the transport to the server.
func (s *Server) Transport() transport.Transport {
	if s.Type == TypeStdio {
		env := slices.Clone(s.Environ)
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			env = append(env, name+"="+s.Env[name])
		}
		if env == nil {
			env = []string{} // nil would mean the environment of this process
		}
		return transport.Stdio{Command: s.Command, Args: slices.Clone(s.Args), Env: env, Dir: s.Dir}
	}
	mode := map[Type]transport.HTTPMode{TypeStreamable: transport.ModeStreamable, TypeSSE: transport.ModeSSE}[s.Type]
	return &transport.HTTP{URL: s.URL, Header: s.Header.Clone(), Mode: mode}
}

// String returns the server's name, its type and, over HTTP, its host. It omits everything that may contain secrets.
func (s *Server) String() string {
	switch {
	case s.Disabled:
		return s.Name + " (disabled)"
	case s.Type == TypeStdio:
		return s.Name + " (stdio)"
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.Name + " (" + string(s.Type) + ")"
	}
	return s.Name + " (" + string(s.Type) + ", " + u.Host + ")"
}

// LogValue returns [Server.String] as a log value.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.String()) }
