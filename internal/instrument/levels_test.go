package instrument_test

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// TestEventsHaveDocumentedLevels checks the default levels: Debug for one record per message, Info for the life of a
// connection, Warn for degraded work or a misbehaving peer, Error for a defect of this side.
func TestEventsHaveDocumentedLevels(t *testing.T) {
	const debug, info, warn, fault = slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError
	for event, want := range map[string][]slog.Level{
		"mcp_client.request.start": {debug}, "mcp_client.request.stop": {debug, info},
		"mcp_client.request.exception": {debug, warn}, "mcp_client.request.tool_error": {info},
		"mcp_client.request.input_required": {debug}, "mcp_client.request.reissued": {info},
		"mcp_client.connection.transition": {info, warn}, "mcp_client.connection.attempt": {info, warn},
		"mcp_client.connection.backoff": {info}, "mcp_client.session.end": {info},
		"mcp_client.notification.received": {debug}, "mcp_client.notification.sent": {debug},
		"mcp_client.protocol.violation": {warn}, "mcp_client.send.retry": {debug},
		"mcp_client.tombstone.added": {debug}, "mcp_client.tombstone.expired": {debug},
		"mcp_client.response.dropped": {info, warn}, "mcp_client.stream.opened": {info}, "mcp_client.stream.closed": {info},
		"mcp_client.process.exit": {info, warn}, "mcp_client.process.stderr": {debug},
		"mcp_client.fault.injected": {info}, "mcp_client.audit.call": {info, fault}, "mcp_server.audit.call": {info, fault},
		"mcp_client.stream.refused": {debug}, "mcp_client.message.refused": {debug},
		"mcp_client.handler.panic": {fault}, "mcp_client.handler.exception": {debug, warn, fault},

		"mcp_server.request.start": {debug}, "mcp_server.request.stop": {debug, info},
		"mcp_server.request.exception": {debug, warn, fault}, "mcp_server.request.tool_error": {info},
		"mcp_server.notification.received": {debug}, "mcp_server.protocol.violation": {warn},
		"mcp_server.response.dropped": {info, warn}, "mcp_server.stream.opened": {info}, "mcp_server.stream.closed": {info},
		"mcp_server.session.end": {info}, "mcp_server.handler.panic": {fault},
	} {
		i := slices.IndexFunc(schema.Current.Events, func(e schema.Event) bool { return e.Name == event })
		if i < 0 {
			t.Errorf("no test emits the event %s of the schema", event)
		} else if got := schema.Current.Events[i].Levels; !slices.Equal(got, want) {
			t.Errorf("levels of %s: got %v, want %v", event, got, want)
		}
	}
}
