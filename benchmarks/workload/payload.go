package workload

import (
	"bytes"
	"fmt"
	"strings"
)

// Shape is the shape of a result.
type Shape string

// The shapes. All but Tools and Described are results of tools/call.
const (
	Text       Shape = "text"       // one text with a line break every 80 bytes, as in a file or a log
	Escaped    Shape = "escaped"    // one text with an escape every ten bytes, some of them \u
	Structured Shape = "structured" // records as structured content, and one short text
	Image      Shape = "image"      // one image, as base64
	Items      Shape = "items"      // many short texts, every tenth of them annotated
	Tools      Shape = "tools"      // a page of tools/list; its size is their number
	Described  Shape = "described"  // the page that has [TinyTool], with the schema of Structured; its size is one
	Mixed      Shape = "mixed"      // texts as real tools return them, one after the other; see [MixedSize]
	Busy       Shape = "busy"       // as Mixed, and one text of 1 MiB in 200
)

// Shapes are the shapes of tools/call, each of one size.
var Shapes = []Shape{Text, Escaped, Structured, Image, Items}

// Sizes by the names they have in benchmarks.
const (
	Tiny  = 200
	KiB   = 1 << 10
	MiB   = 1 << 20
	Limit = 16<<20 - 1 // just below the limit of all libraries
)

// SizeName returns the name of a size in benchmarks.
func SizeName(size int) string {
	switch {
	case size == Limit:
		return "16MiB-1"
	case size >= MiB:
		return fmt.Sprintf("%dMiB", size/MiB)
	case size >= KiB:
		return fmt.Sprintf("%dKiB", size/KiB)
	}
	return fmt.Sprintf("%dB", size)
}

// Payload is an answer that is complete except for its id.
type Payload struct {
	Frame   []byte    // one line, without its newline; the id is 8 digits wide
	Size    int       // size of the frame, for callers that do not keep the frame
	Content int       // in bytes, see Client.Call
	Tools   int       // number of tools of a page
	Mix     []Payload // the answers in turn, if they differ
}

// The beginning of every answer; the id replaces the spaces.
const (
	frameHead = `{"jsonrpc":"2.0","id":`
	idWidth   = 8
	idAt      = len(frameHead)
	frameTail = `,"result":`
	resultAt  = idAt + idWidth + len(frameTail)
)

// NewPayload returns an answer with a shape and a size: in bytes of the frame without newline, or for Tools the number
// of tools. The same arguments always give the same bytes. It panics if the size is too small for the shape; 400 bytes
// are always enough.
func NewPayload(e Era, s Shape, size int) Payload {
	p := Payload{}
	b := make([]byte, 0, max(size+16, 1000))
	b = append(b, frameHead+"       1"+frameTail+"{"...)
	if e == Modern {
		b = append(b, `"resultType":"complete",`...)
	}
	switch s {
	case Text:
		b, p.Content = fill(b, `"content":[{"type":"text","text":"`, `"}]}}`, size, line)
	case Escaped:
		b, p.Content = fill(b, `"content":[{"type":"text","text":"`, `"}]}}`, size, escapes)
	case Image:
		b, p.Content = image(b, size)
	case Items:
		b, p.Content = items(b, size)
	case Structured:
		b, p.Content = structured(b, size)
	case Tools:
		b, p.Tools = toolsPage(b, size), size
	case Described:
		b, p.Tools = append(b, `"tools":[{"name":"`+TinyTool+`","inputSchema":{"type":"object"},"outputSchema":`+
			recordsSchema+`}]}}`...), size
	}
	if s != Tools && s != Described && len(b) != size {
		panic(fmt.Sprintf("workload: no %s of %d bytes, the nearest has %d", s, size, len(b)))
	}
	p.Frame, p.Size = b, len(b)
	return p
}

// Result returns the result in the answer, from brace to brace. It is a part of the frame.
func (p Payload) Result() []byte { return p.Frame[resultAt : len(p.Frame)-1] }

// unit is a piece of a JSON string to repeat: its encoding and its text.
type unit struct{ raw, text string }

const words = "The quick brown fox jumps over the lazy dog; then it rests a while in the sun. "

