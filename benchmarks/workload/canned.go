package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Canned says what a canned server answers: a tools/call with a result of this shape and size, a tools/list with one
// tool, which for Structured is Described; or, if the shape is Tools, a tools/list with so many and a tools/call with a
// tiny text.
type Canned struct {
	Era   Era
	Shape Shape
	Size  int
}

// responder answers requests with bytes that are ready. It is owned by one goroutine, for the answers are written over.
type responder struct {
	calls                [][]byte // whole lines, newline included, in turn
	turn                 int
	list, hello, refusal []byte // such lines
	helloTo              string // the method that hello answers
	request              []byte // room to read one
}

func newResponder(c Canned) *responder {
	call, list := c.payloads()
	k := &responder{list: asLine(list.Frame), helloTo: "initialize"}
	if call.Mix == nil {
		call.Mix = []Payload{call}
	}
	for _, p := range call.Mix {
		k.calls = append(k.calls, asLine(p.Frame))
	}
	hello := `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"canned","version":"1"}}`
	if c.Era == Modern {
		k.helloTo = "server/discover"
		hello = `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"canned","version":"1"}},"resultType":"complete",` +
			`"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	}
	k.hello = asLine([]byte(frameHead + "       1" + frameTail + hello + "}"))
	k.refusal = asLine([]byte(frameHead + `       1,"error":{"code":-32601,"message":"method not found"}}`))
	return k
}

// payloads returns what is answered to tools/call and to tools/list.
func (c Canned) payloads() (call, list Payload) {
	switch c.Shape {
	case Tools:
		return NewPayload(c.Era, Text, Tiny), NewPayload(c.Era, Tools, c.Size)
	case Structured:
		return NewPayload(c.Era, c.Shape, c.Size), NewPayload(c.Era, Described, 1)
	case Mixed:
		return mixed(c.Era), NewPayload(c.Era, Tools, 1)
	}
	return NewPayload(c.Era, c.Shape, c.Size), NewPayload(c.Era, Tools, 1)
}

// sizes returns the same without the frames: a live frame would make the collector patient.
func (c Canned) sizes() (call, list Payload) {
	call, list = c.payloads()
	call.Frame, list.Frame = nil, nil
	for i := range call.Mix {
		call.Mix[i].Frame = nil
	}
	return call, list
}

func asLine(frame []byte) []byte { return append(bytes.Clone(frame), '\n') }

// answer returns the line that answers a request, nil for what wants no answer. It is valid until the next call.
func (k *responder) answer(request []byte) []byte {
	id, method := peek(request)
	if id == nil || method == nil {
		return nil
	}
	switch string(method) {
	case "tools/call":
		k.turn = (k.turn + 1) % len(k.calls)
		return identified(k.calls[k.turn], id)
	case "tools/list":
		return identified(k.list, id)
	case "ping":
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
	case k.helloTo:
		return identified(k.hello, id)
	}
	return identified(k.refusal, id)
}

// identified writes the id into an answer, blanks behind it. An id that is too long makes the answer longer.
func identified(answer, id []byte) []byte {
	if len(id) > idWidth {
		return bytes.Join([][]byte{answer[:idAt], id, answer[idAt+idWidth:]}, nil)
	}
	n := copy(answer[idAt:], id)
	for ; n < idWidth; n++ {
		answer[idAt+n] = ' '
	}
	return answer
}

// peek returns id and method of a message as they stand there, nil for what it does not have.
func peek(message []byte) (id, method []byte) {
	if rest, ok := bytes.CutPrefix(message, []byte(frameHead)); ok {
		if i := bytes.IndexByte(rest, ','); i > 0 {
			if after, ok := bytes.CutPrefix(rest[i:], []byte(`,"method":"`)); ok {
				if j := bytes.IndexByte(after, '"'); j > 0 {
					return rest[:i], after[:j]
				}
			}
		}
	}
	if bytes.HasPrefix(message, []byte(`{"jsonrpc":"2.0","method":"notifications/`)) {
		return nil, nil
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, nil
	}
	if m.Method != "" {
		method = []byte(m.Method)
	}
	return m.ID, method
}

// String and parseCanned are how a child is told.
func (c Canned) String() string {
	return string(c.Era) + " " + string(c.Shape) + " " + strconv.Itoa(c.Size)
}

func parseCanned(s string) (c Canned, err error) {
	_, err = fmt.Sscan(s, &c.Era, &c.Shape, &c.Size)
	return c, err
}
