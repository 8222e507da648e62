package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The members of the gateway, in order. Most are child processes, in both eras, and on several SDKs.
var (
	memberChildren = []string{"everything", "filesystem", "mcp-grafana", "gosdk-toolschemas", "typescript"}
	memberURLs     = []string{"sdk simple", "mcpgo"}
)

// mortal is the member that the tests kill.
const mortal = "everything"

// able are the tools that everything offers only to hosts that can be asked.
var able = []string{
	"everything_get-roots-list", "everything_trigger-elicitation-request", "everything_trigger-sampling-request",
	"everything_trigger-url-elicitation",
}

// behind is a member of a gateway, and the expected outcome of a direct call.
type behind struct {
	prefix    string // prefix of its tools' names
	tools     []string
	tool      string // name of the tool in the gateway
	arguments json.RawMessage
	want      *mcp.CallToolResult
}

// members are real servers that are started once for each gateway or each host.
type members struct {
	t     *testing.T
	all   []*behind
	names groupname.Naming
	dir   string
	urls  map[string]string // URLs of the members over HTTP
}

// realMembers starts the members over HTTP, and records the lists and answers of every member.
func realMembers(t *testing.T) *members {
	t.Helper()
	naming, err := groupname.New("_", 128)
	if err != nil {
		t.Fatal(err)
	}
	ms := &members{t: t, names: naming, dir: directory(t), urls: map[string]string{}}
	for _, name := range memberChildren {
		s := servers[slices.IndexFunc(servers, func(s server) bool { return s.name == name })]
		ms.add(name, s.command(t, ms.dir), s.tool, s.arguments(ms.dir))
	}
	for _, name := range memberURLs {
		s := webServers[slices.IndexFunc(webServers, func(s webServer) bool { return s.name == name })]
		name = strings.ReplaceAll(name, " ", "-")
		ms.urls[name] = s.start(t, ms.dir, "").url + s.path
		ms.add(name, &transport.HTTP{URL: ms.urls[name]}, s.tool, s.arguments(ms.dir))
	}
	return ms
}

func (ms *members) add(name string, tr transport.Transport, tool, arguments string) {
	ms.t.Helper()
	prefix, err := ms.names.Prefix(name)
	if err != nil {
		ms.t.Fatal(err)
	}
	b := &behind{prefix: prefix, tool: ms.names.Name(prefix, tool), arguments: json.RawMessage(arguments)}
	ctx, cancel := context.WithTimeout(ms.t.Context(), time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx, tr,
		&mcpclient.Options{Telemetry: telemetry.Off(), Timeouts: mcpclient.Timeouts{Init: slowStart}})
	if err != nil {
		ms.t.Fatal(err)
	}
	defer c.Close()
	if b.want, err = c.CallTool(ctx, tool, b.arguments); err != nil {
		ms.t.Fatal(err)
	}
	for one, err := range c.Tools(ctx) {
		if err != nil {
			ms.t.Fatal(err)
		}
		b.tools = append(b.tools, ms.names.Name(prefix, one.Name))
	}
	ms.all = append(ms.all, b)
}

