package mcpclient_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func TestUnusableOptionsAreRefusedAtOnce(t *testing.T) {
	for want, o := range map[string]mcpclient.Options{
		"Timeouts.Init is negative":                     {Timeouts: mcpclient.Timeouts{Init: -1}},
		"Backoff.Min is negative":                       {Backoff: mcpclient.Backoff{Min: -1}},
		"Limits.SendQueue is negative":                  {Limits: mcpclient.Limits{SendQueue: -1}},
		"Backoff.Max is negative":                       {Backoff: mcpclient.Backoff{Max: -1}},
		"Timeouts.Close is negative":                    {Timeouts: mcpclient.Timeouts{Close: -1}},
		"Limits.Frame is negative":                      {Limits: mcpclient.Limits{Frame: -1}},
		"Limits.Notifications is negative":              {Limits: mcpclient.Limits{Notifications: -1}},
		"Limits.NotificationBytes is negative":          {Limits: mcpclient.Limits{NotificationBytes: -1}},
		"Backoff.Max 1s is below Backoff.Min 2s":        {Backoff: mcpclient.Backoff{Min: 2 * time.Second, Max: time.Second}},
		`unknown protocol version "1999-01-01"`:         {Versions: []mcp.Version{mcp.Version20251125, "1999-01-01"}},
		"mcpclient: options: Timeouts.Init is negative": {Timeouts: mcpclient.Timeouts{Init: -time.Second}},
	} {
		for name, create := range map[string]func() (*mcpclient.Client, error){
			"New":     func() (*mcpclient.Client, error) { return mcpclient.New(newScript(t), &o) },
			"Connect": func() (*mcpclient.Client, error) { return mcpclient.Connect(t.Context(), newScript(t), &o) },
		} {
			c, err := create()
			if err == nil {
				_ = c.Close()
			}
			if err == nil || c != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want an error with %q and no client, got %v", name, want, err)
			}
		}
	}
	if _, err := mcpclient.New(nil, nil); err == nil || !strings.Contains(err.Error(), "the transport is nil") {
		t.Errorf("want an error about the missing transport, got %v", err)
	}
}

func TestFeaturesDeclareTheirCapabilitiesInBothEras(t *testing.T) {
	o := func() *mcpclient.Options {
		return &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleSampling(saying(hello()), nil)},
			Capabilities: mcp.ClientCapabilities{
				Experimental: map[string]mcp.Object{"x": mcp.Object(`{}`)},
			}}
	}
	const want = `{"sampling":{},"experimental":{"x":{}}}`
	t.Run("modern", func(t *testing.T) {
		ready(t, o(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), "call", nil, nil) })
			f := v.Expect("call")
			if member := `"io.modelcontextprotocol/clientCapabilities":` + want; !strings.Contains(f.Raw, member) {
				t.Errorf("want %s in every request, got %s", member, f.Raw)
			}
			v.Answer(f, `{}`)
			<-done
		})
	})
	t.Run("legacy", func(t *testing.T) {
		options := o()
		options.Versions = []mcp.Version{mcp.Version20251125}
		bubble(t, options, func(t *testing.T, s *script, c *mcpclient.Client) {
			if f := s.next(t).Expect(mcp.MethodInitialize); !strings.Contains(f.Raw, `"capabilities":`+want) {
				t.Errorf("want %s in initialize, got %s", want, f.Raw)
			}
		})
	})
}
