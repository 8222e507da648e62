package mcp

import "github.com/mcpotel/mcpotel/internal/jsonscan"

// appendContentList appends the blocks as an array.
func appendContentList(dst []byte, list []Content) ([]byte, error) {
	n := len(dst)
	dst = append(dst, '[')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendContent(dst, c); err != nil {
			return dst[:n], withinElement(i, err)
		}
	}
	return append(dst, ']'), nil
}

func appendContent(dst []byte, c Content) ([]byte, error) {
	if c == nil {
		return dst, errNull
	}
	return c.appendJSON(dst)
}

func openContent(dst []byte, kind string) objectWriter {
	w := openObject(dst)
	w.text("type", kind)
	return w
}

// closeContent ends a block with the members that most blocks have.
func (w *objectWriter) closeContent(a *Annotations, meta Meta) ([]byte, error) {
	if a != nil {
		w.value("annotations", a)
	}
	w.object("_meta", meta)
	return w.close()
}

func (c *TextContent) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeText)
	w.text("text", c.Text)
	return w.closeContent(c.Annotations, c.Meta)
}

func (c *ImageContent) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeImage)
	w.text("data", c.Data)
	w.text("mimeType", c.MIMEType)
	return w.closeContent(c.Annotations, c.Meta)
}

func (c *AudioContent) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeAudio)
	w.text("data", c.Data)
	w.text("mimeType", c.MIMEType)
	return w.closeContent(c.Annotations, c.Meta)
}

func (c *EmbeddedResource) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeResource)
	w.add("resource", func(dst []byte) ([]byte, error) {
		if c.Resource == nil {
			return dst, errNull
		}
		return c.Resource.appendJSON(dst)
	})
	return w.closeContent(c.Annotations, c.Meta)
}

func (c *ResourceContents) appendJSON(dst []byte) ([]byte, error) {
	w := openObject(dst)
	w.object("_meta", c.Meta)
	w.text("uri", c.URI)
	if c.MIMEType != "" {
		w.text("mimeType", c.MIMEType)
	}
	if c.Blob == nil || c.Text != "" {
		w.text("text", c.Text)
	}
	if c.Blob != nil {
		w.text("blob", *c.Blob)
	}
	return w.close()
}

// linkJSON is the JSON form of a [ResourceLink].
type linkJSON struct {
	Type string `json:"type"`
	*Resource
}

func (c *ResourceLink) appendJSON(dst []byte) ([]byte, error) {
	return appendValue(dst, linkJSON{typeLink, (*Resource)(c)})
}

func (c *ToolUseContent) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeToolUse)
	w.text("id", c.ID)
	w.text("name", c.Name)
	w.add("input", func(dst []byte) ([]byte, error) { return appendObject(dst, c.Input) })
	w.object("_meta", c.Meta)
	return w.close()
}

func (c *ToolResultContent) appendJSON(dst []byte) ([]byte, error) {
	w := openContent(dst, typeToolResult)
	w.text("toolUseId", c.ToolUseID)
	w.add("content", func(dst []byte) ([]byte, error) { return appendContentList(dst, c.Content) })
	w.raw("structuredContent", c.StructuredContent)
	if c.IsError {
		w.flag("isError")
	}
	w.object("_meta", c.Meta)
	return w.close()
}

func (c *UnknownContent) appendJSON(dst []byte) ([]byte, error) {
	return jsonscan.AppendLine(dst, c.Raw)
}