// command returns the command of a gateway with all members, and the file to which the child processes of mortal write
// their process ids.
func (ms *members) command(t *testing.T) (argv []string, pids string) {
	t.Helper()
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	list := []string{}
	entry := func(name string, one map[string]any) {
		text, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strconv.Quote(name)+": "+string(text))
	}
	for _, name := range memberChildren {
		i := slices.IndexFunc(servers, func(s server) bool { return s.name == name })
		s := servers[i].command(t, ms.dir)
		if name == mortal {
			s.Args = append([]string{"-c", `echo $$ >>"$0"; exec "$@"`, pids, s.Command}, s.Args...)
			s.Command = "sh"
		}
		env := map[string]string{}
		for _, one := range s.Env {
			key, value, _ := strings.Cut(one, "=")
			env[key] = value
		}
		entry(name, map[string]any{"command": s.Command, "args": s.Args, "env": env})
	}
	for name, url := range ms.urls {
		entry(name, map[string]any{"url": url})
	}
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {`+strings.Join(list, ",\n")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{command, "proxy", "--config", file}, pids
}

// listens starts a proxy that waits for hosts over HTTP, and returns its URL.
func listens(t *testing.T, argv []string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = environment(), &stderr
	diesWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", argv, err, &stderr)
		}
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return strings.TrimSpace(url)
}

// kill kills the running processes whose ids a file contains.
func kill(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pids, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(n); err == nil {
			p.Kill()
		}
	}
}

// check makes a host list the tools and call a tool of each member. Then it kills one member, and continues in the same
// session.
func (ms *members) check(t *testing.T, h *host, version mcp.Version, pids string) {
	t.Helper()
	defer h.end()
	ms.await(t, h, "all members are there")
	for _, m := range ms.all {
		o := h.call(m.tool, m.arguments)
		if o.Version != version || o.Server != "mcpotel" {
			t.Errorf("want version %s and the server mcpotel, got %s and %q", version, o.Version, o.Server)
		}
		equal(t, "the tools of all members", ms.tools(), ms.listed(o))
		m.check(t, o)
	}
	kill(t, pids)
	ms.await(t, h, "the member that was killed is back")
	if text, err := os.ReadFile(pids); err != nil || len(text) == 0 {
		t.Errorf("want the member started anew, got no process of it (%v)", err)
	}
}

// await waits until a host can list everything and call the member that may be down. Each call gets an answer, and the
// host's connection stays.
func (ms *members) await(t *testing.T, h *host, what string) {
	t.Helper()
	m := ms.all[slices.Index(memberChildren, mortal)]
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	untilEvery(t, ctx, 200*time.Millisecond, what, func() bool {
		o := h.call(m.tool, m.arguments)
		if o.Closed {
			t.Fatal("the host sees a disconnect")
		}
		if o.Error != "" {
			if !strings.Contains(o.Error, mortal) {
				t.Errorf("want an error with the name of the member that is away, got %s", o.Error)
			}
			return false
		}
		m.check(t, o)
		return slices.Equal(ms.listed(o), ms.tools())
	})
}

// tools returns the tools of all members, sorted.
func (ms *members) tools() (all []string) {
	for _, m := range ms.all {
		all = append(all, m.tools...)
	}
	slices.Sort(all)
	return all
}

// listed returns the tools that a host has listed, sorted, without those that depend on the host's capabilities.
func (ms *members) listed(o outcome) []string {
	all := slices.DeleteFunc(o.Tools, func(name string) bool { return slices.Contains(able, name) })
	slices.Sort(all)
	return all
}

// check compares the outcome of a host's call with the outcome without the gateway.
func (m *behind) check(t *testing.T, o outcome) {
	t.Helper()
	if o.Error != "" || o.IsError != m.want.IsError || o.Text != m.want.Text() {
		t.Errorf("%s: want %q, got %q (error %v) %s", m.tool, m.want.Text(), o.Text, o.IsError, o.Error)
	}
	want := value(t, json.RawMessage(m.want.StructuredContent))
	equal(t, m.tool+": the structured content", want, value(t, o.Structured))
}

// value decodes JSON; empty text becomes null.
func value(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestHostsOfOtherSDKsUseRealServersBehindAGateway covers both eras, standard input and output, and HTTP.
func TestHostsOfOtherSDKsUseRealServersBehindAGateway(t *testing.T) {
	ms := realMembers(t)
	for i, d := range drivers {
		mode := []string{"legacy", "auto", "legacy"}[i]
		t.Run(d.name+" "+mode+", stdio", func(t *testing.T) {
			t.Parallel()
			argv, pids := ms.command(t)
			target, err := json.Marshal(argv)
			if err != nil {
				t.Fatal(err)
			}
			ms.check(t, d.begin(t, string(target), mode), d.modes[mode], pids)
		})
	}
	t.Run("HTTP", func(t *testing.T) { // one after the other, because each test kills a member that another test may use
		t.Parallel()
		argv, pids := ms.command(t)
		url := listens(t, append(argv, "--listen", "127.0.0.1:0"))
		for _, mode := range []string{"auto", "legacy"} { // the hosts of auto share the members
			for _, d := range drivers {
				t.Run(d.name+" "+mode, func(t *testing.T) {
					ms.check(t, d.begin(t, url, mode), d.modes[mode], pids)
				})
			}
		}
	})
}
