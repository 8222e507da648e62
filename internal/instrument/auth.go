package instrument

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// StartAuthStep starts one step of an authorization. step is one of the Auth constants. The returned context is for the
// work of the step. The returned function ends the step, with its error or nil.
//
// The step has no client, so the provider of the span in ctx creates the span of the step. Without a span in ctx,
// nothing is recorded. If the step fails, only the result of the error's ErrorType method is recorded, because the text
// of the error may contain a secret.
func StartAuthStep(ctx context.Context, step string) (context.Context, func(error)) {
	around := trace.SpanFromContext(ctx)
	if !around.SpanContext().IsValid() {
		return ctx, func(error) {}
	}
	step = words.OneOf(words.AuthSteps, step)
	tracer := around.TracerProvider().Tracer(telemetry.ScopeName, trace.WithInstrumentationVersion(telemetry.Version),
		trace.WithSchemaURL(names.SchemaURL))
	ctx, span := tracer.Start(ctx, names.SpanMCPClientAuth+" "+step,
		trace.WithAttributes(attribute.String(names.KeyMCPClientAuthStep, step)))
	return ctx, func(err error) {
		if err != nil {
			span.SetAttributes(attribute.String(names.KeyErrorType, declaredErrorType(err)))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// declaredErrorType returns the result of err's ErrorType method, or _OTHER if err has none.
func declaredErrorType(err error) string {
	declared, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err)
	if !ok || declared.ErrorType() == "" {
		return names.Other
	}
	return wordOf(declared.ErrorType())
}
