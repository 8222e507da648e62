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

// Config is what a file says.
type Config struct {
	// Servers are in the order of the file, those that are disabled among them.
	Servers []*Server

	// Warnings are about what is not an error and may still not be what was meant.
	Warnings []Problem
}

// Problem is something that is wrong with a file.
type Problem struct {
	Path string // where, such as mcpServers.github.args[1]; empty for the whole
	Text string
}

// Error returns the place and what is wrong there.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// Options say how a file is read. A nil *Options, and the zero value of every field, mean the defaults stated here.
type Options struct {
	// LookupEnv returns a variable for ${VAR}, false if it is not set. Nil means [os.LookupEnv].
	LookupEnv func(name string) (string, bool)

	// Environ is the environment of all programs, of the form key=value; what the file says for each prevails. Nil means
	// the variables of this process that [DefaultEnviron] names, so that a server sees no secret that is not meant for it.
	// [os.Environ] gives it all.
	Environ []string
}

// Type says how a server is reached.
type Type string

// The types of servers. A server over HTTP without a type is of [TypeAuto].
const (
	TypeStdio      Type = "stdio"
	TypeStreamable Type = "http" // Streamable HTTP
	TypeSSE        Type = "sse"  // HTTP+SSE, of revision 2024-11-05
	TypeAuto       Type = "auto" // HTTP, whichever of the two the server speaks
)

// Server is one server of a file, with all variables in place. Of one that is Disabled nothing but the Name has been
// read.
type Server struct {
	Name     string
	Disabled bool
	Type     Type
	Timeout  time.Duration // of each request; zero if the file does not say

	NoListening bool // the file says "listen": false, see [mcpclient.Options]

	// Of a program:
	Command string
	Args    []string
	Env     map[string]string // what the file says, in addition to Environ
	Environ []string
	Dir     string

	// Of a server over HTTP:
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

// Members returns the servers that are not disabled, for [mcpclient.NewGroup]. Each has shared options, which may be
// nil, with its own name, and the timeout and NoListening that the file says. What else a server over HTTP needs, such
// as an authorizer, is for the caller to set in Member.Transport, which is a [*transport.HTTP] then, and else a
// [transport.Stdio].
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
		members = append(members, mcpclient.Member{Name: s.Name, Transport: s.Transport(), Options: &o})
	}
	return members
}

// Transport returns what reaches the server.
func (s *Server) Transport() transport.Transport {
	if s.Type == TypeStdio {
		env := slices.Clone(s.Environ)
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			env = append(env, name+"="+s.Env[name])
		}
		if env == nil {
			env = []string{} // nil would be the environment of this process
		}
		return transport.Stdio{Command: s.Command, Args: slices.Clone(s.Args), Env: env, Dir: s.Dir}
	}
	mode := map[Type]transport.HTTPMode{TypeStreamable: transport.Streamable, TypeSSE: transport.SSE}[s.Type]
	return &transport.HTTP{URL: s.URL, Header: s.Header.Clone(), Mode: mode}
}

// String names the server and says how it is reached, without anything that may be secret.
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

// LogValue is what a log has of the server: [Server.String].
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.String()) }
