package instrument_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestOpenStreamsAreCountedAndEndedOnesMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", network, first)
		defer c.Close()
		active := func() int64 { return rec.Value("mcp_client.stream.active", "mcp_client.stream.kind", "get") }

		ended := c.StreamOpened(names.StreamGet)
		same(t, "the record of the opening", fieldsOf(rec.Log("mcp_client.stream.opened")), map[string]string{
			"event.name": "mcp_client.stream.opened", "mcp_client.name": "files", "mcp_client.instance.id": "1",
			"mcp_client.stream.kind": "get",
		})
		if n := active(); n != 1 {
			t.Errorf("open streams: got %d, want 1", n)
		}
		time.Sleep(time.Hour) // virtual
		ended(lost{})
		ended(errors.New("again"))

		if n := active(); n != 0 {
			t.Errorf("open streams after the end: got %d, want 0", n)
		}
		points := rec.Points("mcp_client.stream.duration")
		if len(points) != 1 || points[0].Count != 1 || points[0].Sum != 3600 {
			t.Fatalf("durations: got %+v, want one of an hour", points)
		}
		same(t, "the duration", texts(points[0].Attrs.ToSlice()), map[string]string{
			"mcp_client.name": "files", "mcp_client.stream.kind": "get", "error.type": "connection_lost",
		})
		same(t, "the record of the end", fieldsOf(rec.Log("mcp_client.stream.closed")), map[string]string{
			"event.name": "mcp_client.stream.closed", "mcp_client.name": "files", "mcp_client.instance.id": "1",
			"mcp_client.stream.kind": "get",
			"mcp_client.duration":    "3600", "error.type": "connection_lost", "exception.message": "the server went away",
		})
		if n := len(rec.Spans()); n != 0 {
			t.Errorf("spans of a stream: got %d, want none", n)
		}
	})
}

func TestNormalStreamEndRecordsNoErrorType(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", network)
	defer c.Close()
	for _, kind := range []string{names.StreamSSE, names.StreamListen, "wormhole"} {
		c.StreamOpened(kind)(nil)
	}
	for _, kind := range []string{"sse", "listen", "_OTHER"} {
		points := rec.Points("mcp_client.stream.duration", "mcp_client.stream.kind", kind)
		if len(points) != 1 || points[0].Count != 1 || texts(points[0].Attrs.ToSlice())["error.type"] != "" {
			t.Errorf("duration of a stream of kind %s: got %+v, want one without an error type", kind, points)
		}
	}
}

func TestStreamEndsOnce(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", network)
	defer c.Close()
	ended := c.StreamOpened(names.StreamListen)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { ended(nil) })
	}
	wg.Wait()
	if n := rec.Value("mcp_client.stream.active"); n != 0 {
		t.Errorf("open streams after eight ends of one stream: got %d, want 0", n)
	}
	if n := rec.Count("mcp_client.stream.duration"); n != 1 {
		t.Errorf("durations after eight ends of one stream: got %d, want 1", n)
	}
}
