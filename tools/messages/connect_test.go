package messages

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// shell returns a transport to a server that is a shell script.
func shell(script string) transport.Transport {
	return transport.Stdio{Command: "sh", Args: []string{"-c", script}}
}

// started returns a test of a connection to a shell script. The test returns the error.
func started(script string) func(t *testing.T) error {
	return func(t *testing.T) error { return connecting(t, shell(script), nil) }
}

// silent is like started, for a script without useful output: the client does not wait long for it.
func silent(script string) func(t *testing.T) error {
	return func(t *testing.T) error { return connecting(t, shell(script), hasty()) }
}

var processMessages = chapter{"a server that is a process", []complaint{
	{"no such command", func(t *testing.T) error {
		return connecting(t, transport.Stdio{Command: "mcp-no-such-server"}, nil)
	}},
	{"no such file", func(t *testing.T) error {
		return connecting(t, transport.Stdio{Command: "/nowhere/mcp-server"}, nil)
	}},
	{"the command is a directory", func(t *testing.T) error {
		return connecting(t, transport.Stdio{Command: "/"}, nil)
	}},
	{"the working directory does not exist", func(t *testing.T) error {
		return connecting(t, transport.Stdio{Command: "sh", Dir: "/nowhere"}, nil)
	}},
	{"no command", func(t *testing.T) error { return connecting(t, transport.Stdio{}, nil) }},
	{"it exits at once", started(`exit 3`)},
	{"it exits at once and says why", started(`echo 'GITHUB_TOKEN is not set' >&2; exit 1`)},
	{"it is killed", started(`kill -9 $$`)},
	{"it says nothing", silent(`while read -r line; do :; done`)},
	{"it says nothing but in its log", silent(`echo 'downloading the internet' >&2; while read -r line; do :; done`)},
	{"it prints garbage", started(`while echo hello; do :; done`)},
	{"it repeats what it hears", silent(`exec cat`)},
	{"it answers initialize with an error", scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Refuse(c.Expect(mcp.MethodInitialize), mcp.CodeInternalError, "no license")
	}, nil)},
	{"it answers initialize with a version that does not exist", scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Answer(c.Expect(mcp.MethodInitialize),
			`{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
	}, nil)},
	{"it answers initialize with something else", scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Answer(c.Expect(mcp.MethodInitialize), `{"protocolVersion":7}`)
	}, nil)},
	{"the client is pinned to a modern version, the server is older", scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
	}, []mcp.Version{mcp.Version20260728})},
	{"the client is pinned to an old version, the server is newer", scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodInitialize), mcp.CodeInvalidParams, "Unsupported protocol version")
	}, []mcp.Version{mcp.Version20241105})},
	{"no transport", func(t *testing.T) error { return connecting(t, nil, nil) }},
}}

// scripted returns a test of a connection to a server that serve controls.
func scripted(serve func(*mcptest.Conversation), versions []mcp.Version) func(t *testing.T) error {
	return func(t *testing.T) error {
		script := mcptest.NewScript(t)
		result := make(chan error, 1)
		o := once()
		o.Versions = versions
		go func() { result <- connecting(t, script, o) }()
		serve(script.Accept())
		return <-result
	}
}

// reached returns a test of a connection to a URL.
func reached(url string) func(t *testing.T) error {
	return func(t *testing.T) error { return connecting(t, &transport.HTTP{URL: url}, nil) }
}

// answering returns a test of a connection to a server that gives each request this answer.
func answering(status int, header, body string) func(t *testing.T) error {
	return func(t *testing.T) error {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", header)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: s.URL + "/mcp"}, nil)
	}
}

const page = "<!doctype html>\n<title>Welcome</title>\n<h1>Welcome to our API</h1>"

var httpMessages = chapter{"a server over HTTP", []complaint{
	{"nothing listens there", func(t *testing.T) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		return connecting(t, &transport.HTTP{URL: "http://" + l.Addr().String() + "/mcp"}, nil)
	}},
	{"the host does not exist", reached("http://mcp.invalid/mcp")},
	{"no URL", reached("")},
	{"a URL of another scheme", reached("ftp://localhost/mcp")},
	{"a URL without a scheme", reached("localhost:8080/mcp")},
	{"a URL without a host", reached("http:///mcp")},
	{"https where plain HTTP is spoken", func(t *testing.T) error {
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: "https://" + s.Listener.Addr().String() + "/mcp"}, nil)
	}},
	{"a certificate that is not trusted", func(t *testing.T) error {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // would log that our client refuses the certificate
		s.StartTLS()
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: s.URL + "/mcp"}, nil)
	}},
	{"401", answering(401, "text/plain", "who are you?")},
	{"403", answering(403, "text/plain", "not you")},
	{"403 of a server of ours: an origin that is not allowed", func(t *testing.T) error {
		s := mcpserver.New(mcp.Implementation{Name: "x", Version: "1"}, nil)
		handler := s.HTTPHandler(nil)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Host = "mcp.example.com"
			handler.ServeHTTP(w, r)
		}))
		defer h.Close()
		return connecting(t, &transport.HTTP{URL: h.URL + "/mcp"}, nil)
	}},
	{"404", answering(404, "text/plain", "404 page not found")},
	{"405", answering(405, "text/plain", "Method Not Allowed")},
	{"500", answering(500, "text/plain", "Internal Server Error")},
	{"502 of a proxy", answering(502, "text/html", page)},
	{"503", answering(503, "text/plain", "later")},
	{"a page in HTML", answering(200, "text/html", page)},
	{"JSON of something else", answering(200, "application/json", `{"hello":"world"}`)},
	{"an empty answer", answering(204, "", "")},
	{"a redirect", func(t *testing.T) error {
		s := httptest.NewServer(http.RedirectHandler("https://login.example.com/", http.StatusFound))
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: s.URL + "/mcp"}, nil)
	}},
	{"it never answers", func(t *testing.T) error {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // from here on, net/http watches the connection
			<-r.Context().Done()
		}))
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: s.URL + "/mcp"}, hasty())
	}},
	{"HTTP+SSE only, and the client is told not to speak it", func(t *testing.T) error {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: endpoint\ndata: /messages\n\n"))
		}))
		defer s.Close()
		return connecting(t, &transport.HTTP{URL: s.URL + "/sse", Mode: transport.ModeStreamable}, nil)
	}},
	{"the caller is out of patience", func(t *testing.T) error {
		return unready(t, func(c *mcpclient.Client) error {
			ctx, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			return c.WaitForReady(ctx)
		})
	}},
}}
