package inspectview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The bounds of the operations that a Session keeps. The oldest are dropped first, and an operation that has not ended
// is never dropped.
const (
	maxOperations  = 200
	maxInFlight    = 50
	maxResultRoom  = int64(64 << 20) // bytes of all results, as JSON
	maxProgressLog = 100             // progress notifications of one operation
)

// The kinds of operations, as in the path of their pages.
const (
	kindTool     = "tool"
	kindResource = "resource"
	kindPrompt   = "prompt"
)

// An operation is a request that a person made on the page. Session.mu guards the fields that change.
type operation struct {
	ID        int
	Kind      string
	Name      string          // name of the tool or prompt, URI of the resource
	Arguments json.RawMessage // arguments of a tool or a prompt; nil for a resource
	Started   time.Time
	TraceID   string
	output    json.RawMessage // the output schema of a tool; nil for none
	cancel    context.CancelCauseFunc

	Ended    time.Time // zero until the operation has ended
	Progress []progress
	Task     *mcp.Task // status of the task that the operation became, nil for none
	Blocks   []block   // the result; nil without a result
	Wrong    bool      // the result is an error of the tool
	Size     int64     // size of the result as JSON, in bytes
	Dropped  bool      // the result is no longer kept
	Checked  string    // the result of the check against the output schema; empty without one
	Valid    bool      // the structured content matches the output schema
	Err      string    // empty for none
}

// progress is one progress notification.
type progress struct {
	At      time.Duration // time since the start of the operation
	Text    string
	Percent float64 // 0 to 100, negative if unknown
}

// errCancelled is the cause for an operation that the person cancels.
var errCancelled = errors.New("cancelled on the page")

var errTooMany = fmt.Errorf("%d operations are in flight; cancel one, or wait for its end", maxInFlight)

// start starts an operation. output is the output schema of a tool, nil for none. start returns a copy of the
// operation.
func (s *Session) start(kind, name string, arguments, output json.RawMessage) (operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inFlight := 0
	for _, o := range s.operations {
		if o.Ended.IsZero() {
			inFlight++
		}
	}
	if inFlight >= maxInFlight {
		return operation{}, errTooMany
	}
	if s.running.Err() != nil {
		return operation{}, errClosed
	}
	s.started++
	ctx, cancel := context.WithCancelCause(s.running)
	ctx, span := s.options.Start(ctx, "mcpotel inspect "+kind+" "+cut(maxName, name))
	o := &operation{ID: s.started, Kind: kind, Name: name, Arguments: arguments, output: output, Started: time.Now(),
		TraceID: span.SpanContext().TraceID().String(), cancel: cancel}
	s.operations = append(s.operations, o)
	s.trim()
	client := s.client
	s.operating.Go(func() {
		defer cancel(nil)
		s.run(ctx, client, o, span)
	})
	return *o, nil
}

// run runs an operation to its end.
func (s *Session) run(ctx context.Context, client *mcpclient.Client, o *operation, span trace.Span) {
	defer span.End()
	options := []mcpclient.CallOption{
		mcpclient.WaitForReady(),
		mcpclient.WithProgress(func(p *mcp.ProgressParams) { s.progressed(o, p) }),
		mcpclient.WithTaskStatus(func(t mcp.Task) {
			s.mu.Lock()
			defer s.mu.Unlock()
			t.StatusMessage = cut(maxText, t.StatusMessage)
			o.Task = &t
		}),
	}
	var result any
	var err error
	switch o.Kind {
	case kindTool:
		var r *mcp.CallToolResult
		if r, err = client.CallTool(ctx, o.Name, o.Arguments, options...); err == nil {
			result = r
		}
	case kindResource:
		var r *mcp.ReadResourceResult
		if r, err = client.ReadResource(ctx, o.Name, append(options, mcpclient.WithoutCache())...); err == nil {
			result = r
		}
	case kindPrompt:
		var arguments map[string]string
		if err = json.Unmarshal(o.Arguments, &arguments); err == nil {
			var r *mcp.GetPromptResult
			if r, err = client.GetPrompt(ctx, o.Name, arguments, options...); err == nil {
				result = r
			}
		}
	}
	var size int64
	if raw, encodeErr := json.Marshal(result); encodeErr == nil && result != nil {
		size = int64(len(raw))
	}
	checked, valid := check(ctx, o.output, result)
	blocks := blocksOf(result)
	tool, isTool := result.(*mcp.CallToolResult)
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Checked, o.Valid, o.Blocks, o.Wrong = checked, valid, blocks, isTool && tool.IsError
	o.Ended, o.Size = time.Now(), size
	if err != nil {
		o.Err = cut(10*maxText, err.Error())
	}
	s.trim()
}

