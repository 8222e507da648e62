package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// full is this module's server with every feature.
type full struct {
	*mcpserver.Server
	cancelled chan struct{} // receives a value when the context of a call of wait has ended
	waiting   chan struct{} // receives from a running call of wait

	mu      sync.Mutex
	counts  map[string]int  // guarded by mu; number of requests, by method
	visited map[string]bool // guarded by mu; whether a user has visited the URL of a ticket
	extras  int             // guarded by mu
}

// cacheTTL is how long a modern client may cache lists.
const cacheTTL = 500 * time.Millisecond

// pageSize is smaller than each of the server's lists that has several entries.
const pageSize = 2

// newFull returns a server with every feature.
func newFull() *full {
	f := &full{cancelled: make(chan struct{}, 16), waiting: make(chan struct{}), counts: map[string]int{},
		visited: map[string]bool{}}
	f.Server = mcpserver.New(mcp.Implementation{
		Name: "full", Title: "Full", Version: "1.0.0", Description: "has everything", WebsiteURL: "https://example.com",
		Icons: icons,
	}, &mcpserver.Options{
		Instructions: "use everything", PageSize: pageSize, Cache: mcpserver.Cache{TTL: cacheTTL}, Logging: true,
		Middleware:   []func(mcpserver.RequestHandler) mcpserver.RequestHandler{f.count},
		Capabilities: mcp.ServerCapabilities{Experimental: map[string]mcp.Object{"example.com/x": mcp.Object(`{"y":1}`)}},
		Tasks:        &mcpserver.TaskOptions{PollInterval: 20 * time.Millisecond},
		Telemetry:    telemetry.Off(),
	})
	f.addTools()
	f.addResources()
	f.addPrompts()
	f.addAsking()
	f.addTasks()
	return f
}

// environmentFull is the environment variable that makes this process such a server, on its standard streams.
const environmentFull = "MCPOTEL_E2E_FULL"

func serveFull() {
	if err := newFull().ServeStdio(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// count is middleware that counts requests.
func (f *full) count(next mcpserver.RequestHandler) mcpserver.RequestHandler {
	return func(ctx context.Context, r *mcpserver.Request) (any, error) {
		f.mu.Lock()
		f.counts[r.Method]++
		f.mu.Unlock()
		return next(ctx, r)
	}
}

type named struct {
	Name string `json:"name"`
}

type number struct {
	Number int `json:"number"`
}

// addTools adds tools that need neither the client nor another server.
func (f *full) addTools() {
	must(mcpserver.AddTool(f.Server, &mcp.Tool{
		Name: "add", Title: "Add", Description: "adds", Icons: icons,
		Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskForbidden},
		Meta:      mark, Annotations: &mcp.ToolAnnotations{Title: "Adds", ReadOnlyHint: new(true), OpenWorldHint: new(false)},
	}, func(_ context.Context, in addends) (sum, error) { return sum{in.A + in.B}, nil }))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "letters"}, func(_ context.Context, in named) ([]string, error) {
		return strings.Split(in.Name, ""), nil
	}))
	must(f.AddTool(&mcp.Tool{Name: "contents"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: contents(), Result: mcp.Result{Meta: mark}}, nil
		}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "fail"}, func(_ context.Context, in named) (string, error) {
		return "", errors.New("failed for " + in.Name)
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "refuse"}, func(context.Context, struct{}) (string, error) {
		return "", &mcp.Error{Code: -31050, Message: "refused", Data: []byte(`{"why":"because"}`)}
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "progress"}, func(ctx context.Context, in number) (string, error) {
		for i := range in.Number {
			if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(i+1), float64(in.Number), "step"); err != nil {
				return "", err
			}
		}
		return "done", nil
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "log"}, func(ctx context.Context, _ struct{}) (string, error) {
		r := mcpserver.RequestFrom(ctx)
		for _, level := range levels {
			if err := r.Log(ctx, level, "full", map[string]string{"at": string(level)}); err != nil {
				return "", err
			}
		}
		return "logged", nil
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "broadcast"}, func(context.Context, struct{}) (string, error) {
		return "sent", f.Log(mcp.LevelCritical, "everybody", "hear this")
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ struct{}) (string, error) {
		if err := mcpserver.RequestFrom(ctx).Progress(ctx, 1, 0, "waiting"); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			f.cancelled <- struct{}{}
			return "", ctx.Err()
		case f.waiting <- struct{}{}:
			return "done", nil
		}
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "release"}, func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-f.waiting:
			return "released", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "cancelled"}, func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-f.cancelled:
			return "cancelled", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "count"}, func(_ context.Context, in named) (number, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return number{f.counts[in.Name]}, nil
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "touch"}, func(_ context.Context, in named) (string, error) {
		f.ResourceUpdated(in.Name)
		return "touched", nil
	}))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "grow"}, f.grow))
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "hang_up"}, hangUp))
	must(f.AddTool(&mcp.Tool{
		Name: "region", InputSchema: []byte(
			`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
	}, func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		header := "none"
		if web := r.HTTP(); web != nil {
			header = web.Header.Get("Mcp-Param-Region")
		}
		return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(header)}}, nil
	}))
}

// hangUp sends something on the stream of its request, closes the stream, and continues.
func hangUp(ctx context.Context, _ struct{}) (string, error) {
	r := mcpserver.RequestFrom(ctx)
	if err := r.Progress(ctx, 1, 2, ""); err != nil {
		return "", err
	}
	closing := mcpserver.RequestFrom(ctx).CloseStream(ctx, time.Millisecond)
	if closing != nil && !errors.Is(closing, mcpserver.ErrNotResumable) {
		return "", closing
	}
	return fmt.Sprint("closed: ", closing == nil), r.Progress(ctx, 2, 2, "")
}

// grow adds one entry to each list, and returns its name.
func (f *full) grow(context.Context, struct{}) (named, error) {
	f.mu.Lock()
	f.extras++
	name := fmt.Sprintf("extra%d", f.extras)
	f.mu.Unlock()
	return named{name}, errors.Join(
		mcpserver.AddTool(f.Server, &mcp.Tool{Name: name}, func(context.Context, struct{}) (string, error) {
			return name, nil
		}),
		f.AddPrompt(&mcp.Prompt{Name: name}, f.prompt),
		f.AddResource(&mcp.Resource{URI: "demo://" + name, Name: name}, f.resource),
	)
}

// levels are the levels of log messages, least severe first.
var levels = []mcp.LoggingLevel{
	mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert,
	mcp.LevelEmergency,
}
