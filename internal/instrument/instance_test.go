package instrument_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestInstanceIDAccompaniesNameExceptOnMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t, telemetry.WithSlowThreshold(time.Second))
		lifeOfClient(t, rec.Telemetry())
		lifeOfServer(t, rec.Telemetry())

		instances := map[string]map[string]bool{} // by name
		see := func(what string, attrs map[string]string) {
			for _, side := range []string{"mcp_client", "mcp_server"} {
				name, instance := attrs[side+".name"], attrs[side+".instance.id"]
				if (name == "") != (instance == "") {
					t.Errorf("%s: got the name %q and the instance %q, want both or none", what, name, instance)
				}
				if name == "" {
					continue
				}
				if instances[name] == nil {
					instances[name] = map[string]bool{}
				}
				instances[name][instance] = true
			}
		}
		for _, s := range rec.Spans() {
			see("span "+s.Name(), texts(s.Attributes()))
		}
		for _, r := range rec.Logs("") {
			see("event "+r.Event(), fieldsOf(r))
		}
		for _, name := range []string{"files", "demo"} {
			if len(instances[name]) != 1 {
				t.Errorf("instances of the name %s: got %v, want one", name, instances[name])
			}
		}
		for _, m := range rec.Metrics() {
			for _, p := range rec.Points(m.Name) {
				for key := range texts(p.Attrs.ToSlice()) {
					if key == "mcp_client.instance.id" || key == "mcp_server.instance.id" {
						t.Errorf("metric %s: got %s, want no instance", m.Name, key)
					}
				}
			}
		}
	})
}

func TestClientsWithSameNameHaveDistinctInstances(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	tel := rec.Telemetry()
	ask := func(opts ...instrument.SideOption) {
		c := instrument.NewClient(tel, "files", pipe, opts...)
		defer c.Close()
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		op.End(instrument.Result{})
	}
	ask()
	ask()
	ask(instrument.WithInstanceID(""))
	ask(instrument.WithInstanceID("pod-7"))

	random, seen := regexp.MustCompile(`^[0-9a-f]{16}$`), map[string]bool{}
	for i, s := range rec.Spans() {
		id := texts(s.Attributes())["mcp_client.instance.id"]
		if seen[id] {
			t.Errorf("client %d: another client also has %q", i, id)
		}
		seen[id] = true
		if given := i == 3; given && id != "pod-7" || !given && !random.MatchString(id) {
			t.Errorf("client %d: got %q, want the configured id, or 16 hexadecimal digits", i, id)
		}
	}
	if len(seen) != 4 {
		t.Errorf("got %d instances, want 4", len(seen))
	}
	if n := len(rec.Points("mcp.client.operation.duration")); n != 1 {
		t.Errorf("series of the clients: got %d, want 1", n)
	}
}
