package mcptest_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcptest"
)

// docs:script

func TestBlankForecastIsNotAnError(t *testing.T) {
	script := mcptest.NewScript(t)
	client, err := mcpclient.New(script, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server := script.Accept().Handshake(mcp.Version20251125)
	if err := client.WaitForReady(t.Context()); err != nil {
		t.Fatal(err)
	}

	forecast := make(chan string, 1)
	weather := &Weather{Server: client}
	go func() { forecast <- weather.Today(t.Context(), "Rome") }()
	call := server.Expect(mcp.MethodCallTool)
	server.Answer(call, `{"content":[]}`)
	if got := <-forecast; got != "" {
		t.Errorf("got %q", got)
	}
}

// docs:end
