package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func (d *decoder) listToolsResult(i int, r *ListToolsResult) (end int, err error) {
	*r = ListToolsResult{}
	whole := d.b
	// Decoding removes escapes in place. To skip a tool that fails to decode, whole keeps an unchanged copy.
	if bytes.IndexByte(d.b, '\\') >= 0 {
		whole = bytes.Clone(d.b)
	}
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberTools:
			r.Tools = []*Tool{}
			o.Take(d.array(o.At(), func(i int) (int, error) {
				n := len(r.Tools) + len(r.Unreadable)
				if n >= maxObjects/2 { // each tool also has a schema
					return i, errTooMany
				}
				t := d.tools.new()
				end, err := d.tool(i, t)
				switch {
				case err == nil:
					r.Tools = append(r.Tools, t)
					return end, nil
				case isSyntax(err) || errors.Is(err, errTooMany):
					return end, err
				}
				r.Unreadable = append(r.Unreadable, &UnreadableTool{t.Name, within("tools", withinElement(n, err))})
				return jsonscan.Value(whole, i)
			}))
		case memberNextCursor:
			r.NextCursor = new(o.Text())
		default:
			r.base(&o)
			d.caching(&o, &r.CacheHint)
		}
	}
	return o.end(r.requiredMembers(1 << memberTools))
}

func (d *decoder) tool(i int, t *Tool) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberName:
			t.Name = o.name()
		case memberTitle:
			t.Title = o.Text()
		case memberDescription:
			t.Description = o.Text()
		case memberIcons:
			o.Take(d.icons(o.At(), &t.Icons))
		case memberInputSchema:
			t.InputSchema = o.object()
		case memberOutputSchema:
			t.OutputSchema = o.object()
		case memberAnnotations:
			t.Annotations = d.hints.new()
			o.Take(d.toolAnnotations(o.At(), t.Annotations))
		case memberExecution:
			t.Execution = new(ToolExecution)
			o.Take(d.toolExecution(o.At(), t.Execution))
		case memberMeta:
			t.Meta = o.object()
		}
	}
	return o.end(1<<memberName | 1<<memberInputSchema)
}

func (d *decoder) toolAnnotations(i int, a *ToolAnnotations) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberTitle:
			a.Title = o.Text()
		case memberReadOnlyHint:
			a.ReadOnlyHint = d.bool(&o)
		case memberDestructiveHint:
			a.DestructiveHint = d.bool(&o)
		case memberIdempotentHint:
			a.IdempotentHint = d.bool(&o)
		case memberOpenWorldHint:
			a.OpenWorldHint = d.bool(&o)
		}
	}
	return o.end(0)
}

func (d *decoder) toolExecution(i int, e *ToolExecution) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		if o.member == memberTaskSupport {
			e.TaskSupport = TaskSupport(o.Text())
		}
	}
	return o.end(0)
}

func (d *decoder) icons(i int, icons *[]Icon) (end int, err error) {
	*icons = []Icon{}
	return d.array(i, func(i int) (int, error) {
		var icon Icon
		end, err := d.icon(i, &icon)
		*icons = append(*icons, icon)
		return end, err
	})
}

func (d *decoder) icon(i int, icon *Icon) (end int, err error) {
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberSrc:
			icon.Src = o.name()
		case memberMIMEType:
			icon.MIMEType = o.Text()
		case memberSizes:
			o.Take(d.sizes(o.At(), &icon.Sizes))
		case memberTheme:
			icon.Theme = IconTheme(o.Text())
		}
	}
	return o.end(1 << memberSrc)
}

func (d *decoder) sizes(i int, sizes *[]string) (end int, err error) {
	n, end, err := d.count(i)
	if err != nil {
		return end, err
	}
	*sizes = make([]string, 0, n)
	return d.array(i, func(i int) (int, error) {
		s, end, err := d.listed(i)
		*sizes = append(*sizes, s)
		return end, err
	})
}

func (d *decoder) callToolParams(i int, p *CallToolParams) (end int, err error) {
	*p = CallToolParams{}
	o := d.objectAt(i)
	for o.next() {
		switch o.member {
		case memberMeta:
			p.Meta = o.object()
		case memberName:
			p.Name = o.name()
		case memberArguments:
			p.Arguments = json.RawMessage(o.object())
		case memberTask:
			p.Task = new(TaskMetadata)
			o.Take(d.value(o.At(), p.Task))
		case memberInputResponses:
			o.Take(d.value(o.At(), &p.InputResponses))
		case memberRequestState:
			state := o.Text()
			p.RequestState = &state
		}
	}
	return o.end(1 << memberName)
}
