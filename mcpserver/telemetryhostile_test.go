package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// many is the number of names, ids and so on that a hostile peer invents: twice the series of any metric.
const many = 3000

// countsOnly is a recording of metrics only, because a flood would fill a full recording with spans and records.
func countsOnly(t *testing.T) *telemetrytest.Recording {
	t.Helper()
	return telemetrytest.Recorder(t, telemetry.WithTracerProvider(noop.NewTracerProvider()), telemetry.WithLogger(quiet))
}

// within fails the test if a metric has more series than the schema allows for one client or server. The Recording
// makes the same check; the calls of within show which metrics a test exercises.
func within(t *testing.T, rec *telemetrytest.Recording, metrics ...string) {
	t.Helper()
	for _, row := range schema.Current.Metrics {
		n := len(rec.Points(row.Name))
		if n > row.MaxSeries {
			t.Errorf("%s: got %d series, want at most %d", row.Name, n, row.MaxSeries)
		}
		t.Logf("%s: %d of %d series", row.Name, n, row.MaxSeries)
	}
	for _, name := range metrics {
		if len(rec.Points(name)) == 0 {
			t.Errorf("%s is put to the test, got no sample", name)
		}
	}
}

// TestHostileClientCannotExceedMetricSeriesOfSchema uses a client that invents names, methods, versions, ids and
// codes.
func TestHostileClientCannotExceedMetricSeriesOfSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := countsOnly(t)
		s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry(), Limits: mcpserver.Limits{Queued: 1 << 20}},
			"roots", rootsTool)
		for i := range 300 { // more names than metrics distinguish, although the server itself defines them
			must(t, s.AddTool(&mcp.Tool{Name: fmt.Sprint("own", i)}, echo))
		}
		w := openedAble(t, s, "2025-11-25")
		for i := range many {
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"a%d","method":"tools/call","params":{"name":"tool%[1]d"}}`, i)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"b%d","method":"tools/call","params":{"name":"own%d"}}`, i, i%300)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"c%d","method":"prompts/get","params":{"name":"prompt%[1]d"}}`, i)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"d%d","method":"resources/read","params":{"uri":"file:///%[1]d"}}`, i)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"e%d","method":"acme/%[1]d"}`, i)
			w.in <- frameOf(`{"jsonrpc":"2.0","method":"notifications/%d"}`, i)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+many)
			w.in <- frameOf(`{"jsonrpc":"2.0","id":"f%d","method":"tools/list",`+
				`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v%[1]d",`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`, i)
			w.in <- frameOf(`{"jsonrpc":"%d","id":1}`, i)
			if i%500 == 0 {
				synctest.Wait()
				w.taken()
			}
		}
		synctest.Wait()
		w.taken()
		for i := range many / 10 {
			w.send(callOf(i, "roots", "{}"))
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"no"}}`, i+1, i+1000))
			w.taken()
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		within(t, rec, "mcp.server.operation.duration", "mcp.client.operation.duration", "mcp_server.notification.messages",
			"mcp_server.protocol.violations", "mcp_server.response.drops", "mcp_server.active_requests")
	})
}

func frameOf(format string, args ...any) received {
	return received{frame: fmt.Appendf(nil, format, args...)}
}

// hostile is a server that invents names, methods, ids and codes.
type hostile struct {
	p     *transport.Peer
	calls int
}

// answer answers one request, and sends messages that the client does not expect.
func (h *hostile) answer(ctx context.Context, frame []byte) {
	id, method := field(frame, `"id":`), strings.Trim(field(frame, `"method":`), `"`)
	send := func(format string, args ...any) { _ = h.p.Send(ctx, fmt.Appendf(nil, format, args...)) }
	switch {
	case method == mcp.MethodInitialize:
		h.calls++
		send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},`+
			`"resources":{}},"serverInfo":{"name":"n%d","version":"%[2]d"}}}`, id, h.calls)
	case id == "", method == "": // a notification, or an answer
	default:
		h.calls++
		n := h.calls
		send(`{"jsonrpc":"2.0","method":"notifications/%d"}`, n)
		send(`{"jsonrpc":"2.0","id":"s%d","method":"acme/%[1]d"}`, n)
		send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n+1_000_000)
		send(`{"jsonrpc":"%d","id":1}`, n)
		send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, id, n+1000)
	}
}

// field returns the text after key in a frame, up to the next comma or brace.
func field(frame []byte, key string) string {
	_, rest, ok := strings.Cut(string(frame), key)
	if !ok {
		return ""
	}
	return strings.TrimSpace(rest[:strings.IndexAny(rest, ",}")])
}

// TestHostileServerCannotExceedMetricSeriesOfSchema uses a client that calls everything that the server lists.
func TestHostileServerCannotExceedMetricSeriesOfSchema(t *testing.T) {
	rec := countsOnly(t)
	h := &hostile{}
	c, err := mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		h.p = p
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			h.answer(ctx, frame)
		}
	}), &mcpclient.Options{
		Telemetry: rec.Telemetry(), Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{mcpclient.HandleNotification("", func(context.Context, *mcpclient.Notification) {})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for i := range many {
		name := fmt.Sprint("name", i)
		_, _ = c.CallTool(t.Context(), name, nil)
		_, _ = c.GetPrompt(t.Context(), name, nil)
		_, _ = c.ReadResource(t.Context(), "file:///"+name)
		_ = c.Call(t.Context(), "acme/"+name, nil, nil)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range rec.Points("mcp_client.notification.messages", "mcp_client.direction", "received") {
		if m, _ := p.Attrs.Value("mcp.method.name"); m.AsString() != "_OTHER" {
			t.Errorf("a name that only a handler for everything hears is _OTHER, got %s", m.AsString())
		}
	}
	within(t, rec, "mcp.client.operation.duration", "mcp.server.operation.duration", "mcp_client.notification.messages",
		"mcp_client.protocol.violations", "mcp_client.response.drops", "mcp_client.active_requests")
}
