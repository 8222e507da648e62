package inspectview

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// callsPage is the page with the history of the session.
type callsPage struct {
	Calls  []operation
	All    int
	Text   string // selects calls whose name or arguments contain it
	Failed bool   // selects failed calls
}

func (s *Session) callsPage(w http.ResponseWriter, r *http.Request) error {
	p := callsPage{Text: r.FormValue("q"), Failed: r.FormValue("failed") != ""}
	text := strings.ToLower(p.Text)
	p.Calls = s.history(func(o *operation) bool {
		p.All++
		return (!p.Failed || o.Failed()) &&
			(strings.Contains(strings.ToLower(o.Name), text) || strings.Contains(strings.ToLower(string(o.Arguments)), text))
	})
	return s.show(w, r, http.StatusOK, "calls", "Calls", p, refresh)
}

// callPage is the page of one operation.
type callPage struct {
	operation
	Running bool
	Again   string               // path of the form with the same arguments; empty for none
	Given   string               // the arguments, indented
	Why     *explain.Explanation // nil if the operation has not failed
	Trace   template.HTML        // the waterfall and the log records; empty until spans have arrived
	Frames  []*frame
	Asked   *asked // the first question of the server; nil for none
	Command string
	Go      string
}

// maxCallFrames bounds the frames on the page of an operation.
const maxCallFrames = 100

func (s *Session) callPage(w http.ResponseWriter, r *http.Request) error {
	o, ok := s.operation(number(r))
	if !ok {
		return errGone
	}
	p := callPage{operation: o, Running: o.Ended.IsZero(), Given: cut(maxSchemaText, indented(o.Arguments)),
		Frames: s.frames.of(o.TraceID, maxCallFrames), Command: s.commandLine(&o), Go: goCode(&o)}
	if o.Kind == kindTool {
		p.Again = toolHref(o.Name) + "&from=" + strconv.Itoa(o.ID)
	}
	if o.Kind == kindPrompt {
		p.Again = promptHref(o.Name) + "&from=" + strconv.Itoa(o.ID)
	}
	if o.Failed() {
		p.Why = s.explain(&o)
	}
	if open := s.questions.open(); len(open) > 0 {
		a := askedOf(open[0], nil, nil)
		a.Call = o.ID
		p.Asked = &a
	}
	var err error
	if p.Trace, err = s.traces.Trace(o.TraceID); err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "call", cut(maxName, o.Name), p, refresh)
}

// explain returns the cause of an operation's failure, from its spans and from the client's flight recorder.
func (s *Session) explain(o *operation) *explain.Explanation {
	snapshot := s.options.Snapshot()
	texts := map[string]string{} // error texts of spans, from their log records
	for _, r := range snapshot.Records {
		if text, ok := r.Attributes[names.KeyExceptionMessage].(string); ok && r.TraceID == o.TraceID {
			texts[r.SpanID] = cmp.Or(texts[r.SpanID], text)
		}
	}
	f := explain.Facts{TraceID: o.TraceID,
		Peers: explain.PeersOf("", []inspect.Client{s.Client().Inspect()}, nil)}
	for _, span := range snapshot.Trace(o.TraceID) {
		f.Spans = append(f.Spans, spanOf(span, texts[span.SpanID]))
	}
	return explain.Explain(&f)
}

func spanOf(s otlpsink.Span, text string) explain.Span {
	failed := s.Status == "ERROR"
	if failed {
		text = cmp.Or(s.StatusMessage, text)
	}
	return explain.Span{ID: s.SpanID, Parent: s.ParentID, Service: s.Service(), Name: s.Name, Kind: s.Kind,
		Process: explain.ProcessOf(inspector.Attributes(s.Resource)), Start: s.Start, End: s.End, Failed: failed,
		Message: text, Attributes: inspector.Attributes(s.Attributes)}
}

// commandLine returns the command line of mcpotel for an operation; empty if there is none.
func (s *Session) commandLine(o *operation) string {
	if strings.HasPrefix(o.Name, "-") { // it would be a flag
		return ""
	}
	switch o.Kind {
	case kindResource:
		return s.options.CommandLine("read", o.Name)
	case kindPrompt:
		words := []string{"prompt", o.Name}
		var arguments map[string]string
		_ = json.Unmarshal(o.Arguments, &arguments)
		for name, value := range sorted(arguments) {
			words = append(words, name+"="+value)
		}
		return s.options.CommandLine(words...)
	}
	return s.options.CommandLine("call", o.Name, string(o.Arguments))
}

// goCode returns the statement of Go for an operation.
func goCode(o *operation) string {
	switch o.Kind {
	case kindResource:
		return "result, err := client.ReadResource(ctx, " + strconv.Quote(o.Name) + ")"
	case kindPrompt:
		var arguments map[string]string
		_ = json.Unmarshal(o.Arguments, &arguments)
		var b strings.Builder
		for name, value := range sorted(arguments) {
			b.WriteString(strconv.Quote(name) + ": " + strconv.Quote(value) + ", ")
		}
		return "result, err := client.GetPrompt(ctx, " + strconv.Quote(o.Name) + ", map[string]string{" +
			strings.TrimSuffix(b.String(), ", ") + "})"
	}
	literal := "`" + string(o.Arguments) + "`"
	if strings.Contains(literal[1:len(literal)-1], "`") {
		literal = strconv.Quote(string(o.Arguments))
	}
	return "result, err := client.CallTool(ctx, " + strconv.Quote(o.Name) + ", json.RawMessage(" + literal + "))"
}

func (s *Session) cancelCall(w http.ResponseWriter, r *http.Request) error {
	if !s.cancel(number(r)) {
		return errGone
	}
	http.Redirect(w, r, "/calls/"+r.PathValue("id"), http.StatusSeeOther)
	return nil
}

// framesPage is the page with the newest frames.
type framesPage struct {
	Frames []*frame
	Kept   int
}

// maxShownFrames bounds the frames on their page.
const maxShownFrames = 200

func (s *Session) framesPage(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, http.StatusOK, "frames", "Frames", framesPage{s.frames.newest(maxShownFrames), maxFrames}, refresh)
}
