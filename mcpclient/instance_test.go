package mcpclient_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestClientsWithSameNameHaveDistinctInstanceIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		ids := map[string]int{}
		for _, o := range []mcpclient.Options{{}, {}, {InstanceID: "pod-7"}} {
			o.Name, o.Telemetry = "files", rec.Telemetry()
			c, err := mcpclient.Connect(t.Context(), toolbox("T", "x"), &o)
			if err != nil {
				t.Fatal(err)
			}
			id := c.Inspect().InstanceID
			if o.InstanceID != "" && id != o.InstanceID {
				t.Errorf("got the instance %q, want %q, as in the options", id, o.InstanceID)
			}
			if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			ids[id] = 0
		}
		for _, s := range rec.Spans() {
			for _, a := range s.Attributes() {
				if a.Key == "mcp_client.instance.id" && s.Name() == "tools/call x" {
					ids[a.Value.AsString()]++
				}
			}
		}
		for id, calls := range ids {
			records := 0
			for _, r := range rec.Logs("mcp_client.request.stop") {
				if r.Text("mcp_client.instance.id") == id && r.Text("mcp.method.name") == "tools/call" {
					records++
				}
			}
			if id == "" || calls != 1 || records != 1 {
				t.Errorf("instance %q: got %d spans and %d records of its one call, want 1 and 1", id, calls, records)
			}
		}
		if len(ids) != 3 {
			t.Errorf("the clients and their spans have %d instances, want 3", len(ids))
		}
	})
}

func TestClientHasInstanceIDWithoutTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := mcpclient.New(deaf(), &mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		if id := c.Inspect().InstanceID; len(id) != 16 {
			t.Errorf("got %q, want 16 hexadecimal digits", id)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
