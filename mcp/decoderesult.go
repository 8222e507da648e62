package mcp

// base decodes the current member if it is a member of all results.
func (r *Result) base(o *object) {
	switch o.member {
	case memberMeta:
		r.Meta = o.object()
	case memberResultType:
		r.ResultType = o.resultType()
	}
}

// requiredMembers returns required for a final result. For any other type of result, it returns 0.
func (r *Result) requiredMembers(required uint64) uint64 {
	if r.ResultType != "" && r.ResultType != ResultComplete {
		return 0
	}
	return required
}

// caching decodes the current member if it is part of a cache hint.
func (d *decoder) caching(o *object, h *CacheHint) {
	switch o.member {
	case memberTTLMs:
		h.TTLMs = d.hint(o)
	case memberCacheScope:
		h.CacheScope = CacheScope(o.Text())
	}
}

func (d *decoder) callToolResult(i int, r *CallToolResult) (end int, err error) {
	*r = CallToolResult{}
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberContent:
			list, end, err := d.contentList(o.At())
			r.Content = list
			o.Take(end, err)
		case memberStructuredContent:
			r.StructuredContent = o.Raw()
		case memberIsError:
			r.IsError = o.Bool()
		default:
			r.base(&o)
		}
	}
	return o.end(r.requiredMembers(1 << memberContent))
}

func (d *decoder) getPromptResult(i int, r *GetPromptResult) (end int, err error) {
	*r = GetPromptResult{}
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberDescription:
			r.Description = o.Text()
		case memberMessages:
			r.Messages = []*PromptMessage{}
			o.Take(d.array(o.At(), func(i int) (int, error) {
				m := d.messages.new()
				r.Messages = append(r.Messages, m)
				return d.promptMessage(i, m)
			}))
		default:
			r.base(&o)
		}
	}
	return o.end(r.requiredMembers(1 << memberMessages))
}

func (d *decoder) promptMessage(i int, m *PromptMessage) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberRole:
			m.Role = Role(o.name())
		case memberContent:
			c, end, err := d.content(o.At())
			m.Content = c
			o.Take(end, err)
		}
	}
	return o.end(1<<memberRole | 1<<memberContent)
}

func (d *decoder) readResourceResult(i int, r *ReadResourceResult) (end int, err error) {
	*r = ReadResourceResult{}
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberContents:
			r.Contents = []*ResourceContents{}
			o.Take(d.array(o.At(), func(i int) (int, error) {
				c := d.contents.new()
				r.Contents = append(r.Contents, c)
				return d.resourceContents(i, c)
			}))
		default:
			r.base(&o)
			d.caching(&o, &r.CacheHint)
		}
	}
	return o.end(r.requiredMembers(1 << memberContents))
}

func (d *decoder) resourceContents(i int, c *ResourceContents) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberURI:
			c.URI = o.name()
		case memberMIMEType:
			c.MIMEType = o.Text()
		case memberText:
			c.Text = o.Text()
		case memberBlob:
			blob := o.Text()
			c.Blob = &blob
		case memberMeta:
			c.Meta = o.object()
		}
	}
	required := uint64(1<<memberURI | 1<<memberText)
	if c.Blob != nil {
		required = 1 << memberURI
	}
	return o.end(required)
}

func (d *decoder) resource(o *object, r *Resource) (end int, err error) {
	for o.next() {
		switch o.member {
		case memberURI:
			r.URI = o.name()
		case memberName:
			r.Name = o.name()
		case memberTitle:
			r.Title = o.Text()
		case memberDescription:
			r.Description = o.Text()
		case memberMIMEType:
			r.MIMEType = o.Text()
		case memberAnnotations:
			o.Take(d.annotate(o.At(), &r.Annotations))
		case memberSize:
			r.Size = d.hint(o)
		case memberIcons:
			o.Take(d.icons(o.At(), &r.Icons))
		case memberMeta:
			r.Meta = o.object()
		}
	}
	return o.end(1<<memberURI | 1<<memberName)
}
