package config_test

import (
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient/config"
)

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
	// warning: mcpServers.files.autoApprove: unknown member, ignored
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
