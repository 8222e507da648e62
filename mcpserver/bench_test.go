package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/cputime"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkToolCall measures a tool call over a pair of OS pipes, with driver and server in one process. The lower
// bound is a server that reads a line, does not parse it, and writes an answer of the same size.
func BenchmarkToolCall(b *testing.B) {
	const (
		legacy = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"hello, world"}}}`
		modern = `{"jsonrpc":"2.0","id":%d,"method":"tools/call",` +
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"app","version":"1.0"},` +
			`"io.modelcontextprotocol/clientCapabilities":{},` +
			`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},"name":"%s",` +
			`"arguments":{"text":"hello, world"}}}`
	)
	telemetries := map[string]*telemetry.Telemetry{"absent": telemetry.Off(), "no SDK": telemetry.New()}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		request := legacy
		if version == "2026-07-28" {
			request = modern
		}
		for _, callers := range []int{1, 64} {
			name := fmt.Sprintf("version=%s/callers=%d/", version, callers)
			b.Run(name+"server=floor", func(b *testing.B) {
				drive(b, callers, fmt.Sprintf(request, 1, "raw"), answerCanned)
			})
			for _, tool := range []string{"raw", "typed"} {
				for _, observer := range []string{"absent", "no SDK"} {
					b.Run(name+"server=ours/tool="+tool+"/telemetry="+observer, func(b *testing.B) {
						drive(b, callers, fmt.Sprintf(request, 1, tool), serveBench(b, telemetries[observer]))
					})
				}
			}
		}
	}
}

// drive keeps one request in flight for each caller, until the benchmark ends.
func drive(b *testing.B, callers int, request string, serve func(in, out *os.File)) {
	toServer, fromClient, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	toClient, fromServer, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	var server sync.WaitGroup
	server.Go(func() { serve(toServer, fromServer) })
	answers := bufio.NewReaderSize(toClient, 64<<10)
	exchange := func(frame []byte) {
		if _, err := fromClient.Write(frame); err != nil {
			b.Fatal(err)
		}
	}
	read := func() {
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	exchange([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"))
	read()
	frames := make([][]byte, callers)
	for i := range frames {
		frames[i] = append(renumber(request, 1000+i), '\n')
	}
	b.ReportAllocs()
	start := cputime.Used()
	if callers == 1 {
		for b.Loop() {
			exchange(frames[0])
			read()
		}
	} else {
		n := 0
		for b.Loop() {
			if n < callers {
				exchange(frames[n])
			} else {
				read()
				exchange(frames[n%callers])
			}
			n++
		}
		for range min(n, callers) {
			read()
		}
	}
	b.ReportMetric(float64(cputime.Used()-start)/float64(b.N), "cpu-ns/op")
	b.StopTimer()
	_ = fromClient.Close()
	server.Wait()
	_ = toClient.Close()
}

func renumber(request string, id int) []byte {
	const head = `{"jsonrpc":"2.0","id":`
	return []byte(head + strconv.Itoa(id) + request[len(head)+1:])
}

func answerCanned(in, out *os.File) {
	defer out.Close()
	defer in.Close()
	lines := bufio.NewReaderSize(in, 64<<10)
	answer := []byte(`{"jsonrpc":"2.0","id":1000,"result":{"content":[{"type":"text","text":"hello, world"}]}}` + "\n")
	for {
		if _, err := lines.ReadSlice('\n'); err != nil {
			return
		}
		if _, err := out.Write(answer); err != nil {
			return
		}
	}
}

func serveBench(b *testing.B, tel *telemetry.Telemetry) func(in, out *os.File) {
	s := benchServer(b, tel)
	return func(in, out *os.File) {
		if err := s.Serve(context.Background(), mcpserver.NewStreamConn(in, out, 0)); err != nil {
			b.Error(err)
		}
	}
}

func benchServer(b *testing.B, tel *telemetry.Telemetry) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "bench", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	err := s.AddTool(&mcp.Tool{Name: "raw"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("hello, world")}}, nil
		})
	if err == nil {
		err = mcpserver.AddTool(s, &mcp.Tool{Name: "typed"}, func(_ context.Context, in struct {
			Text string `json:"text"`
		}) (string, error) {
			return in.Text, nil
		})
	}
	if err != nil {
		b.Fatal(err)
	}
	return s
}
