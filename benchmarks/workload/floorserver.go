package workload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// FloorServer moves the same bytes as the other servers and looks only for newlines: it answers every request with
// prepared bytes, in the caller's goroutine, and answers requests together that arrive together. It does not read the
// requests, has no tools, and detects no errors. Over HTTP it is net/http alone.
var FloorServer = Server{Name: "floor", Pipe: floorServe, HTTP: func() http.Handler {
	return http.HandlerFunc(floorAnswer)
}}

// toolAnswer returns the answer of our server and others to a call, without newline.
func toolAnswer(e Era) []byte {
	result := `{"content":[{"type":"text","text":"` + HelloText + `"}]}`
	if e == Modern {
		result = `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"floor","version":"1.0"}},"resultType":"complete",` +
			result[1:]
	}
	return []byte(frameHead + "1000" + frameTail + result + "}")
}

func floorServe(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	defer r.Close()
	defer w.Close()
	answer := append(toolAnswer(EraOf(ctx)), '\n')
	in := make([]byte, 4<<10)
	var out []byte
	for {
		n, err := r.Read(in)
		if err != nil {
			return nil
		}
		out = out[:0]
		for range bytes.Count(in[:n], []byte("\n")) {
			out = append(out, answer...)
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		if n == len(in) && n < 64<<10 {
			in = make([]byte, 64<<10)
		}
	}
}

var floorAnswers = map[string][]byte{string(Legacy): toolAnswer(Legacy), string(Modern): toolAnswer(Modern)}

var floorBodies = sync.Pool{New: func() any { return new(make([]byte, 4<<10)) }}

func floorAnswer(w http.ResponseWriter, r *http.Request) {
	in := floorBodies.Get().(*[]byte)
	defer floorBodies.Put(in)
	for {
		if _, err := r.Body.Read(*in); err != nil {
			break
		}
	}
	w.Header()["Content-Type"] = jsonType
	_, _ = w.Write(floorAnswers[r.Header.Get("Mcp-Protocol-Version")])
}

// FloorJSONServer is the least useful work of a server: it decodes each request with one pass of encoding/json, looks
// up its tool, decodes the arguments if the tool needs them, and encodes the result with encoding/json. It validates no
// schema, handles one request at a time, and supports neither cancellation nor telemetry.
var FloorJSONServer = Server{Name: "floorjson", Pipe: jsonServe, HTTP: func() http.Handler {
	return http.HandlerFunc(jsonHandle)
}}

type jsonCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			ProtocolVersion string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

type jsonContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type jsonReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  struct {
		Meta            map[string]any `json:"_meta,omitempty"`
		ResultType      string         `json:"resultType,omitempty"`
		ProtocolVersion string         `json:"protocolVersion,omitempty"`
		Content         []jsonContent  `json:"content,omitempty"`
	} `json:"result"`
}

var jsonInfo = map[string]any{
	"io.modelcontextprotocol/serverInfo": map[string]string{"name": "floorjson", "version": "1.0"}}

// jsonToAnswer answers one request; nil if it needs no answer.
func jsonToAnswer(request []byte) ([]byte, error) {
	var call jsonCall
	if err := json.Unmarshal(request, &call); err != nil || call.ID == nil {
		return nil, err
	}
	reply := jsonReply{JSONRPC: "2.0", ID: call.ID}
	if call.Params.Meta.ProtocolVersion == string(Modern) {
		reply.Result.Meta, reply.Result.ResultType = jsonInfo, "complete"
	}
	switch call.Params.Name {
	case TinyTool:
		reply.Result.Content = []jsonContent{{"text", HelloText}}
	case EchoTool:
		var in Arguments
		if err := json.Unmarshal(call.Params.Arguments, &in); err != nil {
			return nil, err
		}
		reply.Result.Content = []jsonContent{{"text", in.Text}}
	default:
		reply.Result.ProtocolVersion = string(Legacy)
	}
	return json.Marshal(&reply)
}

func jsonServe(_ context.Context, r io.ReadCloser, w io.WriteCloser) error {
	defer r.Close()
	defer w.Close()
	in := bufio.NewReader(r)
	for {
		request, err := in.ReadSlice('\n')
		if err != nil {
			return nil
		}
		answer, err := jsonToAnswer(request)
		if err != nil {
			return err
		}
		if answer == nil {
			continue
		}
		if _, err := w.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}

func jsonHandle(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	var answer []byte
	if err == nil {
		answer, err = jsonToAnswer(request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header()["Content-Type"] = jsonType
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(answer))}
	_, _ = w.Write(answer)
}
