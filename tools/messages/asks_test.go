package messages

import (
	"context"
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// asked returns a test of a call whose tool asks the client for something. The test returns the error of the call.
func asked(ask func(ctx context.Context) error, features ...mcpclient.Feature) func(t *testing.T) error {
	return asking(ask, nil, features...)
}

// asking is like asked, for a client that supports only these versions.
func asking(ask func(ctx context.Context) error, versions []mcp.Version, features ...mcpclient.Feature,
) func(t *testing.T) error {
	return func(t *testing.T) error {
		s := mcptest.NewServer(t, nil)
		err := mcpserver.AddTool(s.Server, &mcp.Tool{Name: "asks"}, func(ctx context.Context, _ struct{}) (string, error) {
			return "", ask(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		o := &mcpclient.Options{Telemetry: telemetry.Off(), Versions: versions, Features: features}
		return callTool("asks", nil)(t.Context(), connected(t, s, o), s)
	}
}

var legacyOnly = []mcp.Version{mcp.Version20251125}

func form(ctx context.Context) error {
	_, _, err := mcpserver.ElicitAs[struct {
		Name string `json:"name"`
	}](ctx, "Who are you?")
	return err
}

func sample(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx,
		&mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{
			{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("hi")}},
		}})
	return err
}

func roots(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	return err
}

// filled returns a handler that answers a form.
func filled(content map[string]any, err error) mcpclient.Feature {
	return mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, err
	})
}

var serverAsksMessages = chapter{"the server asks the client", []complaint{
	{"a form, and the client has no handler", asked(form)},
	{"a form, and a legacy client has no handler", asking(form, legacyOnly)},
	{"a form, and the handler fails", asked(form, filled(nil, errors.New("no terminal")))},
	{"a form, and a legacy client's handler fails", asking(form, legacyOnly, filled(nil, errors.New("no terminal")))},
	{"a form, and what was filled in does not fit", asked(form, filled(map[string]any{"name": 7}, nil))},
	{"a model, and the client has none", asked(sample)},
	{"a model, and the handler declines", asked(sample, mcpclient.HandleSampling(
		func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("the user said no")
		}, nil))},
	{"the roots, and the client has none", asked(roots)},
	{"again and again", asked(func(ctx context.Context) error {
		return mcpserver.RequestFrom(ctx).RequireInput(mcp.InputRequests{"roots": {Method: mcp.MethodListRoots}}, "state")
	}, mcpclient.UseRoots())},
}}
