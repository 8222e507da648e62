package mcpserver_test

import (
	"context"
	"log"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleRequestInfo_Log() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, &mcpserver.Options{Logging: true})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "index"}, func(ctx context.Context, in struct {
		Folder string `json:"folder"`
	}) (string, error) {
		request := mcpserver.RequestFrom(ctx)
		if err := request.Log(ctx, mcp.LevelDebug, "walker", "only for clients that ask for it"); err != nil {
			return "", err
		}
		err := request.Log(ctx, mcp.LevelWarning, "walker", map[string]any{"skipped": 2, "folder": in.Folder})
		return "indexed", err
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"index","arguments":{"folder":"/a"}}}`)
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"walker","data":{"folder":"/a","skipped":2}}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"indexed"}]}}
}

func ExampleRequestInfo_Logger() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, &mcpserver.Options{Logging: true})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "index"}, func(ctx context.Context, in struct {
		Folder string `json:"folder"`
	}) (string, error) {
		logger := mcpserver.RequestFrom(ctx).Logger("walker").With("folder", in.Folder)
		if logger.Enabled(ctx, slog.LevelDebug) { // false until the client has set the level
			logger.DebugContext(ctx, "what takes long to find out")
		}
		record := slog.NewRecord(time.Time{}, slog.LevelWarn, "skipped files", 0) // WarnContext would add the time
		record.Add("count", 2)
		return "indexed", logger.Handler().Handle(ctx, record)
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"index","arguments":{"folder":"/a"}}}`)
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"walker","data":{"msg":"skipped files","folder":"/a","count":2}}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"indexed"}]}}
}

func ExampleServer_Log() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, &mcpserver.Options{Logging: true})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "fill"}, func(context.Context, struct{}) (string, error) {
		// Log may be called anywhere in the program. It sends the message to all clients with a session that have requested
		// the level error.
		return "filled", s.Log(mcp.LevelError, "disk", map[string]any{"free": 0})
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fill"}}`)
	// Unordered output:
	// {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"disk","data":{"free":0}}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"filled"}]}}
}
