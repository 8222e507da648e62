package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/recordingdiff"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// withCommand returns the command for a server that is a subcommand of mcpotel, on standard input and output.
func withCommand(server transport.Stdio, args ...string) transport.Stdio {
	return transport.Stdio{
		Command: command, Args: args, Dir: server.Dir, Env: append(slices.Clone(server.Env), "OTEL_SDK_DISABLED=true"),
	}
}

// TestRealServersAreServedFromARecording makes a client list and call everything of each server through the proxy, and
// then again with the recording as the server. It compares the answers byte by byte.
func TestRealServersAreServedFromARecording(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			file, again := filepath.Join(t.TempDir(), "first.ndjson"), filepath.Join(t.TempDir(), "again.ndjson")
			behind := s.command(t, dir)
			record := func(to string, server ...string) []string {
				return append([]string{"proxy", "--record", to, "--record-content", "--"}, server...)
			}
			proxy := withCommand(behind, record(file, append([]string{behind.Command}, behind.Args...)...)...)
			mock := withCommand(behind, record(again, command, "mock", file)...)
			for _, tr := range []transport.Stdio{proxy, mock} {
				s.askedForAll(t, tr, dir)
			}
			checkSameAnswers(t, file, again)
		})
	}
}

// TestRealServersOverHTTPAreServedFromARecording is the same for servers over HTTP. Their recordings are also served
// over HTTP.
func TestRealServersOverHTTPAreServedFromARecording(t *testing.T) {
	for _, s := range webServers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			file, again := filepath.Join(t.TempDir(), "first.ndjson"), filepath.Join(t.TempDir(), "again.ndjson")
			asked := server{tools: s.tools, tool: s.tool, arguments: s.arguments, want: s.want}
			ask := func(record, url string) {
				own := transport.Stdio{Dir: dir, Env: environment()}
				asked.askedForAll(t, withCommand(own, "proxy", "--record", record, "--record-content", "--url", url), dir)
			}
			ask(file, s.start(t, dir, "").url+s.path)
			mock := assigned(t, "", func(host, port string) transport.Stdio {
				return transport.Stdio{
					Command: command, Args: []string{"mock", file, "--listen", net.JoinHostPort(host, port)}, Env: environment(),
				}
			})
			ask(again, mock.url+"/mcp")
			checkSameAnswers(t, file, again)
			if said := mock.said.String(); said != "" {
				t.Errorf("the mock said %s", said)
			}
		})
	}
}

// checkSameAnswers checks that two recordings have the same answers, byte by byte, and no other difference.
func checkSameAnswers(t *testing.T, file, again string) {
	t.Helper()
	first, second := answersIn(t, file), answersIn(t, again)
	if len(first) < 4 || !slices.EqualFunc(first, second, bytes.Equal) {
		t.Errorf("%d answers of the server, and %d of its recording, are not the same", len(first), len(second))
		for i := range min(len(first), len(second)) {
			if !bytes.Equal(first[i], second[i]) {
				t.Fatalf("first\n%s\nand then\n%s", first[i], second[i])
			}
		}
	}
	a, errA := recording.Open(file)
	b, errB := recording.Open(again)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for _, change := range recordingdiff.Compare(a, b, nil).Changes {
		t.Errorf("%+v", change)
	}
}

// askedForAll lists everything that a server has, and calls an existing tool twice and an unknown tool once.
func (s server) askedForAll(t *testing.T, tr transport.Stdio, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx, tr, &mcpclient.Options{
		Telemetry: telemetry.Off(), CacheSize: -1, Timeouts: mcpclient.Timeouts{Init: slowStart},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkTools(t, ctx, c, s)
	lists := map[string]func(context.Context) error{
		mcp.MethodListResources:         func(ctx context.Context) error { return walk(c.Resources(ctx)) },
		mcp.MethodListResourceTemplates: func(ctx context.Context) error { return walk(c.ResourceTemplates(ctx)) },
		mcp.MethodListPrompts:           func(ctx context.Context) error { return walk(c.Prompts(ctx)) },
	}
	for _, name := range []string{mcp.MethodListResources, mcp.MethodListResourceTemplates, mcp.MethodListPrompts} {
		_ = lists[name](ctx) // a server without such a list returns an error, both times
	}
	for i, tool := range []string{s.tool, s.tool, "no such tool"} {
		r, err := c.CallTool(ctx, tool, json.RawMessage(s.arguments(dir)))
		if i == 0 && (err != nil || !strings.Contains(r.Text(), s.want)) {
			t.Errorf("got %v, %v, want %q", r, err, s.want) // the answer to a second call may differ
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// walk iterates over a list to its end.
func walk[T any](list func(yield func(T, error) bool)) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// answersIn returns the answers to the host's requests in a recording, in the order of the requests, without
// subscriptions: a client's number of subscriptions depends on timing.
func answersIn(t *testing.T, file string) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	order, answers := []int{}, map[int][]byte{}
	for line := range bytes.Lines(text) {
		var e struct {
			From, Kind, Method string
			Request            int
			Result, Error      json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case e.Method == mcp.MethodSubscriptionsListen:
		case e.From == "host" && e.Kind == "request":
			order = append(order, e.Request)
		case e.From == "server" && (e.Kind == "result" || e.Kind == "error"):
			answers[e.Request] = append(e.Result, e.Error...)
		}
	}
	for _, n := range order {
		all = append(all, answers[n])
	}
	return all
}
