// Package examples has the tests of the programs below it.
package examples

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built is the directory of the compiled programs.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "examples"); err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(built)
		if out, err := exec.Command("go", "build", "-o", built, "./...", "../cmd/mcpotel").CombinedOutput(); err != nil {
			log.Printf("go build: %v: %s", err, out)
			return 1
		}
		return m.Run()
	}())
}

func TestTheFirstProgramCallsTheServerOfTheDemo(t *testing.T) {
	t.Setenv("PATH", built+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd := exec.Command(filepath.Join(built, "first"))
	cmd.Env = quiet()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	want := `{"city":"Oslo","days":[{"sky":"clear","celsius_max":9}]}` + "\n" // as in the guide
	if err != nil || !strings.HasPrefix(string(out), "forecast\n") || !strings.HasSuffix(string(out), want) {
		t.Errorf("printed %q, %v, want the tools and %q\n%s", out, err, want, &said)
	}
}

func TestTheClientStartsTheServerAndCallsIt(t *testing.T) {
	for _, test := range []struct {
		city, want string
		fails      bool
	}{
		{"Oslo", "Oslo tomorrow: 4 °C\n", false},
		{"Atlantis", "forecast: The temperature in a city tomorrow.\n", true},
	} {
		cmd := exec.Command(filepath.Join(built, "client"), test.city)
		cmd.Dir, cmd.Env = "..", quiet()
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if !strings.HasSuffix(string(out), test.want) || (err != nil) != test.fails {
			t.Errorf("%s: printed %q, %v, want %q\n%s", test.city, out, err, test.want, &said)
		}
		if test.fails && !strings.Contains(said.String(), "ask for Oslo, Madrid or Nairobi") {
			t.Errorf("%s: got %s, want the tool's answer", test.city, &said)
		}
	}
}

func TestTheServiceCallsTheServer(t *testing.T) {
	server, stop := start(t, quiet(), "server", "-http", "127.0.0.1:0")
	defer stop()
	oslo, stop := start(t, quiet(), "service", "-mcp", server, "-http", "127.0.0.1:0")
	defer stop()
	for _, test := range []struct {
		url    string
		status int
		body   string
	}{
		{oslo, http.StatusOK, "a coat\n"},
		{strings.Replace(oslo, "Oslo", "Nairobi", 1), http.StatusOK, "a shirt\n"},
		{strings.Replace(oslo, "Oslo", "Atlantis", 1), http.StatusBadRequest, "ask for Oslo"},
		{strings.Replace(oslo, "/wear?city=Oslo", "/ready", 1), http.StatusOK, ""},
		{strings.Replace(oslo, "/wear?city=Oslo", "/debug/mcp/", 1), http.StatusOK, "weather"},
	} {
		resp, err := http.Get(test.url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || !strings.Contains(string(body), test.body) {
			t.Errorf("%s: %s, %v: %.200q, want %d with %q", test.url, resp.Status, err, body, test.status, test.body)
		}
	}
}

// quiet returns an environment in which the programs export nothing.
func quiet() []string { return append(os.Environ(), "OTEL_SDK_DISABLED=true") }

// start starts a program and returns the URL that the program prints first. stop ends the program.
func start(t *testing.T, environ []string, name string, args ...string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(filepath.Join(built, name), args...)
	cmd.Env = environ
	url, drained := launch(t, cmd)
	return url, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s %v: %v", name, args, err)
		}
	}
}

// launch starts a program. It returns the URL that the program prints first, and a channel that is closed at the end of
// the program's output.
func launch(t *testing.T, cmd *exec.Cmd) (url string, drained <-chan struct{}) {
	t.Helper()
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	url, err = lines.ReadString('\n')
	for err == nil && !strings.HasPrefix(url, "http://") { // skip log records that the client writes while it connects
		url, err = lines.ReadString('\n')
	}
	if err != nil {
		t.Fatalf("%v printed no URL: %v", cmd.Args, err)
	}
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		_, _ = io.Copy(io.Discard, lines)
	}()
	return strings.TrimSpace(url), silent
}
