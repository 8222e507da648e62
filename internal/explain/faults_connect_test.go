package explain_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
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

// started starts a shell script as the server, and calls a tool after the client has given up.
func started(script string) func(*lab) {
	return func(l *lab) {
		c := l.client(shell(script), mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}})
		<-c.Done()
		l.fails(c, "forecast", nil)
	}
}

// silent connects to a shell script that does not complete the handshake.
func silent(script string) func(*lab) {
	return connecting(shell(script), mcpclient.Options{Timeouts: mcpclient.Timeouts{Init: time.Second,
		Start: time.Second}})
}

func connecting(t transport.Transport, o mcpclient.Options) func(*lab) {
	return func(l *lab) {
		l.Helper()
		if err := l.connect(t, o); err == nil {
			l.Error("connect: want an error")
		}
	}
}

// scripted connects to a server that the test scripts.
func scripted(serve func(*mcptest.Conversation), versions ...mcp.Version) func(*lab) {
	return func(l *lab) {
		script := mcptest.NewScript(l)
		done := make(chan struct{})
		go func() { defer close(done); _ = l.connect(script, mcpclient.Options{Versions: versions}) }()
		serve(script.Accept())
		<-done
	}
}

// Attempts to connect to a process, and to a server that rejects the handshake.
var starts = []fault{
	{"no such command", "no_such_command", "", true,
		connecting(transport.Stdio{Command: "mcp-no-such-server"}, mcpclient.Options{})},
	{"the command is a directory", "cannot_start", "", true, connecting(transport.Stdio{Command: "/"},
		mcpclient.Options{})},
	{"no such working directory", "no_such_directory", "", true,
		connecting(transport.Stdio{Command: "sh", Dir: "/nowhere"}, mcpclient.Options{})},
	{"the server exits immediately", "exits_at_once", "given up", true, started(`echo 'connection refused' >&2; exit 3`)},
	{"the server is killed immediately", "killed_at_once", "", true, started(`kill -9 $$`)},
	{"the server prints garbage", "garbage", "standard output", true, started(`while echo hello; do :; done`)},
	{"the server prints nothing", "server_mute", "", true, silent(`while read -r line; do :; done`)},
	{"the server crashes during a call", "server_exited", "139", true, func(l *lab) {
		c := l.ready(shell(`read -r probe; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
			read -r initialize; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":`+
			`{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}'
			read -r initialized; read -r call; exit 139`), mcpclient.Options{})
		l.fails(c, "forecast", nil)
		_ = c.Close() // waits for the record of the process's end
	}},
	{"the server rejects initialize", "handshake_refused", "", false, scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Refuse(c.Expect(mcp.MethodInitialize), mcp.CodeInternalError, "no license")
	})},
	{"no common version", "no_common_version", "", false, scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Answer(c.Expect(mcp.MethodInitialize),
			`{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
	})},
	{"a malformed handshake", "handshake_unreadable", "", false, scripted(func(c *mcptest.Conversation) {
		c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
		c.Answer(c.Expect(mcp.MethodInitialize), `{"protocolVersion":7}`)
	})},
	{"an unanswered handshake", "handshake_unanswered", "", false, scripted(func(c *mcptest.Conversation) {
		c.Expect(mcp.MethodDiscover)
		<-c.Context().Done()
	})},
	{"the server hangs up during the handshake", "hangs_up", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		s.Refuse(io.EOF)
		if err := l.connect(s, mcpclient.Options{}); err == nil {
			l.Error("want an error")
		}
	}},
	{"a call after the client has given up", "no_such_command", "given up", true, func(l *lab) {
		c := l.client(transport.Stdio{Command: "mcp-no-such-server"},
			mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}})
		<-c.Done()
		l.fails(c, "forecast", nil)
	}},
	{"a call while nothing listens", "nothing_listens", "no connection", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		s.Refuse(errors.New("connect to mcp.example.com: connection refused"))
		c := l.client(s, mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Hour}})
		time.Sleep(time.Second)
		l.fails(c, "forecast", nil)
	}},
}

// answering connects to a server that gives the same answer to every request.
func answering(status int, header, body string) func(*lab) {
	return func(l *lab) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", header)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer s.Close()
		connecting(&transport.HTTP{URL: s.URL + "/mcp"}, mcpclient.Options{})(l)
	}
}

// Attempts to connect to a URL.
var urls = []fault{
	{"nothing listens there", "nothing_listens", "", true, func(l *lab) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.Fatal(err)
		}
		_ = listener.Close()
		connecting(&transport.HTTP{URL: "http://" + listener.Addr().String() + "/mcp"}, mcpclient.Options{})(l)
	}},
	{"the host does not exist", "no_such_host", "", true,
		connecting(&transport.HTTP{URL: "http://mcp.invalid/mcp"}, mcpclient.Options{})},
	{"https to a plain HTTP server", "plain_http", "", true, func(l *lab) {
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		connecting(&transport.HTTP{URL: "https://" + s.Listener.Addr().String() + "/mcp"}, mcpclient.Options{})(l)
	}},
	{"a certificate that is not trusted", "bad_certificate", "", true, func(l *lab) {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // the client rejects the certificate, which the server would log
		s.StartTLS()
		defer s.Close()
		connecting(&transport.HTTP{URL: s.URL + "/mcp"}, mcpclient.Options{})(l)
	}},
	{"a wrong path", "no_endpoint", "404", true, answering(404, "text/plain", "404 page not found")},
	{"an HTML page", "not_mcp", "", true, answering(200, "text/html", "<title>Welcome</title>")},
	{"a redirect", "redirected", "", true, func(l *lab) {
		s := httptest.NewServer(http.RedirectHandler("https://login.example.com/", http.StatusFound))
		defer s.Close()
		connecting(&transport.HTTP{URL: s.URL + "/mcp"}, mcpclient.Options{})(l)
	}},
}
