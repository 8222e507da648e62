package gosdk_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// services are two programs with the same function: one uses this module's client, the other the SDK.
var services = map[string]string{"service": "../../examples/service", "byhand": "internal/byhand"}

// TestHandWrittenServiceMatchesOurs makes the same checks of both programs: answers, readiness, a server that stops and
// starts again, a trace through the server, the duration of calls, and a graceful end.
func TestHandWrittenServiceMatchesOurs(t *testing.T) {
	built := t.TempDir()
	build(t, "../..", built, "./examples/server", "./examples/service")
	build(t, ".", built, "./internal/byhand")
	for name := range services {
		t.Run(name, func(t *testing.T) { serves(t, filepath.Join(built, "server"), filepath.Join(built, name)) })
	}
}

func serves(t *testing.T, server, service string) {
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(t.Context())
	environ := append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+sink.Endpoint(), "OTEL_BSP_SCHEDULE_DELAY=50")
	address := free(t)
	_, stop := start(t, environ, server, "-http", address)
	oslo, end := start(t, environ, service, "-mcp", "http://"+address+"/mcp", "-http", "127.0.0.1:0")
	ready := strings.Replace(oslo, "/wear?city=Oslo", "/ready", 1)

	await(t, oslo, http.StatusOK, "a coat\n")
	await(t, ready, http.StatusOK, "")
	await(t, strings.Replace(oslo, "Oslo", "Atlantis", 1), http.StatusBadRequest, "ask for Oslo")
	stop()
	await(t, oslo, http.StatusBadGateway, "no forecast:")
	await(t, ready, http.StatusServiceUnavailable, "")
	_, stop = start(t, environ, server, "-http", address)
	await(t, ready, http.StatusOK, "")
	await(t, oslo, http.StatusOK, "a coat\n")
	end()
	stop()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool {
		return traced(s) && len(s.PointsOf("mcp.client.operation.duration")) > 0
	}); err != nil {
		t.Errorf("want a trace from the request to the server, and the duration of calls: %v", err)
	}
}

// traced reports whether some request led to a call, and whether the call led to a request at the server.
func traced(s otlpsink.Snapshot) bool {
	for _, root := range s.SpansNamed("GET /wear") {
		for _, call := range s.SpansNamed("tools/call forecast") {
			for _, served := range s.SpansNamed("tools/call forecast") {
				if call.ParentID == root.SpanID && served.ParentID == call.SpanID && served.Service() == "weather-server" {
					return true
				}
			}
		}
	}
	return false
}

// TestGuideHasLineCountsOfBothServices compares the figures in docs/guides/embed.md with the programs.
func TestGuideHasLineCountsOfBothServices(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/embed.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for name, dir := range services {
		source, err := os.ReadFile(filepath.Join(dir, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines[name] = strings.Count(string(source), "\n")
	}
	if lines["service"] > 120 {
		t.Errorf("our service has %d lines, want at most 120", lines["service"])
	}
	want := fmt.Sprintf("| lines | %d | %d |", lines["service"], lines["byhand"])
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/guides/embed.md has not the line %s", want)
	}
}

func build(t *testing.T, dir, to string, packages ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", to + "/"}, packages...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, out)
	}
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a program and returns the URL that the program prints. stop interrupts the program and checks that it
// ends in order.
func start(t *testing.T, environ []string, program string, args ...string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = environ
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	for err == nil && !strings.HasPrefix(url, "http://") {
		url, err = lines.ReadString('\n')
	}
	if err != nil {
		t.Fatalf("%s printed no URL: %v", program, err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, lines)
	}()
	return strings.TrimSpace(url), func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// await sends requests until the answer has this status and body, for at most a minute.
func await(t *testing.T, url string, status int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		got, text, err := get(ctx, url)
		if err == nil && got == status && strings.Contains(text, body) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: got %d, %q, %v, want %d with %q", url, got, text, err, status, body)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}
