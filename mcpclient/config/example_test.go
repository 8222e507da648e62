package config_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The example goes from the file to the tools of all its servers.
func ExampleLoad() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "sunny, says " + mcpserver.RequestFrom(ctx).HTTP().Header.Get("X-Api-Key"), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := s.HTTPHandler(nil)
	web := httptest.NewServer(handler)
	defer web.Close()
	defer handler.Shutdown(context.Background())

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mcp.json")
	file := `{"mcpServers": {"weather": {"url": "${WEATHER_URL}", "headers": {"X-Api-Key": "${KEY:-k-17}"}}}}`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	c, err := config.Load(path, &config.Options{ // nil means the environment of the process
		LookupEnv: func(name string) (string, bool) { return web.URL, name == "WEATHER_URL" },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	group, err := mcpclient.NewGroup(c.Members(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer group.Close()
	if err := group.WaitForReady(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for tool, err := range group.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := group.CallTool(ctx, tool.Name, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name+":", result.Text())
	}
	// Output: weather_forecast: sunny, says k-17
}

func ExampleParse() {
	file := `{
		"mcpServers": {
			"files": {"command": "mcp-files", "args": ["${DIR:-/srv}"], "autoApprove": ["read"]},
			"search": {"url": "https://search.example.com/mcp", "headers": {"Authorization": "Bearer ${SEARCH_TOKEN}"}},
			"old": {"disabled": true, "command": "old-server"}
		}
	}`
	environment := map[string]string{"SEARCH_TOKEN": "secret"}
	c, err := config.Parse([]byte(file), &config.Options{
		LookupEnv: func(name string) (string, bool) { value, set := environment[name]; return value, set },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range c.Warnings {
		fmt.Println("warning:", w)
	}
	for _, s := range c.Servers {
		fmt.Println(s, s.Args)
	}
	fmt.Println(len(c.Members(nil)), "members for mcpclient.NewGroup")
	// Output:
	// warning: mcpServers.files.autoApprove: the member is unknown and is ignored
	// files (stdio) [/srv]
	// search (auto, search.example.com) []
	// old (disabled) []
	// 2 members for mcpclient.NewGroup
}

func ExampleParse_errors() {
	_, err := config.Parse([]byte(`{"mcpServers": {
		"files": {"command": "mcp-files", "args": ["-v", 7]},
		"search": {"url": "https://search.example.com/mcp", "headers": {"Authorization": "Bearer ${SEARCH_TOKEN}"}}
	}}`), &config.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	fmt.Println(err)
	// Output:
	// config: mcpServers.files.args[1]: got a number, want a string
	// mcpServers.search.headers.Authorization: the environment variable SEARCH_TOKEN is not set
}
