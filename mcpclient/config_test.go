package mcpclient

import (
	"math"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestDefaultOptions(t *testing.T) {
	for name, o := range map[string]*Options{"nil": nil, "zero": {}} {
		c, err := newConfig(o, "name-of-the-transport", 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := c.core.Policy()
		for what, durations := range map[string][2]time.Duration{
			"request timeout":     {c.RequestTimeout, 30 * time.Second},
			"init timeout":        {p.InitTimeout, 10 * time.Second},
			"backoff minimum":     {p.BackoffMin, time.Second},
			"backoff maximum":     {p.BackoffMax, 30 * time.Second},
			"close timeout":       {p.CloseTimeout, 100 * time.Millisecond},
			"life of a tombstone": {c.core.Inflight().TTL, 75 * time.Second},
			"sweep interval":      {c.core.Inflight().SweepInterval, time.Minute},
		} {
			if got, want := durations[0], durations[1]; got != want {
				t.Errorf("%s: want the %s %v, got %v", name, what, want, got)
			}
		}
		if c.Limits.Frame != 16_777_216 || c.Limits.Notifications != 1024 || c.Limits.NotificationBytes != 16_777_216 ||
			p.BackoffJitter != 0.5 || c.Limits.SkipOversize {
			t.Errorf("%s: want the stated defaults, got %+v", name, c)
		}
		if c.Name != "name-of-the-transport" || c.ClientInfo.Name == "" || c.Telemetry == nil {
			t.Errorf("%s: want a name, an implementation and a telemetry, got %+v", name, c)
		}
		if len(c.core.Modern)+len(c.core.Legacy) != len(mcp.SupportedVersions()) || c.core.Newest() != mcp.Version20260728 {
			t.Errorf("%s: want all versions, newest first, got %v, %v", name, c.core.Modern, c.core.Legacy)
		}
	}
}

func TestGivenOptionsReplaceDefaults(t *testing.T) {
	c, err := newConfig(&Options{
		Name: "billing", ClientInfo: mcp.Implementation{Name: "n", Version: "v"}, RequestTimeout: -1,
		Backoff: Backoff{Min: time.Minute, Attempts: -1}, Versions: []mcp.Version{mcp.Version20241105, mcp.Version20250618},
	}, "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "billing" || c.ClientInfo.Name != "n" || c.RequestTimeout != -1 {
		t.Errorf("want the given options, got %+v", c)
	}
	if c.Backoff.Max != time.Minute {
		t.Errorf("want the longest delay to be at least the first delay, %v, got %v", time.Minute, c.Backoff.Max)
	}
	if p := c.core.Policy(); p.InitialAttempts != 0 {
		t.Errorf("want no limit of attempts, got %d", p.InitialAttempts)
	}
	if got := c.core.Inflight().TTL; got != 10*time.Second+time.Minute+5*time.Second {
		t.Errorf("without a request timeout, got the tombstone lifetime %v", got)
	}
	if c.core.Newest() != mcp.Version20250618 || len(c.core.Modern) != 0 || len(c.core.Legacy) != 2 {
		t.Errorf("want the pinned versions, newest first, got %v, %v", c.core.Modern, c.core.Legacy)
	}
}

// A duration that means "forever" must not overflow.
func TestInfiniteDurationsDoNotOverflow(t *testing.T) {
	const forever = time.Duration(math.MaxInt64)
	for name, o := range map[string]Options{
		"request timeout": {RequestTimeout: forever},
		"init timeout":    {Timeouts: Timeouts{Init: forever}},
		"backoff":         {Backoff: Backoff{Max: forever}},
		"first backoff":   {Backoff: Backoff{Min: forever}},
		"close timeout":   {Timeouts: Timeouts{Close: forever / 100}},
		"all of them":     {RequestTimeout: forever, Timeouts: Timeouts{Init: forever}, Backoff: Backoff{Max: forever}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newConfig(&o, "", 0)
			if err != nil {
				return // an error is also acceptable
			}
			if ttl := c.core.Inflight().TTL; ttl <= 0 {
				t.Errorf("want a positive tombstone lifetime, got %v", ttl)
			}
			if err := c.core.Policy().Validate(); err != nil {
				t.Errorf("want a policy that works, got %v", err)
			}
		})
	}
}

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
		"another timeout": {Versions: []mcp.Version{mcp.Version20260728}, RequestTimeout: time.Minute},
		"another name":    {Versions: []mcp.Version{mcp.Version20260728}, ClientInfo: mcp.Implementation{Name: "n"}},
		"declared capabilities": {Versions: []mcp.Version{mcp.Version20260728},
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
