package mcpclient_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestNotificationsBeforeCloseAreHandled(t *testing.T) {
	const messages = 20
	server := withTool("talk", func(ctx context.Context, _ struct{}) (string, error) {
		for range messages {
			if err := mcpserver.RequestFrom(ctx).Log(ctx, mcp.LevelInfo, "", "a word"); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	var heard atomic.Int64
	client, err := mcpclient.Connect(t.Context(), server,
		&mcpclient.Options{Timeouts: mcpclient.Timeouts{Close: time.Minute}, Features: []mcpclient.Feature{
			mcpclient.HandleLogMessage(func(ctx context.Context, _ *mcp.LoggingMessageParams) {
				<-ctx.Done() // so that all notifications except the first still wait when the client is closed
				heard.Add(1)
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CallTool(t.Context(), "talk", nil, mcpclient.WithLogLevel(mcp.LevelDebug)); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if n := heard.Load(); n != messages {
		t.Errorf("the handler got %d messages before Close returned, want %d", n, messages)
	}
}
