package inspectserver_test

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/inspect/inspectserver"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestOptionsSelectClientsAndServers(t *testing.T) {
	connect := func(s *mcpserver.Server, name string) *mcpclient.Client {
		c, err := mcpclient.Connect(t.Context(), inMemory(s), &mcpclient.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	weather := mcpserver.New(mcp.Implementation{Name: "weather-server", Version: "1"}, nil)
	ours, _ := connect(weather, "our-client"), connect(weather, "their-client")
	for name, tt := range map[string]struct {
		o                    *inspectserver.Options
		ours, theirs, server bool
	}{
		"all":  {nil, true, true, true},
		"some": {&inspectserver.Options{Clients: []inspectserver.Client{ours}}, true, false, true},
		"none": {&inspectserver.Options{Clients: []inspectserver.Client{}, Servers: []inspectserver.Server{}}, false, false,
			false},
		"servers": {&inspectserver.Options{Clients: []inspectserver.Client{}, Servers: []inspectserver.Server{weather}},
			false, false, true},
	} {
		s, err := inspectserver.New(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := connect(s, "agent-of-"+name).CallTool(t.Context(), "list_clients", map[string]any{"limit": 100})
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{`"our-client"`: tt.ours, `"their-client"`: tt.theirs,
			`server "weather-server"`: tt.server, `server "mcpotel-inspect"`: false} {
			if got := strings.Contains(r.Text(), "- client "+text) || strings.Contains(r.Text(), "- "+text); got != want {
				t.Errorf("%s: contains %s: %v, want %v, in\n%s", name, text, got, want, r.Text())
			}
		}
	}
}
