package inspectview

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/mcp"
)

// A block is a part of a result as the page shows it.
type block struct {
	Kind  string       // text, json, image, audio, link or note
	Label string       // the author, or the kind of content
	Text  string       // of kinds text, link and note
	JSON  *node        // of kind json
	Data  template.URL // of kinds image and audio
	URI   string       // of a link or an embedded resource
}

// The bounds of the parts of a result.
const (
	maxBlocks    = 200
	maxBlockText = 512 << 10 // characters of a text
	maxMedia     = 16 << 20  // characters of base64
	maxNodes     = 5000      // of a JSON value
	maxOpenNodes = 100       // of a JSON value that is shown with all levels
	maxNodeDepth = 40
	maxNodeText  = 10_000  // characters of a string in JSON
	maxTreeText  = 1 << 20 // bytes of all strings of a JSON value
)

// blocksOf returns the blocks of a result: the first maxBlocks, and a note about the others.
func blocksOf(result any) (all []block) {
	parts := 0
	switch r := result.(type) {
	case *mcp.CallToolResult:
		parts = len(r.Content)
		label, compact := "structured content", compacted(r.StructuredContent)
		for _, c := range r.Content[:min(parts, maxBlocks)] {
			if text, ok := c.(*mcp.TextContent); ok && compact != nil && isValue(text.Text) &&
				bytes.Equal(compacted([]byte(text.Text)), compact) {
				label = "structured content, and the same as text"
				continue
			}
			all = append(all, blockOf(c))
		}
		if r.StructuredContent != nil {
			all = append(all, block{Kind: "json", Label: label, JSON: treeOf(r.StructuredContent)})
		}
	case *mcp.ReadResourceResult:
		parts = len(r.Contents)
		for _, c := range r.Contents[:min(parts, maxBlocks)] {
			all = append(all, contentsOf(c))
		}
	case *mcp.GetPromptResult:
		parts = len(r.Messages)
		if r.Description != "" {
			all = append(all, block{Kind: "note", Text: cut(maxText, r.Description)})
		}
		for _, m := range r.Messages[:min(parts, maxBlocks)] {
			b := blockOf(m.Content)
			b.Label = strings.TrimSpace(cut(maxName, string(m.Role)) + " " + b.Label)
			all = append(all, b)
		}
	}
	if more := parts - maxBlocks; more > 0 {
		all = append(all, block{Kind: "note", Text: fmt.Sprintf("%d more parts are not shown; see the frames", more)})
	}
	for i := range all {
		all[i].JSON.name("v" + strconv.Itoa(i))
	}
	return all
}

// name gives each node with members an id, with which its element stays open when the page updates.
func (n *node) name(id string) {
	if n == nil || n.Nodes == nil {
		return
	}
	n.ID = id
	for i := range n.Nodes {
		n.Nodes[i].name(id + "-" + strconv.Itoa(i))
	}
}

