//go:build !windows

package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestSignalEndsTheCommandWithTheShellExitCode sends a signal to a command while the server is not answering its
// request.
func TestSignalEndsTheCommandWithTheShellExitCode(t *testing.T) {
	noCollector(t)
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "call", "--url", server.URL, "x")
		cmd.Env = append(os.Environ(), asCommand+"=1")
		var stderr buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != want {
			t.Errorf("%v: got %v, want exit code %d: %s", signal, err, want, stderr.String())
		}
		if text := stderr.String(); text != "mcpotel: interrupted\n" && text != "mcpotel: terminated\n" {
			t.Errorf("%v: got %q, want only the reason for the end", signal, text)
		}
	}
}
