package instrument_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// undialled is the network of a server over HTTP before the first request.
var undialled = instrument.Network{Transport: "tcp", Protocol: "http", Address: "mcp.example", Port: 443}

func TestLateHTTPFactsAreRecordedWithoutSessionIDOnMetrics(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", undialled)
	defer c.Close()
	call := func(p *instrument.Peer) {
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		op.Admit(p, 1)
		op.End(instrument.Result{})
	}
	call(nil)
	learnt := undialled
	learnt.ProtocolVersion = "2"
	p := c.Peer(instrument.Facts{Network: learnt, MCPVersion: "2025-11-25"}, "session-1")
	call(p)
	p.SessionEnd(1, "")

	before, after := texts(rec.Spans()[0].Attributes()), texts(rec.Spans()[1].Attributes())
	for key, want := range map[string]string{
		"network.protocol.version": "2", "mcp.session.id": "session-1", "mcp.protocol.version": "2025-11-25",
	} {
		if before[key] != "" || after[key] != want {
			t.Errorf("%s on the spans: got %q and then %q, want nothing and then %q", key, before[key], after[key], want)
		}
	}
	if before["network.protocol.name"] != "http" || before["server.address"] != "mcp.example" {
		t.Errorf("the earlier span: got %v, want the facts of the URL", before)
	}
	if n := rec.Count("mcp.client.operation.duration", "network.protocol.version", "2"); n != 1 {
		t.Errorf("samples with the version of HTTP: got %d, want 1", n)
	}
	for _, m := range rec.Metrics() {
		for _, point := range rec.Points(m.Name) {
			if texts(point.Attrs.ToSlice())["mcp.session.id"] != "" {
				t.Errorf("metric %s: got %v, want no session id", m.Name, point.Attrs.ToSlice())
			}
		}
	}
}

func TestHTTPVersionsOnMetricsAreLimited(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", undialled)
	defer c.Close()
	const versions = 100
	for i := range versions {
		learnt := undialled
		learnt.ProtocolVersion = fmt.Sprint("1.", i)
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		op.Admit(c.Peer(instrument.Facts{Network: learnt, MCPVersion: "2025-11-25"}, ""), 1)
		op.End(instrument.Result{})
	}
	got := values(rec, "mcp.client.operation.duration", "network.protocol.version")
	if len(got) != 16 || got["_OTHER"] != versions-15 {
		t.Errorf("versions on the metric: got %d with %d others, want 16 and %d", len(got), got["_OTHER"], versions-15)
	}
}

// answered is the error of a request whose only answer came from HTTP.
type answered int

func (a answered) Error() string     { return "HTTP " + strconv.Itoa(int(a)) }
func (a answered) ErrorType() string { return strconv.Itoa(int(a)) }

// HTTP statuses are a set that a server cannot extend. So they do not count towards the limit of error types.
func TestHTTPStatusesAreErrorTypes(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", undialled)
	defer c.Close()
	var statuses []int
	for status := 300; status < 600; status++ {
		if http.StatusText(status) != "" {
			statuses = append(statuses, status)
		}
	}
	for _, status := range append(statuses, 299, 599, 999, 42) {
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		op.End(instrument.Result{Err: answered(status)})
		_, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
		attempt.End(answered(status))
		c.StreamOpened(names.StreamGet)(fmt.Errorf("the stream: %w", answered(status)))
	}

	requests := values(rec, "mcp.client.operation.duration", "error.type")
	attempts := values(rec, "mcp_client.connection.attempt.duration", "error.type")
	streams := values(rec, "mcp_client.stream.duration", "error.type")
	for _, status := range statuses {
		text := strconv.Itoa(status)
		if requests[text] != 1 || attempts[text] != 1 || streams[text] != 1 {
			t.Errorf("samples with status %s: got %d, %d, %d; want one for a request, an attempt, a stream",
				text, requests[text], attempts[text], streams[text])
		}
	}
	if attempts["_OTHER"] != 4 || streams["_OTHER"] != 4 {
		t.Errorf("numbers that are not a status: got %v and %v, want four _OTHER", attempts, streams)
	}
	for _, r := range rec.Logs("mcp_client.request.exception")[:len(statuses)] {
		if r.Text("mcp_client.error.kind") != "transport" {
			t.Errorf("kind of error %s: got %s, want transport", r.Text("error.type"), r.Text("mcp_client.error.kind"))
		}
	}
	if got := texts(rec.Spans()[0].Attributes())["error.type"]; got != "300" {
		t.Errorf("error.type of the span: got %q, want the status", got)
	}
}

func TestEachRetryReasonIsCounted(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", undialled)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	for _, reason := range []string{names.RetryBusy, names.RetryServerBusy, names.RetryHeaderMismatch} {
		op.Retry(reason)
	}
	op.End(instrument.Result{Err: errors.New("no room")})
	for _, reason := range []string{"busy", "server_busy", "header_mismatch"} {
		if n := rec.Value("mcp_client.transport.send.retries", "mcp_client.retry.reason", reason); n != 1 {
			t.Errorf("retries for %s: got %d, want 1", reason, n)
		}
	}
}
