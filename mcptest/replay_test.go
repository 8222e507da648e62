package mcptest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcptest"
)

// docs:replay

func TestReplayReturnsRecordedResult(t *testing.T) {
	server := mcptest.Replay(t, "testdata/weather.ndjson")
	client, err := mcpclient.Connect(t.Context(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	weather := &Weather{Server: client}
	if got := weather.Today(t.Context(), "Oslo"); !strings.Contains(got, `"celsius_max"`) {
		t.Errorf("got %q", got)
	}
}

// docs:end

// judged is a test that records its errors.
type judged struct {
	testing.TB
	errors []string
}

func (j *judged) Errorf(format string, args ...any) {
	j.errors = append(j.errors, fmt.Sprintf(format, args...))
}

func TestUnrecordedRequestFailsTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judged{TB: t}
		client, err := mcpclient.Connect(t.Context(), mcptest.Replay(j, "testdata/weather.ndjson"),
			&mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if got := (&Weather{Server: client}).Today(t.Context(), "Rome"); got != "unknown" {
			t.Errorf("got %q", got)
		}
		if len(j.errors) != 1 || !strings.Contains(j.errors[0], `differs in .arguments.city: "Rome", not "Oslo"`) {
			t.Errorf("got the errors %q", j.errors)
		}
	})
}

func TestClientMayCloseBeforeReplayCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := mcpclient.Connect(t.Context(), mcptest.Replay(t, "testdata/weather.ndjson"),
			&mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() }) // runs before the clean-up of Replay
	})
}

func TestInvalidRecordingEndsTest(t *testing.T) {
	text, err := os.ReadFile("testdata/weather.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"empty":   {"", "line 1: not a recording"},
		"no host": {strings.SplitAfter(string(text), "\n")[0], "has no message from a host"},
		"silent":  {strings.Replace(string(text), `"content":true`, `"content":false`, 1), "record again with --record-content"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := &failing{TB: t}
		func() {
			defer func() { _ = recover() }()
			mcptest.Replay(f, path)
		}()
		if !strings.Contains(f.said, path) || !strings.Contains(f.said, c.want) {
			t.Errorf("got %q, want the path and %q", f.said, c.want)
		}
	}
}
