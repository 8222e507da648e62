// Package conversation provides a server with everything that can be recorded, and a client that uses all of it, for
// tests of recording and replaying.
package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Server serves connections.
type Server interface {
	Serve(ctx context.Context, c mcpserver.Conn) error
}

// Reach returns a transport to a server in this process.
func Reach(s Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

type input struct {
	N int `json:"n"`
}

// Full returns a server with everything that can be recorded.
func Full(t *testing.T) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "full", Version: "1"},
		&mcpserver.Options{Logging: true, PageSize: 2, Tasks: &mcpserver.TaskOptions{PollInterval: time.Second}})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) }) // ends unfinished tasks
	tool := func(name string, h func(context.Context, input) (input, error)) error {
		return mcpserver.AddTool(s, &mcp.Tool{Name: name}, h)
	}
	must(t,
		tool("double", func(_ context.Context, in input) (input, error) { return input{2 * in.N}, nil }),
		tool("fail", func(context.Context, input) (input, error) { return input{}, errors.New("it failed") }),
		tool("refuse", func(context.Context, input) (input, error) { return input{}, &mcp.Error{Code: 7, Message: "no"} }),
		tool("slow", func(ctx context.Context, in input) (input, error) {
			r := mcpserver.RequestFrom(ctx)
			for i := range 3 {
				if err := errors.Join(r.Progress(ctx, float64(i), 3, "on"), r.Log(ctx, mcp.LevelError, "x", i)); err != nil {
					return input{}, err
				}
				time.Sleep(time.Second)
			}
			return in, nil
		}),
		tool("stuck", func(ctx context.Context, in input) (input, error) {
			<-ctx.Done()
			return in, ctx.Err()
		}),
		tool("ask", func(ctx context.Context, in input) (input, error) {
			_, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
				&mcp.ElicitParams{Message: "How many?", RequestedSchema: json.RawMessage(
					`{"type":"object","properties":{"n":{"type":"integer"}}}`)})
			return in, err
		}),
		tool("grow", func(context.Context, input) (input, error) {
			s.ResourceUpdated("x:y")
			return input{}, tool("grown", func(context.Context, input) (input, error) { return input{}, nil })
		}),
		mcpserver.AddTool(s, &mcp.Tool{Name: "later"}, func(_ context.Context, in input) (input, error) {
			time.Sleep(3 * time.Second)
			return in, nil
		}, mcpserver.TaskTool()),
		s.AddResource(&mcp.Resource{URI: "x:y", Name: "y"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "x:y", Text: "<&>\u2028"}}}, nil
			}),
	)
	return s
}

// host is a client that logs what the server sends to it.
type host struct {
	*mcpclient.Client
	mu  sync.Mutex
	log []string // guarded by mu; messages from the server
}

func (h *host) note(what string, v any) {
	text, _ := json.Marshal(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, what+" "+string(text))
}

// Use makes a client with this revision use all features of a server, always in the same way, and returns the sorted
// log of the messages from the server.
func Use(t *testing.T, tr transport.Transport, v mcp.Version) []string {
	t.Helper()
	h := &host{}
	c, err := mcpclient.Connect(t.Context(), tr, &mcpclient.Options{
		Versions: []mcp.Version{v}, CacheSize: -1, Telemetry: telemetry.Off(),
		Features: []mcpclient.Feature{
			mcpclient.UseTasks(nil),
			mcpclient.HandleToolListChanged(func(context.Context) { h.note("tools", nil) }),
			mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { h.note("updated", uri) }),
			mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				h.note("asked", p.Message)
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"n": 5}}, nil
			}),
		},
	})
	must(t, err)
	h.Client = c
	defer func() { must(t, c.Close()) }()
	h.converse(t, v)
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.log)           // messages outside of calls arrive at any time
	return slices.Compact(h.log) // a replaced subscription repeats a change of tools
}

func (h *host) converse(t *testing.T, v mcp.Version) {
	t.Helper()
	ctx := t.Context()
	for tool, err := range h.Tools(ctx) {
		must(t, err)
		h.note("tool", tool.Name)
	}
	must(t, h.SubscribeResource(ctx, "x:y"))
	call := func(name string, n int, o ...mcpclient.CallOption) {
		r, err := h.CallTool(ctx, name, input{n}, o...)
		h.note(name, []any{r, err != nil})
	}
	call("double", 1)
	call("double", 2)
	call("double", 1)
	call("fail", 1)
	call("refuse", 1)
	call("slow", 1, mcpclient.WithProgress(func(p *mcp.ProgressParams) { h.note("progress", p.Progress) }))
	call("ask", 1)
	call("stuck", 1, mcpclient.WithTimeout(time.Second))
	task, err := h.StartTool(ctx, "later", input{3})
	must(t, err)
	r, err := task.Wait(ctx)
	must(t, err)
	h.note("later", r)
	call("grow", 1)
	time.Sleep(time.Second)
	read, err := h.ReadResource(ctx, "x:y")
	must(t, err)
	h.note("read", read)
}

// Record runs use with a recording transport and returns the recording.
func Record(t *testing.T, tr transport.Transport, content bool, use func(transport.Transport)) []byte {
	t.Helper()
	var file bytes.Buffer
	r := mcpproxy.NewRecorder(&file, &mcpproxy.RecorderOptions{Content: content})
	p, err := mcpproxy.New(tr, &mcpproxy.Options{Recorder: r, Telemetry: telemetry.Off()})
	must(t, err)
	use(Reach(p))
	must(t, r.Close())
	return file.Bytes()
}