// compacted returns JSON without white space; nil for no JSON.
func compacted(raw []byte) []byte {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// isValue reports whether a text looks like an object or an array of JSON.
func isValue(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// blockOf returns the block of one content.
func blockOf(c mcp.Content) block {
	switch c := c.(type) {
	case *mcp.TextContent:
		return textBlock(c.Text)
	case *mcp.ImageContent:
		return media("image", c.MIMEType, c.Data)
	case *mcp.AudioContent:
		return media("audio", c.MIMEType, c.Data)
	case *mcp.ResourceLink:
		return block{Kind: "link", Label: "link", Text: cut(maxName, c.Name), URI: cut(maxText, c.URI)}
	case *mcp.EmbeddedResource:
		b := contentsOf(c.Resource)
		b.Label = "embedded resource"
		return b
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return block{Kind: "note", Text: err.Error()}
	}
	return block{Kind: "json", Label: "unknown content", JSON: treeOf(raw)}
}

// contentsOf returns the block of the contents of a resource.
func contentsOf(c *mcp.ResourceContents) block {
	b := block{Kind: "note", Text: "binary, not shown: " + cut(maxName, c.MIMEType)}
	switch {
	case c.Blob == nil:
		b = textBlock(c.Text)
	case strings.HasPrefix(c.MIMEType, "image/"):
		b = media("image", c.MIMEType, *c.Blob)
	case strings.HasPrefix(c.MIMEType, "audio/"):
		b = media("audio", c.MIMEType, *c.Blob)
	}
	b.URI = cut(maxText, c.URI)
	return b
}

// textBlock returns the block of a text. A text that is a JSON object or array is shown as a tree.
func textBlock(text string) block {
	if isValue(text) {
		if raw := jsontext.Value(strings.TrimSpace(text)); raw.IsValid() {
			return block{Kind: "json", Label: "text, as JSON", JSON: treeOf(raw)}
		}
	}
	return block{Kind: "text", Text: cut(maxBlockText, text)}
}

// mediaTypes are the types of images and sounds that a browser shows without running anything.
var mediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/mpeg", "audio/ogg",
	"audio/webm", "audio/mp4", "audio/flac"}

// media returns the block of an image or a sound, or a note if the page cannot show it.
func media(kind, mimeType, data string) block {
	_, err := base64.StdEncoding.DecodeString(data)
	switch {
	case !slices.Contains(mediaTypes, mimeType):
		return block{Kind: "note", Text: fmt.Sprintf("%s of type %s, which the page does not show; %d characters of base64",
			kind, cut(maxName, mimeType), len(data))}
	case len(data) > maxMedia:
		return block{Kind: "note", Text: fmt.Sprintf("%s with %d characters of base64, too large for the page", kind, len(data))}
	case err != nil:
		return block{Kind: "note", Text: kind + " that is not base64: " + cut(maxName, err.Error())}
	}
	return block{Kind: kind, Label: mimeType, Data: template.URL("data:" + mimeType + ";base64," + data)}
}

// A node is a value of JSON as a tree.
type node struct {
	ID    string // of the element on the page; empty for none
	Key   string // name of a member, or index of an element; empty at the root
	Kind  string // object, array, string or other
	Text  string // of a string or another value
	Nodes []node
	Open  bool // shown with its members
	More  int  // members that are not shown
}

// treeOf returns a value as a tree.
func treeOf(raw []byte) *node {
	t := &tree{text: maxTreeText}
	n := t.node("", raw, 0)
	if t.nodes <= maxOpenNodes {
		n.open()
	}
	return &n
}

// open shows all members at all levels.
func (n *node) open() {
	n.Open = true
	for i := range n.Nodes {
		n.Nodes[i].open()
	}
}

// tree is the work on one value.
type tree struct {
	nodes int // so far
	text  int // remaining bytes of strings
}

// take returns as much of a text as there is room for.
func (t *tree) take(raw []byte) string {
	n := maxNodeText
	if t.text <= 0 {
		n = maxName
	}
	s := cut(n, string(raw[:min(len(raw), 4*n)]))
	t.text -= len(s)
	return s
}

func (t *tree) node(key string, raw []byte, depth int) node {
	t.nodes++
	n := node{Key: cut(maxName, key), Kind: "other", Open: depth < 3}
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || depth >= maxNodeDepth {
		var text string
		if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			n.Kind, raw = "string", []byte(text)
		}
		n.Text = t.take(raw)
		return n
	}
	switch raw[0] {
	case '{', '[':
		n.Kind = "object"
		if raw[0] == '[' {
			n.Kind = "array"
		}
		d := jsontext.NewDecoder(bytes.NewReader(raw))
		if _, err := d.ReadToken(); err != nil {
			return n
		}
		for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
			name := fmt.Sprint(i)
			if n.Kind == "object" {
				t, err := d.ReadToken()
				if err != nil {
					return n
				}
				name = t.String()
			}
			value, err := d.ReadValue()
			if err != nil {
				return n
			}
			if t.nodes >= maxNodes {
				n.More++
				continue
			}
			n.Nodes = append(n.Nodes, t.node(name, value, depth+1))
		}
	}
	return n
}

// indented returns JSON with line breaks; the text itself if it is not JSON.
func indented(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// sorted returns the entries of m in the order of their keys.
func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
