package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Names in telemetry.
const (
	ClientName = "fleet-client"
	ServerName = "fleet-server"
)

// Tools are the tools of each server in the fleet. echo returns its argument text, fail reports an error, wait sends a
// GET request to a URL and returns when it is cancelled, and ask asks the user for a name and returns a greeting.
var Tools = []string{"echo", "fail", "wait", "ask"}

// ErrFailed is the error that the tool fail reports.
var ErrFailed = errors.New("it failed, as it should")

// Question is the message of the tool ask to the user.
const Question = "What is your name?"

// Form is the schema of the answer to Question.
const Form = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

// User is the user's answer to Question.
const User = "Ada"

// Ours returns this module's server.
func Ours(tel *telemetry.Telemetry) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: ServerName, Version: "1"}, &mcpserver.Options{Telemetry: tel})
	add(s, "echo", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	add(s, "fail", func(context.Context, struct{}) (string, error) { return "", ErrFailed })
	add(s, "wait", func(ctx context.Context, in struct {
		URL string `json:"url,omitempty"`
	}) (string, error) {
		return "", Wait(ctx, in.URL)
	})
	add(s, "ask", func(ctx context.Context, _ struct{}) (string, error) {
		answer, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
			&mcp.ElicitParams{Message: Question, RequestedSchema: json.RawMessage(Form)})
		if err != nil {
			return "", err
		}
		name, _ := answer.Content["name"].(string)
		return "Hello, " + name, nil
	})
	return s
}

func add[In any](s *mcpserver.Server, name string, h func(context.Context, In) (string, error)) {
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, h); err != nil {
		panic(err) // the definition of the tool is wrong
	}
}

// Call calls a tool with some client library.
type Call func(ctx context.Context, tool string, arguments map[string]any) (text string, isError bool, err error)

// Dial connects this module's client, limited to one version of the protocol, and returns a function that calls tools
// with it.
func Dial(t testing.TB, tr transport.Transport, tel *telemetry.Telemetry, version string) Call {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), tr, &mcpclient.Options{
		Name: ClientName, Telemetry: tel, Versions: []mcp.Version{mcp.Version(version)},
		Features: []mcpclient.Feature{
			mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": User}}, nil
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return func(ctx context.Context, tool string, arguments map[string]any) (string, bool, error) {
		res, err := c.CallTool(ctx, tool, arguments)
		if err != nil {
			return "", false, err
		}
		return res.Text(), res.IsError, nil
	}
}
