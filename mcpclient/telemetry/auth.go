package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Values of mcp_client.auth.step: the requests, and the visit of a person, that an authorization is made of.
const (
	AuthDiscoverResource = "discover_resource" // the metadata of the protected resource
	AuthDiscoverServer   = "discover_server"   // the metadata of its authorization server
	AuthRegister         = "register"          // the client there
	AuthAuthorize        = "authorize"         // by a person
	AuthToken            = "token"             // the exchange of a grant for a token
	AuthRefresh          = "refresh"           // of a token
)

var authSteps = []string{AuthDiscoverResource, AuthDiscoverServer, AuthRegister, AuthAuthorize, AuthToken, AuthRefresh}

// StartAuthStep begins a step of an authorization, one of the Auth constants. It returns the context to do it in, and what
// to call when it has ended, with the error if there was one.
//
// The step is a span of the provider that made the span of ctx, for who authorizes knows no client; without a span in ctx
// nothing is observed. Of an error only its type is told, as its ErrorType method has it: its text may hold a secret.
func StartAuthStep(ctx context.Context, step string) (context.Context, func(error)) {
	around := trace.SpanFromContext(ctx)
	if !around.SpanContext().IsValid() {
		return ctx, func(error) {}
	}
	step = oneOf(authSteps, step)
	tracer := around.TracerProvider().Tracer(ScopeName, trace.WithInstrumentationVersion(moduleVersion()))
	ctx, span := tracer.Start(ctx, spanAuthStep+" "+step, trace.WithAttributes(attribute.String(keyClientAuthStep, step)))
	return ctx, func(err error) {
		if err != nil {
			span.SetAttributes(attribute.String(keyErrorType, declaredErrorType(err)))
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
		return other
	}
	return wordOf(declared.ErrorType())
}
