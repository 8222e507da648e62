package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// After a call is cancelled or times out, the server ends its stream without an answer. This is not a protocol
// violation. It is a violation if the stream ends without an answer while the caller still waits.
func TestAMissingAnswerIsAViolationOnlyWhileTheCallerWaits(t *testing.T) {
	for _, way := range []struct {
		version mcp.Version
		mode    transport.HTTPMode
	}{
		{mcp.Version20260728, transport.ModeAuto},
		{mcp.Version20251125, transport.ModeAuto},
		{mcp.Version20250618, transport.ModeAuto},
		{mcp.Version20250326, transport.ModeAuto},
		{mcp.Version20241105, transport.ModeSSE},
	} {
		t.Run(string(way.version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testMissingAnswers(t, way.version, way.mode) })
		})
	}
}

// testMissingAnswers cancels 40 calls, and then makes one call whose stream the server ends without an answer.
func testMissingAnswers(t *testing.T, version mcp.Version, mode transport.HTTPMode) {
	h := newStuckServer(t).HTTPHandler(nil)
	w := serveHandler(t, withoutAnswerTo("silent", h), h)
	rec := telemetrytest.Recorder(t)
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: "http://localhost/mcp", Client: w.client, Mode: mode},
		&mcpclient.Options{Versions: []mcp.Version{version}, Telemetry: rec.Telemetry()})
	must(t, err)
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		options, want := []mcpclient.CallOption{mcpclient.WithTimeout(time.Second)}, mcpclient.ErrTimeout
		if i%2 == 1 {
			options, want = nil, context.Canceled
			time.AfterFunc(time.Second, cancel)
		}
		if _, err := c.CallTool(ctx, "wait", nil, options...); !errors.Is(err, want) {
			t.Errorf("call %d: got %v, want %v", i, err, want)
		}
		cancel()
	}
	synctest.Wait()
	if n := rec.Value("mcp_client.protocol.violations"); n != 0 {
		t.Errorf("violations by calls that were given up: got %d, want 0; %v", n, rec.Logs("mcp_client.protocol.violation"))
	}
	want := int64(0)
	if mode != transport.ModeSSE { // with SSE, one stream carries all answers, and its end is the end of the connection
		want = 1
		if _, err := c.CallTool(t.Context(), "silent", nil); err == nil {
			t.Error("a call that got no answer: got no error")
		}
	}
	must(t, c.Close())
	if n := rec.Value("mcp_client.protocol.violations"); n != want {
		t.Errorf("violations by a call that waited: got %d, want %d", n, want)
	}
	w.end()
}

// newStuckServer returns a server whose tool wait runs until the client cancels the call.
func newStuckServer(t *testing.T) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "stuck", Version: "1"}, nil)
	must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
		<-ctx.Done()
		return struct{}{}, context.Cause(ctx)
	}))
	return s
}

// withoutAnswerTo ends the stream of each request whose body contains word. It passes all other requests to h.
func withoutAnswerTo(word string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(word)) {
			w.Header().Set("Content-Type", "application/json")
			return
		}
		h.ServeHTTP(w, r)
	})
}
