package recordingdiff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
)

// pair compares two paired exchanges.
func (c *comparison) pair(number int, x, y *exchange) {
	add := func(kind, text string, where []recording.Difference) {
		one := x.change(kind, number, text)
		one.A, one.B, one.Where = x.Seq, y.Seq, where
		c.report.add(one)
	}
	if c.content {
		if d := c.contents(x.Content, y.Content); d != nil {
			add(Params, "the params differ", d)
		}
	}
	if a, b := outcome(x.answer), outcome(y.answer); a != b {
		add(Outcome, fmt.Sprintf("ended with %s, not %s", b, a), nil)
		return
	}
	switch {
	case x.answer == nil || x.answer.Kind == recording.Cancelled || working(x) || working(y):
	case !c.content:
		if a, b := x.answer.Bytes, y.answer.Bytes; max(a, b) > 2*min(a, b) && max(a, b)-min(a, b) >= 256 {
			add(Size, fmt.Sprintf("has %s, not %s", unit.Size(int64(b)), unit.Size(int64(a))), nil)
		}
	default:
		d := c.contents(x.answer.Content, y.answer.Content)
		if d == nil {
			return
		}
		if text := toolsChanged(x, y); text != "" {
			add(Tools, text, nil)
			return
		}
		add(Content, "has another "+string(x.answer.Kind), d)
	}
}

// working reports whether an exchange is a tasks/get request for a running task. Its result depends on the time of
// the request.
func working(x *exchange) bool {
	var status string
	_, _ = mcp.Object(x.answer.Content).Decode("status", &status) // ignores a status of another type
	return x.Method == mcp.MethodGetTask && status == "working"
}

// outcome describes the kind of a request's outcome.
func outcome(answer *recording.Entry) string {
	switch {
	case answer == nil:
		return "no answer"
	case answer.Kind == recording.Error:
		return fmt.Sprintf("the error %d", answer.Code)
	case answer.Kind == recording.Cancelled:
		return "a cancellation"
	case answer.ToolError:
		return "an error of the tool"
	}
	return "a result"
}

// varying lists members of params and results whose values differ between runs: opaque values that the server
// chooses, and times of a task. The keys of input requests differ as well: see normalizeKeys.
var varying = []string{"cursor", "nextCursor", "taskId", "requestState", "createdAt", "lastUpdatedAt"}

// contents returns the differences between two params, results or errors.
func (c *comparison) contents(a, b json.RawMessage) []recording.Difference {
	wild := cmp.Or(c.a.Redacted, c.b.Redacted)
	x, y := stable(a), stable(b)
	normalizeKeys(x, y)
	return recording.CompareBut(x, y, wild, maxDifferences, c.ignored)
}

// keyed lists members whose keys the server chooses.
var keyed = []string{"inputRequests", "inputResponses"}

// normalizeKeys replaces input requests and input responses by lists sorted by text if their keys differ: the server
// chooses the keys freely.
func normalizeKeys(a, b recording.Value) {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if !okX || !okY {
		return
	}
	for _, name := range keyed {
		p, okP := x[name].(map[string]any)
		q, okQ := y[name].(map[string]any)
		if !okP || !okQ {
			continue
		}
		keys := slices.Equal(slices.Sorted(maps.Keys(p)), slices.Sorted(maps.Keys(q)))
		first, second := byText(p), byText(q)
		if !keys || recording.Text(first) == recording.Text(second) {
			x[name], y[name] = first, second
		}
	}
}

// byText returns the values of an object, sorted by their text.
func byText(o map[string]any) []any {
	texts := map[string]any{}
	var order []string
	for _, v := range o {
		text := recording.Text(v)
		texts[text], order = v, append(order, text)
	}
	slices.Sort(order)
	all := make([]any, len(order))
	for i, text := range order {
		all[i] = texts[text]
	}
	return all
}

// stable decodes a content without varying members.
func stable(raw json.RawMessage) recording.Value {
	v := recording.ValueOf(raw)
	if o, ok := v.(map[string]any); ok {
		for _, name := range varying {
			delete(o, name)
			if task, ok := o["task"].(map[string]any); ok {
				delete(task, name)
			}
		}
	}
	return v
}

// toolsChanged describes the differences between two lists of tools. It returns the empty string if the answers are
// not tool lists, or do not differ.
func toolsChanged(x, y *exchange) string {
	if x.Method != mcp.MethodListTools || x.answer.Kind != recording.Result {
		return ""
	}
	var a, b mcp.ListToolsResult
	if _, err := mcp.Decode(x.answer.Content, &a); err != nil {
		return ""
	}
	if _, err := mcp.Decode(y.answer.Content, &b); err != nil {
		return ""
	}
	var all []string
	for _, change := range drift.Compare(drift.ToolsOf(a.Tools), drift.ToolsOf(b.Tools)) {
		var text strings.Builder
		fmt.Fprintf(&text, "%s %s", change.Tool, change.Kind)
		for _, part := range change.Parts {
			text.WriteString(" " + string(part))
		}
		all = append(all, text.String())
	}
	return strings.Join(all, ", ")
}
