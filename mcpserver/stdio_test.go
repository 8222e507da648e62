//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// asServer is an environment variable that makes this program a server on standard input and output.
const asServer = "MCPSERVER_TEST_STDIO"

func TestMain(m *testing.M) {
	if name := os.Getenv(asPropagating); name != "" {
		if err := servePropagating(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	if err := serveNoisily(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("after") // standard output is restored
}

// serveNoisily serves a tool that prints to standard output, and whose child process does the same.
func serveNoisily() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := mcpserver.New(mcp.Implementation{Name: "noisy", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	err := s.AddTool(&mcp.Tool{Name: "noise"},
		func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Arguments != nil {
				_, err := os.Stderr.WriteString(strings.Repeat("x", 1<<20))
				return nil, err
			}
			fmt.Println("printed by the program")
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "echo printed by a child")
			cmd.Stdout = os.Stdout
			return nil, cmd.Run()
		})
	if err == nil {
		err = s.ServeStdio(ctx)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// child returns a command that runs this program as a server. The command has not been started.
func child(t *testing.T) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), asServer+"=1")
	return cmd
}

const noisyConversation = initialize + "\n" +
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"noise"}}` + "\n"

// checkNoisy checks that output has two frames and the line after the server's end, and nothing else.
func checkNoisy(t *testing.T, output []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	if len(lines) != 3 || lines[2] != "after" {
		t.Fatalf("standard output is %q, want two frames and the line after the server's end", output)
	}
	for _, line := range lines[:2] {
		if !json.Valid([]byte(line)) {
			t.Errorf("standard output has the line %q, want frames alone", line)
		}
	}
}

func TestStdoutCarriesOnlyFrames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte(noisyConversation), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for name, stdin := range map[string]io.Reader{"pipe": strings.NewReader(noisyConversation), "file": opened} {
		t.Run(name, func(t *testing.T) {
			cmd := child(t)
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("the server ended with %v: %s", err, &errs)
			}
			checkNoisy(t, out.Bytes())
			if got := errs.String(); got != "printed by the program\nprinted by a child\n" {
				t.Errorf("standard error is %q, want the printed text", got)
			}
		})
	}
}

// Programs in Node.js start servers with sockets as standard streams.
func TestStandardStreamsMayBeSockets(t *testing.T) {
	pair := func() (ours, theirs *os.File) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
		return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	}
	in, stdin := pair()
	out, stdout := pair()
	defer out.Close()
	cmd := child(t)
	cmd.Stdin, cmd.Stdout = stdin, stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	stdout.Close()
	if _, err := io.WriteString(in, noisyConversation); err != nil {
		t.Fatal(err)
	}
	in.Close()
	output, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	checkNoisy(t, output)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v, want success", err)
	}
}

// TestStandardErrorStaysBlocking runs a server whose standard output and standard error are the same pipe. The server
// cannot separate them, but writes to standard error must still wait for the reader.
func TestStandardErrorStaysBlocking(t *testing.T) {
	cmd := child(t)
	cmd.Stdin = strings.NewReader(initialize + "\n" + callOf(1, "noise", "{}") + "\n")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the server ended with %v: %s", err, output)
	}
	if n := bytes.Count(output, []byte("x")); n < 1<<20 {
		t.Errorf("%d bytes of the printed text arrived, want all", n)
	}
	if want := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`; !bytes.Contains(output, []byte(want)) {
		t.Errorf("the answer is not in the output, want %s", want)
	}
}

func TestSignalStopsServer(t *testing.T) {
	cmd := child(t)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, initialize+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil { // the server has started
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v, want success though its input is still open", err)
	}
}

func TestServeStdioRestoresStandardStreams(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before, err := os.Stdout.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := newServer(t, mcpserver.Options{}).ServeStdio(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ServeStdio returned %v, want the cause of its context", err)
	}
	after, err := os.Stdout.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("standard output is another file than before, want it given back")
	}
}
