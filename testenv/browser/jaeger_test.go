package browser

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jaegerConfig configures Jaeger with storage in memory. The %s are the addresses of OTLP, of the page and API, and of
// the API over gRPC, and the folder of the page's assets, which may be empty.
const jaegerConfig = `service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: {receivers: [otlp], processors: [], exporters: [jaeger_storage_exporter]}
  telemetry: {metrics: {level: none}, traces: {level: none}}
extensions:
  jaeger_query: {storage: {traces: main}, http: {endpoint: "%[2]s"}, grpc: {endpoint: "%[3]s"}, ui: {assets_path: "%[4]s"}}
  jaeger_storage: {backends: {main: {memory: {max_traces: 1000}}}}
receivers: {otlp: {protocols: {grpc: {endpoint: "%[1]s"}}}}
exporters: {jaeger_storage_exporter: {trace_storage: main}}
`

// jaeger starts Jaeger from JAEGER_BIN or from MCPOTEL_STACK, the directory that testenv/stack/install prints.
func jaeger(t *testing.T) (otlp, ui string) {
	t.Helper()
	path := os.Getenv("JAEGER_BIN")
	if dir := os.Getenv("MCPOTEL_STACK"); path == "" && dir != "" {
		path = filepath.Join(dir, "jaeger")
	}
	if path == "" {
		t.Fatal("Jaeger is missing: name it in JAEGER_BIN, or the directory that testenv/stack/install prints in " +
			"MCPOTEL_STACK")
	}
	otlp, ui = free(t), free(t)
	config := filepath.Join(t.TempDir(), "jaeger.yaml")
	must(t, os.WriteFile(config, fmt.Appendf(nil, jaegerConfig, otlp, ui, free(t), os.Getenv("JAEGER_UI_ASSETS")), 0o600))
	cmd := exec.Command(path, "--config", config)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(patience):
			cmd.Process.Kill()
			<-ended
		}
	})
	for deadline := time.Now().Add(patience); ; {
		if answer, err := http.Get("http://" + ui + "/api/v3/services"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return otlp, "http://" + ui
			}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("Jaeger ended: %v\n%s", err, &out)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("Jaeger does not answer after %v", patience)
		}
	}
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// failedCall makes a failing call, exports it to Jaeger, and returns the id of its trace.
func failedCall(t *testing.T, otlp string) string {
	t.Helper()
	cmd := exec.Command(mcpotel, "call", "--trace", "divide", `{"a":1,"b":0}`, "--", mcpotel, "serve-demo")
	cmd.Env = append(Environment(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+otlp)
	out, _ := cmd.CombinedOutput() // the command exits with an error because the tool fails
	_, rest, found := strings.Cut(string(out), "trace ")
	id, _, _ := strings.Cut(rest, " ")
	if !found || len(id) != 32 {
		t.Fatalf("want a trace id, got:\n%s", out)
	}
	return id
}

func TestJaegerTraceIsShownLikeOthers(t *testing.T) {
	otlp, ui := jaeger(t)
	id := failedCall(t, otlp)
	p, err := Run(mcpotel, "view", "--web=127.0.0.1:0", "--jaeger", ui, id)
	must(t, err)
	t.Cleanup(func() { must(t, p.Stop()) })
	m, err := p.Await(`The trace is at (\S+)`)
	must(t, err)
	tab := open(t, Desktop, m[1])
	must(t, tab.Await(`document.querySelectorAll("details.span.failed").length === 2`))
	all := eval[[]line](t, tab, lines)
	var got []string
	for _, l := range all {
		if l.Error != "" {
			got = append(got, l.Kind+" "+l.Title+" "+l.Error+" "+l.Service)
		}
	}
	want := "CLIENT tools/call divide tool_error mcpotel, SERVER tools/call divide tool_error mcpotel-demo-server"
	if strings.Join(got, ", ") != want {
		t.Errorf("want %s, got %q", want, got)
	}
}

// TestJaegersOwnPageShowsTheTrace runs only if JAEGER_UI_ASSETS names a build of Jaeger's page, which its Go module
// does not contain.
func TestJaegersOwnPageShowsTheTrace(t *testing.T) {
	otlp, ui := jaeger(t)
	id := failedCall(t, otlp)
	if os.Getenv("JAEGER_UI_ASSETS") == "" {
		t.Log("JAEGER_UI_ASSETS is not set: Jaeger's API was asked, its page was not looked at")
		answer, err := http.Get(ui + "/api/v3/traces/" + id)
		must(t, err)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("want the trace from Jaeger's API, got %s", answer.Status)
		}
		return
	}
	tab, err := chromium.Open(Desktop)
	must(t, err)
	defer tab.Close()
	must(t, tab.Go(ui+"/trace/"+id))
	must(t, tab.Await(`document.body.innerText.includes("tools/call divide") && `+
		`document.body.innerText.includes("mcpotel-demo-server")`))
}
