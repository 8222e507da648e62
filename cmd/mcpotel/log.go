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

// levels are the protocol's levels of log messages, the least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// logFlag is the minimum level of log messages from the server; empty leaves the choice to the server.
type logFlag struct {
	level mcp.LoggingLevel
}

func (l *logFlag) flags(f *pflag.FlagSet) {
	f.Func("level", "request the server's log messages of this `LEVEL` and above: "+strings.Join(levels, ", "),
		func(s string) error {
			l.level = mcp.LoggingLevel(s)
			if !l.level.Defined() {
				return misuse("unknown level")
			}
			return nil
		})
}

// hear returns a function that adds a handler for log messages to the options of a client; nil without the flag.
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

// set asks the server for messages of this level.
func (l *logFlag) set(ctx context.Context, client *mcpclient.Client) error {
	if l.level == "" {
		return nil
	}
	return client.SetLogLevel(ctx, l.level)
}

// logLine formats a log message, for example "warning disk: almost full".
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
