//go:build !windows

package examples

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// These tests send a program the signals of a terminal or a platform while a stream is open. The stream ends only when
// one of its sides ends.

func TestSignalStopsTheServerWhileAClientListens(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		t.Run(string(version), func(t *testing.T) {
			endsSoon(t, func(t *testing.T) *exec.Cmd {
				cmd, url := serving(t, "server", "-http", "127.0.0.1:0")
				listens(t, url, version)
				return cmd
			})
		})
	}
}

func TestSignalStopsTheStdioServer(t *testing.T) {
	endsSoon(t, func(t *testing.T) *exec.Cmd {
		cmd := program("server")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() })
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		if _, failed := bufio.NewReader(out).ReadString('\n'); errors.Join(err, failed) != nil {
			t.Fatal(errors.Join(err, failed)) // after the answer, the server handles signals
		}
		return cmd
	})
}

func TestSignalStopsTheServiceWhileItListens(t *testing.T) {
	endsSoon(t, func(t *testing.T) *exec.Cmd {
		server := stuck(t)
		cmd, _ := serving(t, "service", "-mcp", server.url, "-http", "127.0.0.1:0")
		<-server.listened
		return cmd
	})
}

func TestSignalStopsTheClientWhileItListensAndWaits(t *testing.T) {
	endsSoon(t, func(t *testing.T) *exec.Cmd {
		server := stuck(t)
		cmd := program("client", "-url", server.url, "Oslo")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-server.listened
		<-server.called
		return cmd
	})
}

// endsSoon fails the test if a program does not end within a second of a signal. A machine that is busy with other
// things gets three tries.
func endsSoon(t *testing.T, begun func(t *testing.T) *exec.Cmd) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			var took time.Duration
			for range 3 {
				cmd := begun(t)
				sent := time.Now()
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				err := cmd.Wait()
				if took = time.Since(sent); took < time.Second {
					if exit := cmd.ProcessState.ExitCode(); filepath.Base(cmd.Path) == "client" {
						if exit != 1 { // the client has not done its task
							t.Errorf("ended with %v, want status 1", err)
						}
					} else if err != nil {
						t.Errorf("ended with %v", err)
					}
					return
				}
			}
			t.Errorf("ended %v after the signal, want less than a second", took)
		})
	}
}

// program returns the command for an example that exports no telemetry.
func program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(built, name), args...)
	cmd.Env = quiet()
	return cmd
}

// serving starts an example and returns the URL that it prints.
func serving(t *testing.T, name string, args ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = program(name, args...)
	url, drained := launch(t, cmd)
	t.Cleanup(func() { <-drained })
	return cmd, url
}

// listens connects a client that listens to the server until the test ends. It returns when the client's stream is
// open.
func listens(t *testing.T, url string, version mcp.Version) {
	t.Helper()
	open := make(opened, 10)
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: url, Client: &http.Client{Transport: open}},
		&mcpclient.Options{
			Versions: []mcp.Version{version}, Telemetry: telemetry.Off(),
			Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) {})},
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	<-open
}

// opened receives a value for each stream that a client has opened to listen.
type opened chan struct{}

func (o opened) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusOK &&
		(r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == mcp.MethodSubscriptionsListen) {
		select {
		case o <- struct{}{}:
		default: // one value suffices
		}
	}
	return resp, err
}

// stuckServer is a server with sessions. Its tool never answers.
type stuckServer struct {
	url              string
	listened, called chan struct{} // receive a value for each stream and each call
}

func stuck(t *testing.T) *stuckServer {
	t.Helper()
	stuck := &stuckServer{listened: make(chan struct{}, 10), called: make(chan struct{}, 10)}
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{
		Versions: []mcp.Version{mcp.Version20251125}, Telemetry: telemetry.Off(),
	})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(ctx context.Context, _ any) (string, error) {
		stuck.called <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	h := s.HTTPHandler(nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			stuck.listened <- struct{}{}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { _ = h.Shutdown(context.WithoutCancel(t.Context())) })
	stuck.url = web.URL
	return stuck
}
