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

// StartAuthStep begins a step of an authorization, one of the Auth constants. It returns the context to do it in, and
// what to call when it has ended, with the error if there was one.
//
// The step is a span of the provider that made the span of ctx, for who authorizes knows no client; without a span in
// ctx nothing is observed. Of an error only its type is told, as its ErrorType method has it: its text may hold a
// secret.
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

// declaredErrorType returns what err's ErrorType method says, _OTHER if it has none.
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
