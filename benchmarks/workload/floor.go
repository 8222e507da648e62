package workload

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Floor moves the same bytes as the other peers and looks only for newlines: it writes prepared requests, and reads and
// drops answers. It matches no ids, decodes nothing, has no timeouts, detects no errors, and keeps no answer in memory:
// it reads into one buffer. Its calls return the size of the frame.
//
// With one caller it reads in the caller's goroutine. With several callers, see [WithCallers], a goroutine reads,
// answers belong to calls in the order of the requests, and waiting requests are written together. Over HTTP it is
// http.Client alone.
var Floor = Peer{Name: "floor", Stdio: childOf(floorPipe), Pipe: floorPipe, HTTP: floorHTTP}

// The requests of the floors, as written by a client with its own metadata.
const (
	callParams = `"name":"` + TinyTool + `","arguments":{"text":"` + HelloText + `"}`
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` +
		`{"name":"floor","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// request returns a line with a request for method, with an id of four digits.
func request(e Era, method, params string) []byte {
	if e == Modern && params != "" {
		params = modernMeta + "," + params
	} else if e == Modern {
		params = modernMeta
	}
	return []byte(frameHead + `1000,"method":"` + method + `","params":{` + params + "}}\n")
}

// hello returns the messages of a client before its first call: the lines, and whether each gets an answer.
func hello(e Era) (lines [][]byte, answered []bool) {
	if e == Modern {
		return [][]byte{request(e, "server/discover", "")}, []bool{true}
	}
	return [][]byte{
		request(e, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor",`+
			`"version":"1.0"}`),
		[]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"),
	}, []bool{true, false}
}

type callersKey struct{}

// WithCallers returns a context for a connection that n goroutines use concurrently.
func WithCallers(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callersKey{}, n)
}

func callersOf(ctx context.Context) int {
	n, _ := ctx.Value(callersKey{}).(int)
	return max(1, n)
}

// floorPipe performs the handshake like a call.
func floorPipe(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (Client, error) {
	e := EraOf(ctx)
	f := &floorStream{r: r, w: w, in: make([]byte, 4<<10), call: request(e, "tools/call", callParams),
		list: request(e, "tools/list", "")}
	lines, answered := hello(e)
	for i, line := range lines {
		var err error
		if answered[i] {
			_, err = f.roundtrip(line)
		} else {
			_, err = w.Write(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if callersOf(ctx) > 1 {
		return shared(f), nil
	}
	return f, nil
}

// floorStream serves one caller at a time.
type floorStream struct {
	r          io.ReadCloser
	w          io.WriteCloser
	in         []byte
	call, list []byte
}

func (f *floorStream) Call(context.Context, string) (int, error) { return f.roundtrip(f.call) }
func (f *floorStream) List(context.Context) (int, error)         { return f.roundtrip(f.list) }

func (f *floorStream) roundtrip(request []byte) (int, error) {
	if _, err := f.w.Write(request); err != nil {
		return 0, err
	}
	for size := 0; ; {
		n, err := f.r.Read(f.in)
		if err != nil {
			return 0, err
		}
		size += n
		if f.in[n-1] == '\n' { // the answer is complete: there is no other request in flight
			return size - 1, nil
		}
		if n == len(f.in) && n < 256<<10 {
			f.in = make([]byte, 256<<10)
		}
	}
}

func (f *floorStream) Close() error {
	_ = f.w.Close()
	return f.r.Close()
}

// sharedStream serves several callers.
type sharedStream struct {
	*floorStream
	mu      sync.Mutex // guards out and waiting, which are in the same order
	out     []byte
	waiting []chan int
	writing sync.Mutex // held to write
	ended   chan struct{}
	spare   sync.Pool
}

func shared(f *floorStream) *sharedStream {
	s := &sharedStream{floorStream: f, ended: make(chan struct{}), spare: sync.Pool{New: func() any {
		return make(chan int, 1)
	}}}
	go s.read()
	return s
}

// read ends with the stream.
func (s *sharedStream) read() {
	defer close(s.ended)
	in, size := make([]byte, 256<<10), 0
	for {
		n, err := s.r.Read(in)
		if err != nil {
			return
		}
		for rest := in[:n]; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				size += len(rest)
				break
			}
			s.mu.Lock()
			first := s.waiting[0]
			s.waiting = s.waiting[:copy(s.waiting, s.waiting[1:])]
			s.mu.Unlock()
			first <- size + i
			size, rest = 0, rest[i+1:]
		}
	}
}

func (s *sharedStream) Call(context.Context, string) (int, error) { return s.roundtrip(s.call) }
func (s *sharedStream) List(context.Context) (int, error)         { return s.roundtrip(s.list) }

func (s *sharedStream) roundtrip(request []byte) (int, error) {
	answer := s.spare.Get().(chan int)
	s.mu.Lock()
	s.waiting = append(s.waiting, answer)
	s.out = append(s.out, request...)
	s.mu.Unlock()
	if err := s.write(); err != nil {
		return 0, err
	}
	select {
	case n := <-answer:
		s.spare.Put(answer)
		return n, nil
	case <-s.ended:
		return 0, io.ErrUnexpectedEOF
	}
}

// write writes the waiting requests, unless another sender has written them.
func (s *sharedStream) write() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	out := s.out
	s.out = nil
	s.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	_, err := s.w.Write(out)
	return err
}

func (s *sharedStream) Close() error {
	err := s.floorStream.Close()
	<-s.ended
	return err
}

// floorWebClient is shared by the floors, as http.DefaultClient is by many libraries. Its pool has room for a
// connection of every caller.
var floorWebClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}

func floorHTTP(ctx context.Context, url string) (Client, error) {
	e := EraOf(ctx)
	f := &floorWeb{url: url, client: cmp.Or(HTTPClientOf(ctx), floorWebClient),
		call: request(e, "tools/call", callParams), list: request(e, "tools/list", "")}
	f.header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(e)},
	}
	if e == Modern {
		f.header["Mcp-Method"], f.header["Mcp-Name"] = []string{"tools/call"}, []string{TinyTool}
	}
	lines, _ := hello(e)
	for _, line := range lines {
		if _, err := f.roundtrip(ctx, line); err != nil {
			return nil, err
		}
	}
	return f, nil
}

type floorWeb struct {
	url        string
	client     *http.Client
	header     http.Header
	call, list []byte
	buffers    sync.Pool
}

func (f *floorWeb) Call(ctx context.Context, _ string) (int, error) { return f.roundtrip(ctx, f.call) }
func (f *floorWeb) List(ctx context.Context) (int, error)           { return f.roundtrip(ctx, f.list) }

func (f *floorWeb) roundtrip(ctx context.Context, line []byte) (size int, err error) {
	resp, err := f.post(ctx, line[:len(line)-1])
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	in, ok := f.buffers.Get().(*[]byte)
	if !ok || resp.ContentLength > 64<<10 && len(*in) < 64<<10 {
		in = new(make([]byte, min(max(4<<10, resp.ContentLength), 64<<10)))
	}
	defer f.buffers.Put(in)
	for {
		n, err := resp.Body.Read(*in)
		size += n
		if err == io.EOF {
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
				size -= len("event: message\ndata: \n\n")
			}
			return size, nil
		} else if err != nil {
			return size, err
		}
	}
}

func (f *floorWeb) post(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = f.header
	resp, err := f.client.Do(req)
	if err == nil && resp.StatusCode/100 != 2 {
		_ = resp.Body.Close()
		err = fmt.Errorf("status %s", resp.Status)
	}
	return resp, err
}

func (f *floorWeb) Close() error {
	f.client.CloseIdleConnections()
	return nil
}
