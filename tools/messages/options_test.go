package messages

import (
	"context"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// optioned returns a test of the error that New returns for options.
func optioned(o *mcpclient.Options) func(t *testing.T) error {
	return func(*testing.T) error {
		_, err := mcpclient.New(shell("exit"), o)
		return err
	}
}

// adding returns a test of the error that AddTool returns for a tool.
func adding[In, Out any](tool *mcp.Tool) func(t *testing.T) error {
	return func(*testing.T) error {
		s := mcpserver.New(mcp.Implementation{Name: "x", Version: "1"}, nil)
		return mcpserver.AddTool(s, tool, func(context.Context, In) (out Out, err error) { return out, nil })
	}
}

// configured returns a test of the error for a configuration file.
func configured(text string) func(t *testing.T) error {
	return func(*testing.T) error {
		_, err := config.Parse([]byte(text), &config.Options{LookupEnv: func(string) (string, bool) { return "", false }})
		return err
	}
}

// members returns a test of the error that NewGroup returns for members with these names.
func members(names ...string) func(t *testing.T) error {
	return func(*testing.T) error {
		var all []mcpclient.Member
		for _, n := range names {
			all = append(all, mcpclient.Member{Name: n, Transport: shell("exit")})
		}
		_, err := mcpclient.NewGroup(all, nil)
		return err
	}
}

var optionMessages = chapter{"options and files", []complaint{
	{"New: a negative time", optioned(&mcpclient.Options{KeepAlive: -time.Second})},
	{"New: Backoff.Min over Backoff.Max",
		optioned(&mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Minute, Max: time.Second}})},
	{"New: a version that does not exist", optioned(&mcpclient.Options{Versions: []mcp.Version{"2025-01-01"}})},
	{"New: two handlers for one request", optioned(&mcpclient.Options{Features: []mcpclient.Feature{
		filled(nil, nil), filled(nil, nil)}})},
	{"New: a handler that is nil", optioned(&mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleSampling(nil, nil)}})},
	{"NewGroup: a member without a name", members("")},
	{"NewGroup: two members of one name", members("weather", "weather")},
	{"NewGroup: names that become one", members("my_weather", "my-weather")},
	{"AddTool: no name", adding[struct{}, string](&mcp.Tool{})},
	{"AddTool: a name with a space", adding[struct{}, string](&mcp.Tool{Name: "my tool"})},
	{"AddTool: an input that is no struct", adding[string, string](&mcp.Tool{Name: "forecast"})},
	{"AddTool: an input that JSON does not have", adding[struct{ F func() }, string](&mcp.Tool{Name: "forecast"})},
	{"AddTool: a schema that is none", adding[struct{}, string](&mcp.Tool{Name: "forecast",
		InputSchema: []byte(`{"type":"objekt"}`)})},
	{"AddTool: the name twice", func(t *testing.T) error {
		s := mcpserver.New(mcp.Implementation{Name: "x", Version: "1"}, nil)
		add := func() error {
			return mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(context.Context, struct{}) (string, error) {
				return "", nil
			})
		}
		if err := add(); err != nil {
			t.Fatal(err)
		}
		return add()
	}},
	{"a config file that does not exist", func(*testing.T) error {
		_, err := config.Load("mcp.json", nil)
		return err
	}},
	{"a config file that is empty", configured("")},
	{"a config file that is no JSON", configured("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"npx\",}\n  }\n}")},
	{"a config file of something else", configured(`{"name": "x"}`)},
	{"a config file with several mistakes", configured(`{"mcpServers": {"a": {}, "b": {"url": "mcp.example.com"},
		"c": {"command": "npx", "args": "-y", "env": {"TOKEN": "${TOKEN}"}, "timeout": "soon"}}}`)},
	{"HTTP: a header that cannot be sent", func(t *testing.T) error {
		header := map[string][]string{"Bad Name": {"x"}}
		return connecting(t, &transport.HTTP{URL: "http://localhost/mcp", Header: header}, nil)
	}},
}}
