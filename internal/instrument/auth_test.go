package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestAuthStepIsChildOfCallersSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	ctx, caller := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
	inner, end := instrument.StartAuthStep(ctx, names.AuthToken)
	_, nested := instrument.StartAuthStep(inner, names.AuthRefresh)
	nested(nil)
	end(nil)
	caller.End()

	span := rec.Span("mcp_client.auth token")
	if got, want := span.Parent().SpanID(), caller.SpanContext().SpanID(); got != want {
		t.Errorf("parent of the step: got %v, want the caller's span %v", got, want)
	}
	if got, want := rec.Span("mcp_client.auth refresh").Parent().SpanID(), span.SpanContext().SpanID(); got != want {
		t.Errorf("parent of a step within the step: got %v, want the outer step %v", got, want)
	}
	if span.Status().Code != codes.Unset || span.SpanKind() != trace.SpanKindInternal {
		t.Errorf("a step that succeeded: got status %v and kind %v, want unset and internal", span.Status(), span.SpanKind())
	}
}

func TestFailedAuthStepRecordsOnlyErrorType(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a type of its own": {fmt.Errorf("secret: %w", lost{}), names.ErrorConnectionLost},
		"none":              {errors.New("secret"), "_OTHER"},
		"an empty one":      {untyped{}, "_OTHER"},
		"a wrapped cause":   {errors.Join(errors.New("secret"), lost{}), names.ErrorConnectionLost},
		"a standard error":  {context.DeadlineExceeded, "_OTHER"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			ctx, caller := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
			defer caller.End()
			_, end := instrument.StartAuthStep(ctx, names.AuthRegister)
			end(test.err)
			span := rec.Span("mcp_client.auth register")
			if got := texts(span.Attributes())["error.type"]; got != test.want {
				t.Errorf("error.type: got %q, want %q", got, test.want)
			}
			if got := span.Status(); got.Code != codes.Error || got.Description != "" {
				t.Errorf("status: got %+v, want Error without a description", got)
			}
		})
	}
}

func TestUnknownAuthStepIsRecordedAsOther(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	ctx, caller := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
	defer caller.End()
	_, end := instrument.StartAuthStep(ctx, "dance")
	end(nil)
	rec.Span("mcp_client.auth _OTHER")
}

func TestAuthStepWithoutCallerSpanRecordsNothing(t *testing.T) {
	ctx, end := instrument.StartAuthStep(t.Context(), names.AuthToken)
	if ctx != t.Context() {
		t.Error("context without a span: got another context, want the same")
	}
	end(errBroken)
}

// untyped has an ErrorType method that returns an empty text.
type untyped struct{}

func (untyped) Error() string     { return "secret" }
func (untyped) ErrorType() string { return "" }
