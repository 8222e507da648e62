package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

func newWatch(s streams) *cobra.Command {
	w := watch{connection: connection{endless: true}, failed: make(chan error, 1)}
	return w.command(s, &cobra.Command{
		Use: "watch [flags]" + behind, Short: "print the notifications of a server as they arrive",
		Example: "mcpotel watch --uri demo://clock -- mcpotel serve-demo\n" +
			"mcpotel watch --config mcp.json --level warning --for 10m",
	}, w.run, w.log.flags, w.flags)
}

func (w *watch) run(ctx context.Context) error {
	if err := w.none(); err != nil {
		return err
	}
	w.adapt = w.hear
	return w.observed(ctx, "mcpotel watch", func(ctx context.Context, o *observation) error {
		servers, err := w.openAll(ctx, o)
		if err != nil {
			return interrupted(ctx, err)
		}
		defer servers.close()
		if sessionOf(ctx) != nil {
			defer w.unsubscribe(ctx, servers)
		}
		if err := w.begin(ctx, servers); err != nil {
			return interrupted(ctx, err)
		}
		return w.wait(ctx, servers)
	})
}

// interrupted returns nil for the error of a command that the user has interrupted.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watch is one run of the command "watch".
type watch struct {
	connection
	log      logFlag
	uris     []string
	duration time.Duration

	mu     sync.Mutex // serializes output
	failed chan error // the error that ended the output; capacity 1
}

func (w *watch) flags(f *pflag.FlagSet) {
	f.Func("uri", "subscribe to changes of the resource with this `URI`; may be repeated", func(s string) error {
		w.uris = append(w.uris, s)
		return nil
	})
	f.DurationVar(&w.duration, "for", 0, "stop after this duration; 0 means until interrupted")
}

// hear adds handlers for all notifications and connection events to a client's options.
func (w *watch) hear(server string, o *mcpclient.Options) {
	name := server
	if !w.several && (w.file.path == "" || w.file.only != "") {
		name = ""
	}
	o.Features = append(o.Features, mcpclient.HandleNotification("", func(_ context.Context, n *mcpclient.Notification) {
		if n.Method != mcp.NotificationSubscriptionsAcknowledged { // the server's reply to the subscription of this command
			w.print(&event{time.Now(), name, n.Method, n.Params})
		}
	}))
	o.OnTransition = func(t connstate.Transition) {
		switch {
		case t.From == connstate.Ready && t.To == connstate.Backoff:
			w.console.say("%s: the connection was lost (%v); notifications will be missed until the client reconnects",
				server, t.Reason)
		case t.To == connstate.Ready && t.Epoch > 1:
			w.console.say("%s: connected again", server)
		}
	}
}

// begin subscribes at all servers. It returns an error if no server can be watched.
func (w *watch) begin(ctx context.Context, s *servers) error {
	if len(w.uris) > 0 && len(s.all) > 1 {
		return misuse("--uri needs one server: select it with --server NAME")
	}
	var watched int
	failed := w.each(ctx, s, func(one *server) error {
		if err := w.log.set(ctx, one.client); err != nil {
			return err
		}
		for _, uri := range w.uris {
			if err := one.client.SubscribeResource(ctx, uri); err != nil {
				return err
			}
		}
		watched++
		version := one.client.ProtocolVersion()
		w.console.say("watching %s, protocol %s", one.name, version)
		if one.silent && version.Era() == mcp.Modern {
			w.console.say(`%s: list changes are not received, because the file sets "listen": false`, one.name)
		}
		if w.log.level != "" && version.Era() == mcp.Modern {
			w.console.say("%s sends log messages only during calls: use call --level", one.name)
		}
		return nil
	})
	if failed != nil && watched > 0 {
		w.console.say("%v", failed)
		return nil
	}
	if failed == nil && watched == 0 {
		return &exitError{exitTool, mcpclient.ErrUnsupported}
	}
	return failed
}

// unsubscribe ends the subscriptions of this command, because the connection of a shell stays.
func (w *watch) unsubscribe(ctx context.Context, s *servers) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, uri := range w.uris {
		if err := s.all[0].client.UnsubscribeResource(ctx, uri); err != nil {
			w.console.say("%v", err)
		}
	}
}

// wait returns when the duration has passed, all connections have ended, or the output fails.
func (w *watch) wait(ctx context.Context, s *servers) error {
	var end <-chan time.Time // never
	if w.duration > 0 {
		end = time.After(w.duration)
	}
	over := make(chan struct{})
	go func() { // ends with the clients
		for _, one := range s.all {
			<-one.client.Done()
		}
		close(over)
	}()
	select {
	case <-ctx.Done():
		return nil
	case <-end:
		return nil
	case err := <-w.failed:
		return err
	case <-over:
		return s.all[0].client.Err()
	}
}

// event is a notification from a server.
type event struct {
	Time   time.Time       `json:"time"`
	Server string          `json:"server,omitzero"` // set if there are several servers
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitzero"`
}

// print prints one line for a notification.
func (w *watch) print(e *event) {
	line := e.line()
	if w.asJSON {
		raw, err := json.Marshal(e)
		if err != nil {
			return // cannot happen: the client has checked that the params are valid JSON
		}
		line = string(visible.JSON(raw))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.console.clear()
	if err := printLine(w.streams.out, line); err != nil {
		select {
		case w.failed <- err:
		default:
		}
	}
}

// line returns the notification as a line of text.
func (e *event) line() string {
	line := e.Time.Format(time.TimeOnly) + " "
	if e.Server != "" {
		line += e.Server + ": "
	}
	return visible.Line(line + e.what())
}

func (e *event) what() string {
	switch e.Method {
	case mcp.NotificationToolListChanged:
		return "the list of tools has changed"
	case mcp.NotificationResourceListChanged:
		return "the list of resources has changed"
	case mcp.NotificationPromptListChanged:
		return "the list of prompts has changed"
	case mcp.NotificationResourceUpdated:
		var p mcp.ResourceUpdatedParams
		if json.Unmarshal(e.Params, &p) == nil {
			return "updated " + p.URI
		}
	case mcp.NotificationMessage:
		var p mcp.LoggingMessageParams
		if json.Unmarshal(e.Params, &p) == nil {
			return "log " + logLine(&p)
		}
	}
	return e.Method + " " + string(e.Params)
}
