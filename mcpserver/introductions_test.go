package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// discovering returns a server/discover request with the given clientInfo, which may be empty.
func discovering(id int, clientInfo string) string {
	if clientInfo != "" {
		clientInfo = `,"io.modelcontextprotocol/clientInfo":` + clientInfo
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"server/discover","params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}%s}}}`,
		id, clientInfo)
}

func TestTelemetryIdentifiesClient(t *testing.T) {
	const ide = `{"name":"ide","version":"1.4.0","title":"An IDE"}`
	long := strings.Repeat("x", 5000)
	for name, test := range map[string]struct {
		messages      []string
		name, version string
		requests      int64 // number of requests counted under this name
	}{
		"modern": {[]string{discovering(1, ide), discovering(2, ide)}, "ide", "1.4.0", 2},
		"in another encoding": {[]string{discovering(1, `{ "version" : "1.4.0", "name":"i\u0064e" }`), discovering(2, ide)},
			"ide", "1.4.0", 2},
		"legacy": {[]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
				`"clientInfo":` + ide + `}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"ping"}`}, "ide", "1.4.0", 2},
		"no clientInfo":                {[]string{discovering(1, "")}, "", "", 0},
		"not an object":                {[]string{discovering(1, `["ide"]`)}, "", "", 0},
		"a string":                     {[]string{discovering(1, `"ide"`)}, "", "", 0},
		"members that are not strings": {[]string{discovering(1, `{"name":1,"version":{"name":"x"}}`)}, "", "", 0},
		"only a version":               {[]string{discovering(1, `{"version":"2"}`)}, "", "2", 1},
		"a very long name": {[]string{discovering(1, `{"name":"`+long+`","version":"1"}`),
			discovering(2, `{"name":"`+long+`","version":"1"}`)}, long[:128], "1", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				s := mcpserver.New(mcp.Implementation{Name: "demo", Version: "1"}, &mcpserver.Options{Telemetry: rec.Telemetry()})
				w := serve(t, t.Context(), s)
				for _, m := range test.messages {
					w.send(m)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
				var want []string
				for key, value := range map[string]string{
					names.KeyMCPServerClientName: test.name, names.KeyMCPServerClientVersion: test.version} {
					if value != "" {
						want = append(want, key, value)
					}
				}
				got := rec.Value(names.MetricMCPServerClientRequests, want...)
				if got != test.requests || len(rec.Points(names.MetricMCPServerClientRequests)) > 1 {
					t.Errorf("got %d requests of this client, want %d; all: %v", got, test.requests,
						rec.Points(names.MetricMCPServerClientRequests))
				}
				for _, span := range rec.Spans() {
					said := map[string]string{}
					for _, a := range span.Attributes() {
						said[string(a.Key)] = a.Value.AsString()
					}
					if said[names.KeyMCPServerClientName] != test.name || said[names.KeyMCPServerClientVersion] != test.version {
						t.Errorf("span %s says %q %q, want %q %q", span.Name(), said[names.KeyMCPServerClientName],
							said[names.KeyMCPServerClientVersion], test.name, test.version)
					}
				}
			})
		})
	}
}

// A client may send another clientInfo with each request. The memory for all of them is limited, and so is the number
// of client names in the metrics.
func TestRequestsWithChangingClientInfoAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := mcpserver.New(mcp.Implementation{Name: "demo", Version: "1"}, &mcpserver.Options{Telemetry: rec.Telemetry()})
		w := serve(t, t.Context(), s)
		const each = 400
		for i := range each {
			w.send(discovering(2*i, fmt.Sprintf(`{"name":"one","title":"%d"}`, i)))
			w.send(discovering(2*i+1, fmt.Sprintf(`{"name":"many-%d"}`, i)))
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		count := func(name string) int64 {
			return rec.Value(names.MetricMCPServerClientRequests, names.KeyMCPServerClientName, name)
		}
		if count("one") != each || count(names.Other) != each-255 {
			t.Errorf("got %d requests of one and %d of others, want %d and %d", count("one"), count(names.Other), each, each-255)
		}
	})
}