// check validates the structured content of a result with the output schema of its tool.
func check(ctx context.Context, output json.RawMessage, result any) (text string, valid bool) {
	r, ok := result.(*mcp.CallToolResult)
	if !ok || r.IsError || output == nil {
		return "", false
	}
	if r.StructuredContent == nil {
		return "The tool has an output schema, but the result has no structured content.", false
	}
	compiled, err := schema.Compile(output)
	if err != nil {
		return cut(maxText, "The output schema cannot be applied: "+err.Error()), false
	}
	if err := compiled.Validate(ctx, r.StructuredContent); err != nil {
		return cut(maxText, "The structured content does not match the output schema: "+err.Error()), false
	}
	return "The structured content matches the output schema.", true
}

func (s *Session) progressed(o *operation, p *mcp.ProgressParams) {
	step := progress{At: time.Since(o.Started), Text: cut(maxText, p.Message), Percent: -1}
	if p.Total != nil && *p.Total > 0 {
		step.Percent = min(max(0, 100*p.Progress / *p.Total), 100)
	}
	if step.Text == "" {
		step.Text = fmt.Sprint(p.Progress)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Progress = append(o.Progress, step)
	o.Progress = o.Progress[max(0, len(o.Progress)-maxProgressLog):]
}

// trim drops the oldest operations and results beyond the bounds.
func (s *Session) trim() {
	for i := 0; len(s.operations) > maxOperations && i < len(s.operations); {
		if s.operations[i].Ended.IsZero() {
			i++
			continue
		}
		s.operations = append(s.operations[:i], s.operations[i+1:]...)
	}
	var room int64
	for i := len(s.operations) - 1; i >= 0; i-- {
		o := s.operations[i]
		if o.Blocks == nil {
			continue
		}
		if room += o.Size; room > maxResultRoom && i < len(s.operations)-1 {
			o.Blocks, o.Dropped = nil, true
		}
	}
}

// operation returns a copy of an operation.
func (s *Session) operation(id int) (operation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.operations {
		if o.ID == id {
			return o.copy(), true
		}
	}
	return operation{}, false
}

// copy returns a copy that later notifications do not change.
func (o *operation) copy() operation {
	c := *o
	c.Progress = append([]progress(nil), o.Progress...)
	return c
}

// history returns copies of the operations that match, the newest first.
func (s *Session) history(match func(*operation) bool) []operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []operation
	for i := len(s.operations) - 1; i >= 0; i-- {
		if match(s.operations[i]) {
			found = append(found, s.operations[i].copy())
		}
	}
	return found
}

// cancel ends an operation. It reports whether the operation exists.
func (s *Session) cancel(id int) bool {
	o, ok := s.operation(id)
	if ok {
		o.cancel(errCancelled)
	}
	return ok
}

// Failed reports whether the operation has failed: with an error, or with a result that the tool marks as an error.
func (o operation) Failed() bool {
	return o.Err != "" || o.Wrong
}

// Took returns the duration so far.
func (o operation) Took() time.Duration {
	if o.Ended.IsZero() {
		return time.Since(o.Started)
	}
	return o.Ended.Sub(o.Started)
}
