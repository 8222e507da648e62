package mcpclient

import (
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestClientsWithTheSameOptionsShareTheirConfig(t *testing.T) {
	tel := telemetry.New()
	shared := func(o Options) *config {
		t.Helper()
		o.Telemetry = tel
		c, err := newConfig(&o, "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		return c.shared()
	}
	plain := shared(Options{Versions: []mcp.Version{mcp.Version20260728}})
	if again := shared(Options{Versions: []mcp.Version{mcp.Version20260728}}); again != plain {
		t.Error("want the same config for the same options")
	}
	for what, o := range map[string]Options{
		"another version": {Versions: []mcp.Version{mcp.Version20251125}},
		"another number":  {Versions: []mcp.Version{mcp.Version20260728}, RequestTimeout: time.Minute},
		"another name":    {Versions: []mcp.Version{mcp.Version20260728}, ClientInfo: mcp.Implementation{Name: "n"}},
		"something declared": {Versions: []mcp.Version{mcp.Version20260728},
			Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}},
		"a function": {Versions: []mcp.Version{mcp.Version20260728}, OnTransition: func(connstate.Transition) {}},
		"a handler": {Versions: []mcp.Version{mcp.Version20260728},
			Features: []Feature{HandleNotification("x", nil)}},
		"a middleware": {Versions: []mcp.Version{mcp.Version20260728}, Middleware: []Middleware{nil}},
	} {
		if usual := shared(Options{Versions: []mcp.Version{mcp.Version20260728}}); shared(o) == usual {
			t.Errorf("%s: want another config", what)
		}
	}
	tel = telemetry.Off()
	if shared(Options{Versions: []mcp.Version{mcp.Version20260728}}) == plain {
		t.Error("another telemetry: want another config")
	}
}
