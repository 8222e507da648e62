package traffic

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Functions that return transports to the servers. Some servers are started only when a scenario needs them.

// http returns a transport to the shop at a path.
func (f *Fleet) http(path string, mode transport.HTTPMode) func() (transport.Transport, error) {
	return func() (transport.Transport, error) { return &transport.HTTP{URL: f.shopURL + path, Mode: mode}, nil }
}

// weather returns a transport that starts the demo's server as a child process.
func (f *Fleet) weather() (transport.Transport, error) {
	return transport.Stdio{Command: f.command(), Args: []string{"serve-demo"},
		Env: f.environment("OTEL_SERVICE_NAME=weather", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+f.options.OTLP)}, nil
}

// policy denies one tool of the weather server, lets another one time out, and allows two calls a second.
const policy = `
tools: {deny: [divide]}
timeouts: {wait: 50ms}
limit: {rate: 2/s}
redact: {patterns: [Narvik]}
`

// guarded returns a transport to the weather server behind a proxy with a policy.
func (f *Fleet) guarded() (transport.Transport, error) {
	file := filepath.Join(f.dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		return nil, err
	}
	return transport.Stdio{Command: f.command(),
		Args: []string{"proxy", "--name", "guarded", "--policy", file, "--", f.command(), "serve-demo"},
		Env: f.environment("OTEL_SERVICE_NAME=guard", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+f.options.OTLP,
			"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_METRIC_EXPORT_INTERVAL=1000")}, nil
}

// Node returns the command line of the node server, which exports to otlpHTTP.
func Node(otlpHTTP, service string) (transport.Stdio, error) {
	dir := os.Getenv("MCPOTEL_STACK")
	if dir == "" {
		return transport.Stdio{}, fmt.Errorf(
			"MCPOTEL_STACK is not set: run testenv/stack/install and set it to the printed directory")
	}
	return transport.Stdio{Command: "node", Args: []string{filepath.Join(dir, "node", "server.mjs")},
		Env: environment("OTEL_SERVICE_NAME="+service, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+otlpHTTP)}, nil
}

// Real returns the command line of a server that testenv/servers/install has installed, such as bin/mcp-grafana.
func Real(path string, args []string, env ...string) (transport.Stdio, error) {
	dir := os.Getenv("MCPOTEL_SERVERS")
	if dir == "" {
		return transport.Stdio{}, fmt.Errorf(
			"MCPOTEL_SERVERS is not set: run testenv/servers/install and set it to the printed directory")
	}
	s := transport.Stdio{Command: filepath.Join(dir, path), Args: args, Env: environment(env...)}
	if strings.HasSuffix(path, ".js") {
		s.Command, s.Args = "node", append([]string{s.Command}, args...)
	}
	return s, nil
}

// Grafana returns the command line of mcp-grafana, which exports its own telemetry.
func Grafana(otlp string, args ...string) (transport.Stdio, error) {
	return Real("bin/mcp-grafana", args, "GRAFANA_URL=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+otlp,
		"OTEL_EXPORTER_OTLP_INSECURE=true", "OTEL_BSP_SCHEDULE_DELAY=100")
}

func (f *Fleet) node() (transport.Transport, error) {
	return Node(f.options.OTLPHTTP, "node-calculator")
}

func (f *Fleet) grafana() (transport.Transport, error) { return Grafana(f.options.OTLP) }

func (f *Fleet) everything() (transport.Transport, error) {
	return Real("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js", nil)
}

func (f *Fleet) environment(more ...string) []string { return environment(more...) }

// environment returns the environment of a server, without variables that would change its telemetry.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, more...)
}

// busy refuses every other request, like an overloaded server.
func busy(h http.Handler) http.Handler {
	var n atomic.Uint64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && n.Add(1)%2 == 0 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "try again", http.StatusTooManyRequests)
			return
		}
		h.ServeHTTP(w, r)
	})
}
