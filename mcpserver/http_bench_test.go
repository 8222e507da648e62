package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/cputime"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkHTTPToolCall measures a call of a tool over HTTP on a loopback connection, with driver and server in one
// process. The driver sends prepared bytes and checks only the length of the answer, so that the server does nearly
// all the work. There are two lower bounds. The first is a plain net/http handler that decodes the same request and
// encodes the same answer with encoding/json. The second ignores the request and writes a prepared answer.
func BenchmarkHTTPToolCall(b *testing.B) {
	const (
		modern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{` + bothMetas +
			`,"io.modelcontextprotocol/clientInfo":{"name":"app","version":"1.0"}},"name":%q,` +
			`"arguments":{"text":"hello, world"}}}`
		legacy = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hello, world"}}}`
	)
	b.Run("server=floor", func(b *testing.B) {
		driveHTTP(b, http.HandlerFunc(answerPlainly), fmt.Sprintf(modern, "raw"), modernHeaders("tools/call", "raw")...)
	})
	b.Run("server=below", func(b *testing.B) {
		driveHTTP(b, http.HandlerFunc(answerBlindly), fmt.Sprintf(modern, "raw"), modernHeaders("tools/call", "raw")...)
	})
	telemetries := map[string]*telemetry.Telemetry{"absent": telemetry.Off(), "no SDK": telemetry.New()}
	for _, observer := range []string{"absent", "no SDK"} {
		for _, tool := range []string{"raw", "typed"} {
			b.Run("server=ours/era=modern/tool="+tool+"/telemetry="+observer, func(b *testing.B) {
				driveHTTP(b, benchServer(b, telemetries[observer]).HTTPHandler(nil), fmt.Sprintf(modern, tool),
					modernHeaders("tools/call", tool)...)
			})
		}
		b.Run("server=ours/era=stateless/tool=raw/telemetry="+observer, func(b *testing.B) {
			h := benchServer(b, telemetries[observer]).HTTPHandler(&mcpserver.HTTPOptions{Stateless: true})
			driveHTTP(b, h, fmt.Sprintf(legacy, "raw"), "MCP-Protocol-Version", "2025-11-25")
		})
		b.Run("server=ours/era=session/tool=raw/telemetry="+observer, func(b *testing.B) {
			h := benchServer(b, telemetries[observer]).HTTPHandler(nil)
			w := serveHandler(b, h, h)
			driveHTTP(b, h, fmt.Sprintf(legacy, "raw"), "MCP-Protocol-Version", "2025-11-25", "Mcp-Session-Id",
				w.open("2025-11-25"))
		})
	}
}

func answerBlindly(w http.ResponseWriter, r *http.Request) {
	_, _ = io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w,
		`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1"}},`+
			`"resultType":"complete","content":[{"type":"text","text":"hello, world"}]}}`)
}

// answerPlainly answers a call like a program that supports no other call.
func answerPlainly(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params struct {
			Meta      map[string]any  `json:"_meta"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": request.ID, "result": map[string]any{
			"_meta":      map[string]any{mcp.MetaServerInfo: mcp.Implementation{Name: "bench", Version: "1"}},
			"resultType": "complete", "content": []content{{"text", "hello, world"}},
		},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// driveHTTP sends the same request repeatedly over one connection.
func driveHTTP(b *testing.B, h http.Handler, body string, headers ...string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	defer srv.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	r := request(b, context.Background(), "POST", body, headers...)
	var raw strings.Builder
	if err := r.Write(&raw); err != nil {
		b.Fatal(err)
	}
	in, out := bufio.NewReader(conn), []byte(raw.String())
	exchange := func() {
		if _, err := conn.Write(out); err != nil {
			b.Fatal(err)
		}
		length := 0
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if n, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(n))
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := in.Discard(length); err != nil {
			b.Fatal(err)
		}
	}
	exchange()
	b.ReportAllocs()
	start := cputime.Used()
	for b.Loop() {
		exchange()
	}
	b.ReportMetric(float64(cputime.Used()-start)/float64(b.N), "cpu-ns/op")
}
