package instrument

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

type taskEnd struct{ tool, status, errorType string }

// Task is the work of a task of the tasks extension, from its creation to its end. The request that has created it does
// not wait for it. A Task is a value. Its owner keeps it and does not share it. Methods of the zero Task do nothing.
type Task struct {
	s       *Server
	tool    string // name of the tool, without the limits of metrics
	label   string // the tool as a metric label
	ctx     context.Context
	span    trace.Span
	start   time.Time
	counted bool
	over    bool
}

// StartTask starts the work of a task for a call of one of the server's tools. The returned context is for the work.
// The caller ends the Task exactly once. Its span is a child of the request's span and outlives the request.
func (s *Server) StartTask(ctx context.Context, tool string) (context.Context, Task) {
	if s == nil {
		return ctx, Task{}
	}
	t := Task{s: s, tool: truncate(tool, words.MaxName), label: s.toolLabel(tool), start: time.Now()}
	t.ctx, t.span = s.tel.tracer.Start(ctx, names.SpanMCPServerTask+" "+t.label,
		trace.WithAttributes(attribute.String(names.KeyGenAIToolName, t.tool)))
	if active := s.tel.ins.tasks; active.Enabled(t.ctx) {
		t.counted = true
		active.Add(t.ctx, 1, s.metrics.options().task.At(t.label)...)
	}
	return t.ctx, t
}

// End ends the work with the final status of the task and the result that the request would have had. Only the first
// call counts.
func (t *Task) End(status string, r Result) {
	if t.s == nil || t.over {
		return
	}
	t.over = true
	s := t.s
	status = words.OneOf(words.TaskStatuses, status)
	elapsed := time.Since(t.start)
	o := outcomeOf(telemetry.DirectionReceived, &r)
	if t.counted {
		s.tel.ins.tasks.Add(t.ctx, -1, s.metrics.options().task.At(t.label)...)
	}
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Task, About: flight.SubjectOf(words.MethodCallTool, t.label), Word: flight.LabelOf(status),
		Failed: o.failed, Elapsed: elapsed,
	}, Trace: t.span.SpanContext().TraceID()})
	t.endSpan(status, o, &r)
	if h := s.tel.ins.task; h.Enabled(t.ctx) { // after the end of the span, because exemplars depend on it
		h.Record(t.ctx, elapsed.Seconds(), s.taskEnded(taskEnd{t.label, status, bounded(o.errorType())})...)
	}
	t.log(status, elapsed, o, &r)
}

func (t *Task) endSpan(status string, o outcome, r *Result) {
	defer t.span.End() // deferred, because the user's redactor may panic or end the goroutine
	s := t.s
	if t.span.IsRecording() {
		t.span.SetAttributes(present(s.identify([]attribute.KeyValue{
			attribute.String(names.KeyMCPServerTaskStatus, status), optional(names.KeyErrorType, o.errorType()),
			optional(names.KeyRPCResponseStatusCode, o.statusCode()),
		})...)...)
		if o.failed {
			t.span.SetStatus(codes.Error, t.errorMessage(r.Message))
		}
	}
}

// errorMessage returns the redacted text of the task's error.
func (t *Task) errorMessage(text string) string {
	c := telemetry.Content{Kind: telemetry.ContentErrorMessage, Side: telemetry.SideServer,
		Direction: telemetry.DirectionReceived, Method: words.MethodCallTool, Target: t.tool}
	return t.s.errorMessage(t.ctx, c, text)
}

// taskEnded returns the options for a task with this end. It omits the name of the tool if the name would result in too
// many series.
func (s *Server) taskEnded(k taskEnd) []metric.RecordOption {
	ends := &s.metrics.options().taskEnd
	if opts, ok := ends.Within(words.MaxPrecisely, k, ends.Build); ok {
		return opts
	}
	k.tool = names.Other
	if k.errorType != "" {
		k.errorType = names.Other
	}
	return s.metrics.options().taskEnd.At(k)
}

// log logs the end of the work. The level is Error if the cause is a defect of this side.
func (t *Task) log(status string, elapsed time.Duration, o outcome, r *Result) {
	s, level := t.s, slog.LevelInfo
	if o.failed && o.word == "" && o.code == codeInternalError && !r.Told {
		level = slog.LevelError
	}
	suppressed, ok := 0, s.logs.enabled(t.ctx, level)
	if o.failed {
		suppressed, ok = s.logs.allowsFailure(t.ctx, level, names.EventMCPServerTaskEnd, words.MethodCallTool, o.errorType())
	}
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyGenAIToolName, t.tool), slog.String(names.KeyMCPServerTaskStatus,
		status),
		slog.Float64(names.KeyMCPServerDuration, elapsed.Seconds()))
	fields = appendText(fields, names.KeyRPCResponseStatusCode, o.statusCode())
	if o.failed {
		fields = appendText(append(fields, slog.String(names.KeyErrorType, o.errorType())), names.KeyExceptionMessage,
			t.errorMessage(errorText(r)))
		fields = appendCount(fields, s.keys.suppressed, suppressed)
	}
	s.logs.emit(t.ctx, level, names.EventMCPServerTaskEnd, fields...)
}