var (
	line    = unit{words + `\n`, words + "\n"}
	escapes = unit{`abcdefgh\"abcdefgh\\abcdefgh\tabcd\u00e9`, "abcdefgh\"abcdefgh\\abcdefgh\tabcd\u00e9"}
)

// fill appends head, repetitions of the unit, and tail, until b has size bytes. It returns the length of the decoded
// text.
func fill(b []byte, head, tail string, size int, u unit) ([]byte, int) {
	b = append(b, head...)
	room := max(0, size-len(b)-len(tail))
	whole, rest := room/len(u.raw), room%len(u.raw)
	b = append(b, strings.Repeat(u.raw, whole)...)
	b = append(b, strings.Repeat("x", rest)...)
	return append(b, tail...), whole*len(u.text) + rest
}

// image appends an image. The length of base64 is a multiple of four; spaces after the content fill the rest.
func image(b []byte, size int) ([]byte, int) {
	const head, tail = `"content":[{"type":"image","data":"`, `","mimeType":"image/png"}]`
	room := max(0, size-len(b)-len(head)-len(tail)-2)
	data := room / 4 * 4
	b = append(b, head...)
	b = append(b, strings.Repeat("iVBORw0KGgoAAAAN", data/16+1)[:data]...)
	b = append(b, tail...)
	b = append(b, strings.Repeat(" ", room-data)...)
	return append(b, "}}"...), data
}

// items appends texts of about a hundred bytes; the last text fills the rest.
func items(b []byte, size int) (_ []byte, content int) {
	const head, tail, most = `{"type":"text","text":"`, `"}]}}`, 250
	b = append(b, `"content":[`...)
	for i := 0; len(b)+most+len(head)+len(tail) < size; i++ {
		text := fmt.Sprintf("item %06d: ", i)
		b = append(b, head...)
		b = append(b, text...)
		b = append(b, `the quick brown fox jumps over the \"lazy\" dog\n"`...)
		content += len(text) + len("the quick brown fox jumps over the \"lazy\" dog\n")
		if i%10 == 0 {
			b = append(b, `,"annotations":{"audience":["user"],"priority":0.5}`...)
		}
		b = append(b, "},"...)
	}
	b, n := fill(b, head, tail, size, line)
	return b, content + n
}

// structured appends records; a note at the end fills the rest.
func structured(b []byte, size int) ([]byte, int) {
	const tail, most = `"}}}`, 250
	b = append(b, `"content":[{"type":"text","text":"ok"}],"structuredContent":{"records":[`...)
	for i := 0; len(b)+most+len(tail) < size; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"name":"record %d","tags":["go","mcp"],"score":%d.%d,"active":%t,"parent":null,`+
			`"at":{"x":%d,"y":-1}}`,
			i, i, i%100, i%7, i%3 == 0, i*3)
	}
	b, _ = fill(b, `],"note":"`, tail, size, line)
	return b, len("ok")
}

// toolsPage appends n tools of about 700 bytes each.
func toolsPage(b []byte, n int) []byte {
	b = append(b, `"tools":[`...)
	for i := range n {
		b = fmt.Appendf(b, `{"name":"tool_%d","title":"Tool number %d","description":"%s","inputSchema":%s,`+
			`"annotations":{"readOnlyHint":true,"openWorldHint":false}},`,
			i, i, strings.Repeat("Does something useful with its input. ", 5), toolSchema)
	}
	return append(bytes.TrimSuffix(b, []byte(",")), "]}}"...)
}

const toolSchema = `{"type":"object","properties":{"path":{"type":"string","description":"where to look"},` +
	`"depth":{"type":"integer",` +
	`"minimum":0,"maximum":64},"filter":{"type":"array","items":{"type":"string"}}},"required":["path"],` +
	`"additionalProperties":false}`

// recordsSchema is the output schema of Structured.
const recordsSchema = `{"type":"object","required":["records"],"properties":{"note":{"type":"string"},"records":{` +
	`"type":"array","items":{"type":"object","required":["id","name"],"properties":{` +
	`"id":{"type":"integer","minimum":0},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},` +
	`"score":{"type":"number"},"active":{"type":"boolean"},"parent":{"type":["integer","null"]},` +
	`"at":{"type":"object","required":["x","y"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}}}}}}`
