package doctor_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// environmentServer is the environment variable with the name of the server that this process runs.
const environmentServer = "MCPOTEL_DOCTOR_SERVER"

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(environmentServer); ok {
		if err := processes[name](context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// processes are the servers that the test binary can run.
var processes = map[string]func(context.Context) error{
	"good":    func(ctx context.Context) error { return serve(ctx, true) },
	"mute":    func(ctx context.Context) error { return serve(ctx, false) },
	"alone":   func(ctx context.Context) error { return alone(ctx, trace.SpanKindServer) },
	"curious": func(ctx context.Context) error { return alone(ctx, trace.SpanKindClient) },
	"silent": func(context.Context) error {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	"broken": func(context.Context) error { return fmt.Errorf("DATABASE_URL is \x1b[31mnot set") },
	"noisy": func(ctx context.Context) error {
		fmt.Println("listening on stdio")
		return serve(ctx, false)
	},
	"stubborn": func(ctx context.Context) error {
		if err := serve(ctx, false); err != nil {
			return err
		}
		select {} // the runtime may report a deadlock, unless a goroutine of the SDK is running
	},
	"late": func(ctx context.Context) error {
		if err := serve(ctx, false); err != nil {
			return err
		}
		return fmt.Errorf("cannot save")
	},
}

// serve runs a server with one tool. exports enables the export of its spans.
func serve(ctx context.Context, exports bool) error {
	tel := telemetry.Off()
	if exports {
		p, err := otlp.Setup(ctx, otlp.WithServiceName("good-server"), otlp.WithConsole(nil, nil))
		if err != nil {
			return err
		}
		defer p.Shutdown(ctx)
		tel = p.Telemetry()
	}
	return newServer(tel).ServeStdio(ctx)
}

func newServer(tel *telemetry.Telemetry) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{Telemetry: tel})
	err := s.AddTool(&mcp.Tool{Name: "forecast"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	if err != nil {
		panic(err)
	}
	return s
}

// alone exports a span in a separate trace.
func alone(ctx context.Context, kind trace.SpanKind) error {
	p, err := otlp.Setup(ctx, otlp.WithServiceName("lonely"), otlp.WithConsole(nil, nil))
	if err != nil {
		return err
	}
	defer p.Shutdown(ctx)
	_, span := p.TracerProvider().Tracer("test").Start(ctx, "work", trace.WithSpanKind(kind))
	span.End()
	return newServer(telemetry.Off()).ServeStdio(ctx)
}

// patience is the timeout of examinations that end by their timeout.
const patience = 2 * time.Second

// command examines this test binary as a server.
func command(t *testing.T, name string, timeout time.Duration) *doctor.Report {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Examine(t.Context(), own(self, name), &doctor.Options{Timeout: timeout})
}

// own returns this test binary as one of its servers.
func own(binary, name string) doctor.Server {
	return doctor.Server{Name: name, Transport: transport.Stdio{
		Command: binary, Env: append(os.Environ(), environmentServer+"="+name,
			"GORACE=atexit_sleep_ms=0"), // under the race detector, a process waits a second before it exits
	}}
}

func TestExaminationOfCommandsFindsProblems(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout   time.Duration
		verdict   doctor.Verdict
		connected bool
		checks    map[string]string // expected texts by check, after the verdict
	}{
		"good": {0, doctor.OK, true, map[string]string{
			"start": "ok: the first message came after", "stdout": "ok: only JSON", "messages": "ok: all are valid",
			"handshake": "ok: weather 1.0 speaks 2026-07-28 (modern era)", "ping": "ok: ", "tools": "ok: 1 tool, ",
			"listen":      "ok: subscriptions/listen was acknowledged after ",
			"propagation": "ok: ", "end": "it exited", "cardinality": "ok: 1 tool and 0 prompts; metrics distinguish 200 names",
			"prompts": "skipped: the server declares no prompts",
		}},
		"mute": {0, doctor.Note, true, map[string]string{"propagation": "note: the server exported no span"}},
		"curious": {0, doctor.Note, true, map[string]string{
			"propagation": "note: lonely exports spans, but none for the doctor's requests"}},
		"alone": {0, doctor.Warn, true, map[string]string{"propagation": "warn: lonely exported 1 spans in"}},
		"noisy": {0, doctor.Warn, true,
			map[string]string{"stdout": `1 line is not JSON, the first: "listening on stdio"`}},
		"stubborn": {patience, doctor.Warn, true, map[string]string{"end": "warn: it did not exit when its standard input"}},
		"late":     {0, doctor.Note, true, map[string]string{"end": "with status 3"}},
		"silent": {patience, doctor.Fail, false, map[string]string{
			"start": "fail: the process runs, but has written nothing", "stdout": "skipped: nothing was written",
			"handshake": "skipped: needs start", "cardinality": "skipped: needs handshake",
		}},
		"broken": {0, doctor.Fail, false, map[string]string{"start": `3; its last output: "DATABASE_URL is \x1b[31mnot`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, name, tc.timeout)
			said(t, r, tc.verdict, tc.connected, tc.checks)
		})
	}
}

// said requires the expected verdict and texts in a report.
func said(t *testing.T, r *doctor.Report, verdict doctor.Verdict, connected bool, checks map[string]string) {
	t.Helper()
	if r.Verdict != verdict || r.Connected != connected {
		t.Errorf("want %s, connected %v, got %s, %v:\n%s", verdict, connected, r.Verdict, r.Connected, shown(r.Checks))
	}
	for name, want := range checks {
		if !strings.Contains(shown(r.Checks), "\n"+name+" ") {
			t.Errorf("want a check %s, got:\n%s", name, shown(r.Checks))
		}
		for _, c := range r.Checks {
			if text := string(c.Verdict) + ": " + c.Found; c.Name == name && !strings.Contains(text, want) {
				t.Errorf("%s: want %q, got %q", name, want, text)
			}
		}
	}
	for _, c := range r.Checks {
		if (c.Verdict == doctor.Warn || c.Verdict == doctor.Fail) && c.Do == "" {
			t.Errorf("%s: %s without advice", c.Name, c.Verdict)
		}
	}
}

func shown(checks []doctor.Check) string {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "\n%s %s: %s -> %s", c.Name, c.Verdict, c.Found, c.Do)
	}
	return b.String()
}

func TestExecutableCheckExplainsWhyACommandCannotStart(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"no-such-command": "fail: no-such-command is not in any of the", "/no/such/path": "fail: /no/such/path does not " +
			"exist",
		plain: "fail: " + plain + " is not executable",
	} {
		r := doctor.Examine(t.Context(), doctor.Server{Name: command, Transport: transport.Stdio{Command: command}}, nil)
		said(t, r, doctor.Fail, false, map[string]string{"executable": want, "handshake": "skipped: needs start"})
	}
}

// TestExamineEndsWithItsContext examines a server that never answers.
func TestExamineEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := doctor.Examine(ctx, own(self, "silent"), &doctor.Options{Timeout: time.Hour})
	if r.Verdict != doctor.Fail || r.Took > time.Minute {
		t.Errorf("want an immediate failure, got %s after %v", r.Verdict, r.Took)
	}
}
