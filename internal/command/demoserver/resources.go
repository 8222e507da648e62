package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	aboutURI         = "demo://about"
	clockURI         = "demo://clock"
	forecastTemplate = "demo://forecast/{city}"

	about = "# The demo's server\n\nIt has something of everything that a server can have. `mcpotel watch --uri " +
		clockURI + "` shows time pass.\n"

	// onePixel and oneClick are the smallest picture and sound, in base64.
	onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	oneClick = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACA/w=="
)

// cities are the cities that completion offers; any other city has weather too.
var cities = []string{"Berlin", "Bern", "Lima", "Lisbon", "Osaka", "Oslo", "Paris", "Rome"}

func addResources(s *mcpserver.Server) error {
	forecasts := mcp.CompleteRef{Type: mcp.RefResource, URI: forecastTemplate}
	return errors.Join(
		s.AddResource(&mcp.Resource{URI: aboutURI, Name: "about", Title: "About this server", MIMEType: "text/markdown"},
			readAbout),
		s.AddResource(&mcp.Resource{URI: clockURI, Name: "clock", Description: "The time, which can be watched.",
			MIMEType: "text/plain"}, readClock),
		s.AddResource(&mcp.Resource{URI: "demo://pixel", Name: "pixel", Description: "A picture.", MIMEType: "image/png"},
			readPixel),
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: forecastTemplate, Name: "forecast", Description: "Tomorrow's weather in a city.",
			MIMEType: "application/json",
		}, readForecast),
		s.AddCompletion(forecasts, "city", completeCity),
	)
}

func text(s string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: s}}}
}

func readAbout(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return text(about), nil
}

func readClock(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return text(time.Now().Format(time.DateTime)), nil
}

func readPixel(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Blob: new(onePixel)}}}, nil
}

func readForecast(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	city := r.Variables["city"]
	if city == "" {
		return nil, mcpserver.ResourceNotFound(r.URI)
	}
	raw, err := json.Marshal(weatherIn(city, 1)[0])
	if err != nil {
		return nil, err
	}
	return text(string(raw)), nil
}

func completeCity(_ context.Context, r *mcpserver.CompleteRequest) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(cities), func(city string) bool {
		return !strings.HasPrefix(strings.ToLower(city), strings.ToLower(r.Value))
	}), nil
}

// Tick updates the clock and writes a debug log message once a second, until ctx ends. It notifies the subscribers of
// the clock.
func Tick(ctx context.Context, s *mcpserver.Server) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			s.ResourceUpdated(clockURI)
			s.Log(mcp.LevelDebug, "clock", "tick")
		case <-ctx.Done():
			return
		}
	}
}
