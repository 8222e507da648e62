package mcp

import (
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// contentList decodes an array of blocks. If err is nil, the list is not nil.
func (d *decoder) contentList(i int) (list ContentList, end int, err error) {
	return d.blocks(i, d.content)
}

func (d *decoder) blocks(i int, block func(i int) (Content, int, error)) (list ContentList, end int, err error) {
	list = ContentList{}
	start := i
	end, err = d.array(i, func(i int) (int, error) {
		c, end, err := block(i)
		if len(list) == 0 {
			list, d.list = d.list, nil
		} else if len(list) == cap(list) {
			list = slices.Grow(list, more(len(list), i-start, len(d.b)-i))
		}
		list = append(list, c)
		return end, err
	})
	return list, end, err
}

// more returns the number of elements by which to grow the capacity of a list. The list has n elements, which took
// done bytes of text; left bytes remain. more estimates the rest of the list from the average element, and grows the
// list at most by 3*n.
func more(n, done, left int) int {
	return min(3*n, left/max(1, done/n)+n/16+1)
}

// content decodes one block.
func (d *decoder) content(i int) (c Content, end int, err error) {
	if c, end, err := d.simpleText(i); c != nil {
		return c, end, err
	}
	var o object
	kind, err := d.openContent(&o, i)
	if err != nil {
		return nil, i, err
	}
	switch kind {
	case typeToolUse:
		c := new(ToolUseContent)
		end, err = d.toolUse(&o, c)
		return c, end, err
	case typeToolResult:
		c := new(ToolResultContent)
		end, err = d.toolResult(&o, c)
		return c, end, err
	}
	return d.plainContent(&o, i, kind)
}

// resultContent decodes one block of a tool result. Tool uses and tool results are not valid there. They become
// unknown content, which limits nesting.
func (d *decoder) resultContent(i int) (c Content, end int, err error) {
	if c, end, err := d.simpleText(i); c != nil {
		return c, end, err
	}
	var o object
	kind, err := d.openContent(&o, i)
	if err != nil {
		return nil, i, err
	}
	return d.plainContent(&o, i, kind)
}

// plainContent decodes a block of a type that contains no other blocks.
func (d *decoder) plainContent(o *object, i int, kind string) (c Content, end int, err error) {
	switch kind {
	case typeText:
		c := d.newText()
		end, err = d.text(o, c)
		return c, end, err
	case typeImage:
		c := d.images.new()
		end, err = d.media(o, &c.Data, &c.MIMEType, &c.Annotations, &c.Meta)
		return c, end, err
	case typeAudio:
		c := new(AudioContent)
		end, err = d.media(o, &c.Data, &c.MIMEType, &c.Annotations, &c.Meta)
		return c, end, err
	case typeLink:
		c := d.links.new()
		end, err = d.resource(o, (*Resource)(c))
		return c, end, err
	case typeResource:
		c := d.embedded.new()
		end, err = d.embeddedResource(o, c)
		return c, end, err
	}
	i = jsonscan.Space(d.b, i)
	end, err = jsonscan.Value(d.b, i)
	return &UnknownContent{Type: kind, Raw: d.b[i:end:end]}, end, err
}

// simpleText decodes the block at i if it begins in the most frequent way, with a type and a text and nothing between
// them. Such a block needs no walk over its members. simpleText returns nil for any other block.
func (d *decoder) simpleText(i int) (c *TextContent, end int, err error) {
	const usual = `{"type":"text","text":"`
	quoted := i + len(usual)
	if quoted > len(d.b) || string(d.b[i:quoted]) != usual {
		return nil, i, nil
	}
	c = d.newText()
	c.Text, end, err = jsonscan.Text(d.b, quoted-1)
	switch {
	case err != nil:
		return c, end, err
	case end < len(d.b) && d.b[end] == '}':
		return c, end + 1, nil
	}
	o := object{seen: 1<<memberType | 1<<memberText, has: 1<<memberType | 1<<memberText}
	o.Resume(d.b, end)
	end, err = d.text(&o, c)
	return c, end, err
}

// openContent starts the walk over the block at i and returns the block's type. If type is the first member, as in
// nearly every block, the walk continues after it. Otherwise the walk restarts at the first member, which is safe
// because nothing has been overwritten yet.
func (d *decoder) openContent(o *object, i int) (kind string, err error) {
	*o = d.objectAt(i)
	for o.next() {
		if o.member != memberType {
			continue
		}
		if o.First() != '"' {
			o.failType("string")
			break
		}
		kind = knownType(o.Raw())
		if o.seen != 1<<memberType && o.Err() == nil {
			*o = d.objectAt(i)
		}
		return kind, o.Err()
	}
	_, err = o.end(1 << memberType)
	return "", err
}

// knownType returns the value of raw, a JSON string. It does not allocate for types that the protocol defines.
func knownType(raw []byte) string {
	switch string(raw) {
	case `"text"`:
		return typeText
	case `"image"`:
		return typeImage
	case `"audio"`:
		return typeAudio
	case `"resource_link"`:
		return typeLink
	case `"resource"`:
		return typeResource
	}
	s, _ := jsonrpc.Text(raw)
	return s
}

// newText returns a new block. It allocates the first block together with a list for one block, because most results
// have only one block.
func (d *decoder) newText() *TextContent {
	if d.textUsed {
		return d.texts.new()
	}
	first := new(struct {
		text TextContent
		list [1]Content
	})
	d.textUsed, d.list = true, first.list[:0]
	return &first.text
}

func (d *decoder) text(o *object, c *TextContent) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberText:
			c.Text = o.Text()
		case memberAnnotations:
			o.Take(d.annotate(o.At(), &c.Annotations))
		case memberMeta:
			c.Meta = o.object()
		}
	}
	return o.end(1 << memberText)
}

