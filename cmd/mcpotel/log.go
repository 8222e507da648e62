package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// levels are those of log messages.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// logFlag is how severe log messages of a server must be to be wanted, empty for what the server likes.
type logFlag struct {
	level mcp.LoggingLevel
}

func (l *logFlag) flags(f *pflag.FlagSet) {
	f.Func("level", "ask for the server's log messages of this `LEVEL` and above: "+strings.Join(levels, ", "),
		func(s string) error {
			l.level = mcp.LoggingLevel(s)
			if !l.level.Defined() {
				return misuse("unknown level")
			}
			return nil
		})
}

// hear returns what lets clients say them at the console, nil if they are not wanted.
func (l *logFlag) hear(c *console) func(server string, o *mcpclient.Options) {
	if l.level == "" {
		return nil
	}
	return func(server string, o *mcpclient.Options) {
		o.Features = append(o.Features, mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) {
			c.say("%s: log %s", server, logLine(m))
		}))
	}
}

// set asks the server for them.
func (l *logFlag) set(ctx context.Context, client *mcpclient.Client) error {
	if l.level == "" {
		return nil
	}
	return client.SetLogLevel(ctx, l.level)
}

// logLine shows a log message: "warning disk: almost full".
func logLine(m *mcp.LoggingMessageParams) string {
	var text string
	if json.Unmarshal(m.Data, &text) != nil {
		text = string(m.Data)
	}
	head := string(m.Level)
	if m.Logger != "" {
		head += " " + m.Logger
	}
	return visible.Line(head) + ": " + visible.Text(strings.TrimSpace(text))
}
