//go:build unix

package mcpclient_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// In tests with real processes, this binary is also the server. It writes raw JSON, line by line, so that its methods
// can violate the protocol, which no library allows.

// roleEnv is the environment variable with the role of a server process.
const roleEnv = "MCPOTEL_TEST_SERVER"

// The roles of server processes.
const (
	roleServer    = "server"      // answers requests
	roleChatty    = "chatty"      // like roleServer, with garbage between the answers
	roleLegacy    = "legacy"      // exits after the probe, and answers initialize
	roleExits     = "exits"       // exits at once with status 3, after it has written lastWords
	roleHTTP      = "http"        // a server over HTTP, which first writes its URL
	roleTools     = "tools"       // a server of package mcpserver with the tool pid
	roleDescended = "descended"   // started by roleServer; keeps the streams open and ignores SIGTERM
	lastWords     = "out of luck" // output of roleExits on standard error
)

// The methods of roleServer. It answers each request unless the comment states otherwise.
const (
	methodEnvironment = "test/environment" // returns its environment variables with the trace context
	methodEcho        = "test/echo"        // returns the params
	methodPID         = "test/pid"         // returns the process ID
	methodHold        = "test/hold"        // no answer; a notification with the same method confirms the arrival
	methodFrame       = "test/frame"       // returns a frame of exactly params.size bytes
	methodGarbage     = "test/garbage"     // an answer after garbage
	// returns the process ID of a child that keeps the streams open and ignores SIGTERM
	methodFork   = "test/fork"
	methodResist = "test/resist" // after this, the server ignores SIGTERM and the end of its input
	methodDeafen = "test/deafen" // after this, the server reads nothing and ignores SIGTERM
	methodTool   = "tools/call"  // returns a text
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

func play(role string) int {
	switch role {
	case roleExits:
		fmt.Fprintf(os.Stderr, "starting\n%s\n", lastWords)
		return 3
	case roleHTTP:
		return playHTTP()
	case roleTools:
		return playTools()
	case roleDescended:
		resist()
		_ = os.NewFile(3, "ready").Close()
		select {} // not a deadlock for the runtime, because the process listens for signals
	}
	s := &rawServer{role: role}
	if role == roleChatty {
		s.write(garbage...)
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if s.resists {
				select {}
			}
			return 0
		}
		if status, over := s.handle(line); over {
			return status
		}
	}
}

// playTools serves a tool that returns the process ID.
func playTools() int {
	s := mcpserver.New(mcp.Implementation{Name: "tools", Version: "1"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "pid"}, func(context.Context, struct{}) (string, error) {
		return strconv.Itoa(os.Getpid()), nil
	})
	if err != nil || s.ServeStdio(context.Background()) != nil {
		return 1
	}
	return 0
}

// resist ignores SIGTERM. Because it listens for the signal, the runtime reports no deadlock in an idle process.
func resist() { signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) }

// rawServer is the state of a server process.
type rawServer struct {
	role    string
	resists bool
	out     sync.Mutex // held while a line is written
	buf     []byte
}

// garbage lists invalid output, as real servers write it, and worse.
var garbage = []string{
	"Server listening on stdio", "", "\x1b[32mready\x1b[0m", "{", `{"jsonrpc":"2.0","id":`, "[]", "null", "42",
	`[{"jsonrpc":"2.0","id":1,"result":{}}]`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
	`{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":999999,"result":{}}`,
	`{"jsonrpc":"2.0","id":"1","result":{}}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`, `{"id":1,"result":{}}`,
	"\xff\xfe\x00", strings.Repeat("[", 10_000),
}

// message is the part of a request that a server process reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// handle handles one line. If the server must exit, over is true and status is the exit status.
func (s *rawServer) handle(line []byte) (status int, over bool) {
	if s.answerTool(line) {
		return 0, false
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		fmt.Fprintf(os.Stderr, "the client wrote %.100q: %v\n", line, err)
		return 100, true
	}
	switch m.Method {
	case "server/discover":
		if s.role == roleLegacy {
			return 1, true
		}
		s.answer(m.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,`+
			`"cacheScope":"private"}`)
	case "initialize":
		s.answer(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw",`+
			`"version":"1"}}`)
	case methodEcho:
		s.answer(m.ID, string(m.Params))
	case methodPID:
		s.answer(m.ID, fmt.Sprintf(`{"pid":%d}`, os.Getpid()))
	case methodEnvironment:
		s.answer(m.ID, fmt.Sprintf(`{"traceparent":%q,"baggage":%q}`, os.Getenv("TRACEPARENT"), os.Getenv("BAGGAGE")))
	case methodHold:
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, methodHold))
	case methodFrame:
		s.answerSized(m)
	case methodGarbage:
		s.write(garbage...)
		s.answer(m.ID, "{}")
	case methodFork:
		s.answer(m.ID, fmt.Sprintf(`{"pid":%d}`, fork()))
	case methodResist:
		resist()
		s.resists = true
		s.answer(m.ID, "{}")
	case methodDeafen:
		resist()
		s.answer(m.ID, "{}")
		select {}
	}
	return 0, false
}

// answerTool answers a tool call. It returns false for any other line. It allocates nothing, because benchmarks use it.
func (s *rawServer) answerTool(line []byte) bool {
	id, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return false
	}
	n := bytes.IndexByte(id, ',')
	if n < 0 || !bytes.HasPrefix(id[n:], []byte(`,"method":"`+methodTool+`"`)) {
		return false
	}
	s.buf = append(append(append(s.buf[:0], `{"jsonrpc":"2.0","id":`...), id[:n]...),
		`,"result":{"content":[{"type":"text","text":"3"}],"resultType":"complete"}}`+"\n"...)
	_, _ = os.Stdout.Write(s.buf)
	return true
}

// write writes lines. It ignores errors, because the reader may be gone.
func (s *rawServer) write(lines ...string) {
	s.out.Lock()
	defer s.out.Unlock()
	for _, l := range lines {
		_, _ = io.WriteString(os.Stdout, l+"\n")
	}
}

func (s *rawServer) answer(id json.RawMessage, result string) {
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

// answerSized answers with a frame of the size in the params.
func (s *rawServer) answerSized(m message) {
	var p struct{ Size int }
	_ = json.Unmarshal(m.Params, &p)
	const form = `{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`
	empty := len(fmt.Sprintf(form, m.ID, ""))
	s.write(fmt.Sprintf(form, m.ID, strings.Repeat("x", p.Size-empty)))
}

// fork starts a child in this process's group, waits until the child ignores SIGTERM, and returns its process ID.
func fork() int {
	r, w, err := os.Pipe()
	if err != nil {
		return 0
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+roleDescended)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	if cmd.Start() != nil {
		return 0
	}
	_ = w.Close()
	_, _ = io.ReadAll(r)
	return cmd.Process.Pid
}
