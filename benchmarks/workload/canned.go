package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Canned describes the answers of a canned server: to tools/call a result of this shape and size, and to tools/list one
// tool, which for Structured is Described. If the shape is Tools, the size is the number of tools in tools/list, and
// tools/call returns a tiny text.
type Canned struct {
	Era   Era
	Shape Shape
	Size  int
}

// responder answers requests with prepared bytes. One goroutine owns it, because the answers are overwritten.
type responder struct {
	calls                [][]byte // answers to tools/call, whole lines with newline, used in turn
	turn                 int
	list, hello, refusal []byte // lines for other answers
	helloTo              string // the method that hello answers
	request              []byte // buffer for a request
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

// payloads returns the answers to tools/call and to tools/list.
func (c Canned) payloads() (call, list Payload) {
	switch c.Shape {
	case Tools:
		return NewPayload(c.Era, Text, Tiny), NewPayload(c.Era, Tools, c.Size)
	case Structured:
		return NewPayload(c.Era, c.Shape, c.Size), NewPayload(c.Era, Described, 1)
	case Mixed:
		return mixed(c.Era), NewPayload(c.Era, Tools, 1)
	case Busy:
		return busy(c.Era), NewPayload(c.Era, Tools, 1)
	}
	return NewPayload(c.Era, c.Shape, c.Size), NewPayload(c.Era, Tools, 1)
}

// sizes returns the payloads without their frames: live frames would delay the garbage collector.
func (c Canned) sizes() (call, list Payload) {
	call, list = c.payloads()
	call.Frame, list.Frame = nil, nil
	for i := range call.Mix {
		call.Mix[i].Frame = nil
	}
	return call, list
}

func asLine(frame []byte) []byte { return append(bytes.Clone(frame), '\n') }

// answer returns the line that answers a request, or nil if the request needs no answer. The line is valid until the
// next call.
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

// identified writes the id into an answer, padded with spaces. A long id makes the answer longer.
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

// peek returns the raw id and method of a message; nil for a missing one.
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

// String and parseCanned pass a Canned to a child process.
func (c Canned) String() string {
	return string(c.Era) + " " + string(c.Shape) + " " + strconv.Itoa(c.Size)
}

func parseCanned(s string) (c Canned, err error) {
	_, err = fmt.Sscan(s, &c.Era, &c.Shape, &c.Size)
	return c, err
}
