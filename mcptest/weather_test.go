package mcptest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// docs:service

// Weather is the code under test: it asks a server, and does without a forecast if the server takes too long.
type Weather struct{ Server *mcpclient.Client }

func (w *Weather) Today(ctx context.Context, city string) string {
	where := map[string]string{"city": city}
	result, err := w.Server.CallTool(ctx, "forecast", where, mcpclient.WithTimeout(2*time.Second))
	if err != nil {
		return "unknown"
	}
	return result.Text()
}

// docs:end

type place struct {
	City string `json:"city"`
}

// docs:test

// newWeather returns the code under test, with a server whose failures the test controls.
func newWeather(t *testing.T, rec *telemetrytest.Recording) (*Weather, *mcptest.Server) {
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: rec.Telemetry()})
	forecast := func(context.Context, place) (string, error) { return "sunny", nil }
	if err := mcpserver.AddTool(server.Server, &mcp.Tool{Name: "forecast"}, forecast); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: rec.Telemetry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &Weather{Server: client}, server
}

func TestTheWeatherIsUnknownWhenTheServerIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in a bubble, two seconds take no time
		weather, server := newWeather(t, telemetrytest.Recorder(t))
		server.Delay(time.Minute, mcp.MethodCallTool)
		if got := weather.Today(t.Context(), "Rome"); got != "unknown" {
			t.Errorf("got %q", got)
		}
		server.Delay(0)
		if got := weather.Today(t.Context(), "Rome"); got != "sunny" {
			t.Errorf("got %q", got)
		}
	})
}

func TestAForecastIsOneTrace(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	weather, _ := newWeather(t, rec)
	ctx, span := rec.TracerProvider().Tracer("weather").Start(t.Context(), "show the weather")
	weather.Today(ctx, "Rome")
	span.End()
	rec.AssertOneTrace(`
		INTERNAL show the weather
		  CLIENT tools/call forecast
		    SERVER tools/call forecast`)
}

// docs:end

func TestWeatherIsUnknownWhileServerIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		weather, server := newWeather(t, telemetrytest.Recorder(t))
		server.Refuse(errors.New("out of order"))
		server.Kill()
		if got := weather.Today(t.Context(), "Rome"); got != "unknown" {
			t.Errorf("got %q", got)
		}
		server.Refuse(nil)
		if err := weather.Server.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := weather.Today(t.Context(), "Rome"); got != "sunny" {
			t.Errorf("got %q", got)
		}
	})
}
