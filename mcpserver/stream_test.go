package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver"
)

// piped serves a client that has the other ends of two pipes.
func piped(t *testing.T, ctx context.Context, s *mcpserver.Server, limit int) (in io.WriteCloser, out *bufio.Scanner,
	result chan error) {
	t.Helper()
	fromClient, in := io.Pipe()
	fromServer, toClient := io.Pipe()
	result = make(chan error, 1)
	go func() { result <- s.Serve(ctx, mcpserver.NewStreamConn(fromClient, toClient, limit)) }()
	return in, bufio.NewScanner(fromServer), result
}

func TestStreamsCarryOneFramePerLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out, result := piped(t, t.Context(), newServer(t, mcpserver.Options{}), 0)
		go io.WriteString(in, initialize+"\r\n\n  \n"+pingRequest+"\n"+callOf(1, "greet", `{"name":"x"}`))
		for _, want := range []string{`"protocolVersion"`, `"id":"ping","result":{}`} {
			if !out.Scan() || !strings.Contains(out.Text(), want) {
				t.Fatalf("the server sent %q, want a line with %s", out.Text(), want)
			}
		}
		in.Close()
		if !out.Scan() || !strings.Contains(out.Text(), "Hello, x!") {
			t.Errorf("the server sent %q, want the answer to a last line without an end", out.Text())
		}
		if err := <-result; err != nil || out.Scan() {
			t.Errorf("Serve returned %v and sent %q, want nil and the end", err, out.Text())
		}
	})
}

func TestStreamsSkipFramesAboveTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out, result := piped(t, t.Context(), newServer(t, mcpserver.Options{}), 100)
		exactly := pingRequest[:len(pingRequest)-1] + strings.Repeat(" ", 100-len(pingRequest)) + "}"
		go func() {
			io.WriteString(in, exactly+"\n"+exactly[:99]+" }\n"+pingRequest+"\n")
			in.Close()
		}()
		for _, want := range []string{`"result":{}`, `frame of 101 bytes is above the limit of 100`, `"result":{}`} {
			if !out.Scan() || !strings.Contains(out.Text(), want) {
				t.Fatalf("the server sent %q, want a line with %s", out.Text(), want)
			}
		}
		if err := <-result; err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
	})
}

func TestContextInterruptsStreams(t *testing.T) {
	reader, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, null := io.Pipe()
	local, remote := net.Pipe()
	defer remote.Close()
	never, _ := io.Pipe()
	for name, conn := range map[string]mcpserver.Conn{
		"file with deadlines":      mcpserver.NewStreamConn(reader, null, 0),
		"socket":                   mcpserver.NewStreamConn(local, local, 0),
		"stream without deadlines": mcpserver.NewStreamConn(never, null, 0),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			result := make(chan error, 1)
			go func() {
				_, err := conn.Receive(ctx)
				result <- err
			}()
			cancel(why)
			if err := <-result; !errors.Is(err, why) {
				t.Errorf("Receive returned %v, want the cause of its context", err)
			}
			if err := newServer(t, mcpserver.Options{}).Serve(ctx, conn); !errors.Is(err, why) {
				t.Errorf("Serve returned %v, want the cause of its context", err)
			}
		})
	}
}

func TestStreamConnReportsNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("no loopback: ", err)
	}
	defer listener.Close()
	tcp, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	memory, _ := net.Pipe()
	pipe, _ := io.Pipe()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, w := io.Pipe()
	for want, r := range map[string]io.ReadCloser{"tcp": tcp, "": memory, "pipe": file} {
		if got := mcpserver.NetworkOf(mcpserver.NewStreamConn(r, w, 0)); got != want {
			t.Errorf("the network of a %T is %q, want %q", r, got, want)
		}
	}
	if got := mcpserver.NetworkOf(mcpserver.NewStreamConn(pipe, w, 0)); got != "pipe" {
		t.Errorf("the network of a pipe in memory is %q, want pipe", got)
	}
	if got := mcpserver.NetworkOf(mcpserver.NewStreamConn(io.NopCloser(strings.NewReader("")), w, 0)); got != "" {
		t.Errorf("the network of a string is %q, want none", got)
	}
}

func TestStreamConnServesSingleSocket(t *testing.T) {
	local, remote := net.Pipe()
	result := make(chan error, 1)
	go func() {
		result <- newServer(t, mcpserver.Options{}).Serve(t.Context(), mcpserver.NewStreamConn(local, local, 0))
	}()
	if _, err := io.WriteString(remote, pingRequest+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(remote).ReadString('\n')
	if err != nil || line != `{"jsonrpc":"2.0","id":"ping","result":{}}`+"\n" {
		t.Fatalf("the server sent %q, %v, want the answer to ping", line, err)
	}
	remote.Close()
	if err := <-result; err != nil {
		t.Errorf("Serve returned %v, want nil", err)
	}
}

func TestCloseTimesOutForBlockedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _, result := piped(t, t.Context(), newServer(t, mcpserver.Options{}), 0)
		io.WriteString(in, pingRequest+"\n")
		start := time.Now()
		in.Close()
		if err := <-result; err != nil {
			t.Errorf("Serve returned %v, want nil", err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("Serve returned after %v, want a few seconds at most", took)
		}
	})
}
