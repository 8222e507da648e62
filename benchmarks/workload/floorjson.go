package workload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// FloorJSON is the least useful work of a client: it encodes the arguments, and a goroutine reads, decodes each answer
// into a typed result with one pass of encoding/json, and matches it to its call by the id. It has no timeouts, states,
// notifications or telemetry, and validates nothing.
var FloorJSON = Peer{Name: "floorjson", Stdio: childOf(jsonPipe), Pipe: jsonPipe, HTTP: jsonHTTP}

// jsonAnswer has the members of results of tools/call and tools/list.
type jsonAnswer struct {
	ID     int64 `json:"id"`
	Result struct {
		Content []struct {
			Type, Text, Data, MimeType string
			Annotations                *jsonAnnotations
		}
		StructuredContent json.RawMessage
		Tools             []struct {
			Name, Title, Description string
			InputSchema, Annotations json.RawMessage
		}
	}
	Error json.RawMessage `json:"error"`
}

type jsonAnnotations struct {
	Audience []string
	Priority float64
}

func (a *jsonAnswer) counts() (content, tools int, err error) {
	if a.Error != nil {
		return 0, 0, fmt.Errorf("server: %s", a.Error)
	}
	for _, c := range a.Result.Content {
		content += len(c.Text) + len(c.Data)
	}
	return content, len(a.Result.Tools), nil
}

// jsonRequests encodes requests.
type jsonRequests struct {
	call, list string // the text after the id
	arguments  any
}

func newJSONRequests(ctx context.Context) jsonRequests {
	meta := ""
	if EraOf(ctx) == Modern {
		meta = modernMeta + ","
	}
	return jsonRequests{
		call:      `,"method":"tools/call","params":{` + meta + `"name":"`,
		list:      `,"method":"tools/list","params":{` + strings.TrimSuffix(meta, ",") + "}}\n",
		arguments: ArgumentsOf(ctx),
	}
}

// append appends a call of a tool, or a request for the list if tool is empty.
func (q *jsonRequests) append(b []byte, id int64, tool string, arguments []byte) []byte {
	b = strconv.AppendInt(append(b, frameHead...), id, 10)
	if tool == "" {
		return append(b, q.list...)
	}
	b = append(append(append(b, q.call...), tool...), `","arguments":`...)
	return append(append(b, arguments...), "}}\n"...)
}

func jsonPipe(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (Client, error) {
	first, err := floorPipe(WithCallers(ctx, 1), r, w)
	if err != nil {
		return nil, err
	}
	c := &jsonStream{
		floorStream: first.(*floorStream), requests: newJSONRequests(ctx),
		waiting: make(map[int64]chan *jsonAnswer), ended: make(chan struct{}),
	}
	c.in = nil
	c.next.Store(1000)
	go c.read()
	return c, nil
}

type jsonStream struct {
	*floorStream // for the handshake and Close
	requests     jsonRequests

	next    atomic.Int64
	mu      sync.Mutex // guards waiting
	waiting map[int64]chan *jsonAnswer
	writing sync.Mutex // held to write; guards out
	out     []byte
	spare   sync.Pool
	ended   chan struct{}
}

// read ends with the stream.
func (c *jsonStream) read() {
	defer close(c.ended)
	in := bufio.NewReader(c.r)
	var line []byte
	for {
		var err error
		if line, err = readLine(in, line[:0]); err != nil {
			return
		}
		a := new(jsonAnswer)
		if json.Unmarshal(line, a) != nil {
			return
		}
		c.mu.Lock()
		waiting := c.waiting[a.ID]
		delete(c.waiting, a.ID)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- a
		}
	}
}

// readLine appends a line to b.
func readLine(in *bufio.Reader, b []byte) ([]byte, error) {
	for {
		piece, err := in.ReadSlice('\n')
		b = append(b, piece...)
		if err != bufio.ErrBufferFull {
			return b, err
		}
	}
}

func (c *jsonStream) Call(ctx context.Context, tool string) (int, error) {
	arguments, err := json.Marshal(c.requests.arguments)
	if err != nil {
		return 0, err
	}
	a, err := c.roundtrip(ctx, tool, arguments)
	if err != nil {
		return 0, err
	}
	content, _, err := a.counts()
	return content, err
}

func (c *jsonStream) Records(ctx context.Context, tool string) (*Records, error) {
	arguments, err := json.Marshal(c.requests.arguments)
	if err != nil {
		return nil, err
	}
	a, err := c.roundtrip(ctx, tool, arguments)
	if err != nil {
		return nil, err
	}
	r := new(Records)
	return r, json.Unmarshal(a.Result.StructuredContent, r)
}

func (c *jsonStream) List(ctx context.Context) (int, error) {
	a, err := c.roundtrip(ctx, "", nil)
	if err != nil {
		return 0, err
	}
	_, tools, err := a.counts()
	return tools, err
}

// roundtrip calls a tool, or lists the tools if tool is empty.
func (c *jsonStream) roundtrip(ctx context.Context, tool string, arguments []byte) (*jsonAnswer, error) {
	answer, _ := c.spare.Get().(chan *jsonAnswer)
	if answer == nil {
		answer = make(chan *jsonAnswer, 1)
	}
	id := c.next.Add(1)
	c.mu.Lock()
	c.waiting[id] = answer
	c.mu.Unlock()
	if err := c.write(id, tool, arguments); err != nil {
		return nil, err
	}
	select {
	case a := <-answer:
		c.spare.Put(answer)
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended:
		return nil, io.ErrUnexpectedEOF
	}
}

func (c *jsonStream) write(id int64, tool string, arguments []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.out = c.requests.append(c.out[:0], id, tool, arguments)
	_, err := c.w.Write(c.out)
	return err
}

func (c *jsonStream) Close() error {
	err := c.floorStream.Close()
	<-c.ended
	return err
}

func jsonHTTP(ctx context.Context, url string) (Client, error) {
	first, err := floorHTTP(ctx, url)
	if err != nil {
		return nil, err
	}
	return &jsonWeb{floorWeb: first.(*floorWeb), requests: newJSONRequests(ctx)}, nil
}

type jsonWeb struct {
	*floorWeb // for its requests and its end
	requests  jsonRequests
}

func (c *jsonWeb) Call(ctx context.Context, tool string) (int, error) {
	arguments, err := json.Marshal(c.requests.arguments)
	if err != nil {
		return 0, err
	}
	content, _, err := c.roundtrip(ctx, c.requests.append(make([]byte, 0, 512), 1, tool, arguments))
	return content, err
}

func (c *jsonWeb) List(ctx context.Context) (int, error) {
	_, tools, err := c.roundtrip(ctx, c.requests.append(make([]byte, 0, 512), 1, "", nil))
	return tools, err
}

func (c *jsonWeb) roundtrip(ctx context.Context, line []byte) (content, tools int, err error) {
	resp, err := c.post(ctx, line[:len(line)-1])
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, err
	}
	if data, ok := bytes.CutPrefix(body, []byte("event: message\ndata: ")); ok {
		body = data
	}
	a := new(jsonAnswer)
	if err := json.Unmarshal(body, a); err != nil {
		return 0, 0, err
	}
	if a.ID != 1 {
		return 0, 0, fmt.Errorf("answer to %d", a.ID)
	}
	return a.counts()
}