// media decodes an image or audio.
func (d *decoder) media(o *object, data, mimeType *string, annotations **Annotations, meta *Meta) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberData:
			*data = o.Text()
		case memberMIMEType:
			*mimeType = o.Text()
		case memberAnnotations:
			o.Take(d.annotate(o.At(), annotations))
		case memberMeta:
			*meta = o.object()
		}
	}
	return o.end(1<<memberData | 1<<memberMIMEType)
}

func (d *decoder) embeddedResource(o *object, c *EmbeddedResource) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberResource:
			c.Resource = d.contents.new()
			o.Take(d.resourceContents(o.At(), c.Resource))
		case memberAnnotations:
			o.Take(d.annotate(o.At(), &c.Annotations))
		case memberMeta:
			c.Meta = o.object()
		}
	}
	return o.end(1 << memberResource)
}

func (d *decoder) toolUse(o *object, c *ToolUseContent) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberID:
			c.ID = o.name()
		case memberName:
			c.Name = o.name()
		case memberInput:
			c.Input = o.object()
		case memberMeta:
			c.Meta = o.object()
		}
	}
	return o.end(1<<memberID | 1<<memberName | 1<<memberInput)
}

func (d *decoder) toolResult(o *object, c *ToolResultContent) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberToolUseID:
			c.ToolUseID = o.name()
		case memberContent:
			list, end, err := d.blocks(o.At(), d.resultContent)
			c.Content = list
			o.Take(end, err)
		case memberStructuredContent:
			c.StructuredContent = o.Raw()
		case memberIsError:
			c.IsError = o.Bool()
		case memberMeta:
			c.Meta = o.object()
		}
	}
	return o.end(1<<memberToolUseID | 1<<memberContent)
}

func (d *decoder) annotate(i int, a **Annotations) (end int, err error) {
	*a = d.annotations.new()
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberAudience:
			o.Take(d.audience(o.At(), &(*a).Audience))
		case memberPriority:
			(*a).Priority = d.float(&o)
		case memberLastModified:
			(*a).LastModified = o.Text()
		}
	}
	return o.end(0)
}

func (d *decoder) audience(i int, audience *[]Role) (end int, err error) {
	n, end, err := d.count(i)
	switch {
	case err != nil:
		return end, err
	case n == 0:
		*audience = []Role{}
		return end, nil
	}
	roles := d.roles.alloc(n)[:0]
	end, err = d.array(i, func(i int) (int, error) {
		s, end, err := d.listed(i)
		roles = append(roles, Role(s))
		return end, err
	})
	*audience = roles
	return end, err
}
