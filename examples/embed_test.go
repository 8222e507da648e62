package examples

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/embed.md that is not in examples/service.

func clientOfTheGuide(server transport.Transport, logger *slog.Logger) (*mcpclient.Client, error) {
	// docs:client
	client, err := mcpclient.New(server, &mcpclient.Options{
		Name:      "weather",                                   // mcp_client.name identifies the server
		Telemetry: telemetry.New(telemetry.WithLogger(logger)), // spans and metrics go to the global providers
	})
	// docs:end
	return client, err
}

func groupOfTheGuide(ctx context.Context, shared *mcpclient.Options) (names []string, text string, err error) {
	// docs:group
	file, err := config.Load("mcp.json", nil)
	if err != nil {
		return nil, "", err
	}
	group, err := mcpclient.NewGroup(file.Members(shared), nil)
	if err != nil {
		return nil, "", err
	}
	defer group.Close()

	for tool, err := range group.Tools(ctx, mcpclient.WaitForReady()) {
		if err != nil {
			return nil, "", err
		}
		names = append(names, tool.Name) // weather_forecast: the name begins with the server's name
	}
	result, err := group.CallTool(ctx, "weather_forecast", map[string]any{"city": "Oslo"})
	// docs:end
	if err != nil {
		return nil, "", err
	}
	return names, result.Text(), nil
}

func TestGuideClientLogsUnderItsName(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	client, err := clientOfTheGuide(mcptest.NewServer(t, nil), slog.New(rec.LogHandler()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.WaitForReady(t.Context()), client.Ping(t.Context()), client.Close()); err != nil {
		t.Fatal(err)
	}
	if got := rec.Log("mcp_client.connection.attempt").Text("mcp_client.name"); got != "weather" {
		t.Errorf("the record of the attempt names the client %q, want weather", got)
	}
}

func TestGuideGroupCallsAServerFromItsFile(t *testing.T) {
	t.Chdir(t.TempDir())
	server := filepath.Join(built, "server")
	file := `{"mcpServers": {"weather": {"command": "` + filepath.ToSlash(server) + `",
		"env": {"OTEL_SDK_DISABLED": "true"}}}}`
	if err := os.WriteFile("mcp.json", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	names, text, err := groupOfTheGuide(t.Context(), &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil || !slices.Equal(names, []string{"weather_forecast"}) || text != `{"city":"Oslo","celsius":4}` {
		t.Errorf("got the tools %q, the answer %s and %v", names, text, err)
	}
}
