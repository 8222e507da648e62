package examples

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The code in docs/guides/new-names.md that is in no other guide. The test only compiles it; the tests of the packages
// run the same calls.

var _ = func(ctx context.Context, client *mcpclient.Client) error {
	// docs:close
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := client.Shutdown(patience) // waits for calls in flight, then closes; client.Close() does not wait
	// docs:end
	return err
}

var _ = func() (*mcpclient.Options, *mcpserver.Options, *mcpserver.HTTPOptions) {
	// docs:options
	client := &mcpclient.Options{
		Timeouts:    mcpclient.Timeouts{Init: 20 * time.Second, Close: time.Second},
		Backoff:     mcpclient.Backoff{Max: 10 * time.Second, Attempts: 5},
		Limits:      mcpclient.Limits{Frame: 64 << 20, SkipOversize: true},
		CallOptions: []mcpclient.CallOption{mcpclient.WaitForRoom()},
		CacheSize:   -1, // no cache
	}
	server := &mcpserver.Options{
		Limits: mcpserver.Limits{Concurrent: 16, Total: 200},
		Cache:  mcpserver.Cache{TTL: time.Minute},
	}
	http := &mcpserver.HTTPOptions{
		Limits:   mcpserver.HTTPLimits{Requests: 500, Sessions: 1000},
		Timeouts: mcpserver.HTTPTimeouts{Session: time.Hour},
	}
	// docs:end
	return client, server, http
}

var _ = func(client *mcpclient.Client, toolsChanged func(context.Context)) {
	// docs:handle
	remove := client.Handle(mcpclient.HandleToolListChanged(toolsChanged)) // was client.OnToolListChanged(toolsChanged)
	defer remove()
	stop := client.Handle(mcpclient.LogMessagesTo(slog.Default())) // was client.LogMessagesTo(slog.Default())
	defer stop()
	// docs:end
}

var _ = func(s *mcpserver.Server, predict func(context.Context, Query) (Forecast, error),
	pass mcpserver.ToolHandler) error {
	// docs:tools
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "climate"}, predict, mcpserver.TaskAfter(time.Second)) // was AddTaskTool
	err2 := s.AddTool(&mcp.Tool{Name: "legacy"}, pass, mcpserver.CheckArguments())                     // was AddRawTool
	// docs:end
	return errors.Join(err, err2)
}

var _ = func(ctx context.Context, r *mcpserver.CallToolRequest, q *mcp.ElicitParams) (_, _ *mcp.ElicitResult, e error) {
	// docs:questions
	answer, err := r.Elicit(ctx, q)                            // in a handler that receives a request
	answer2, err2 := mcpserver.RequestFrom(ctx).Elicit(ctx, q) // in a typed tool, which receives only a context
	// docs:end
	return answer, answer2, errors.Join(err, err2)
}
