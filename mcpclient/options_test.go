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
		"InitTimeout is negative":                     {InitTimeout: -1},
		"BackoffMin is negative":                      {BackoffMin: -1},
		"SendQueue is negative":                       {SendQueue: -1},
		"BackoffMax is negative":                      {BackoffMax: -1},
		"CloseTimeout is negative":                    {CloseTimeout: -1},
		"FrameLimit is negative":                      {FrameLimit: -1},
		"NotificationQueue is negative":               {NotificationQueue: -1},
		"NotificationBytes is negative":               {NotificationBytes: -1},
		"BackoffMax 1s is below BackoffMin 2s":        {BackoffMin: 2 * time.Second, BackoffMax: time.Second},
		`unknown protocol version "1999-01-01"`:       {Versions: []mcp.Version{mcp.Version20251125, "1999-01-01"}},
		"mcpclient: options: InitTimeout is negative": {InitTimeout: -time.Second},
	} {
		for name, create := range map[string]func() (*mcpclient.Client, error){
			"New":     func() (*mcpclient.Client, error) { return mcpclient.New(newScript(t), &o) },
			"Connect": func() (*mcpclient.Client, error) { return mcpclient.Connect(t.Context(), newScript(t), &o) },
		} {
			c, err := create()
			if err == nil {
				_ = c.Stop(t.Context())
			}
			if err == nil || c != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want an error with %q and no client, got %v", name, want, err)
			}
		}
	}
	if _, err := mcpclient.New(nil, nil); err == nil || !strings.Contains(err.Error(), "no transport") {
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
