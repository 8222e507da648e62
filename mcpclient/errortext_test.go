package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

func TestErrorTextsAndTypes(t *testing.T) {
	refused := &mcp.Error{Code: -32602, Message: "no such tool"}
	for _, tc := range []struct {
		err       *Error
		text, typ string
	}{
		{&Error{Kind: KindTransport, Op: "tools/call", cause: ErrConnectionLost}, "tools/call: connection lost",
			"connection_lost"},
		{&Error{Kind: KindTransport, Op: "tools/call", cause: ErrBackpressure}, "tools/call: transport busy",
			"transport_busy"},
		{&Error{Kind: KindTransport, Op: "x", cause: fmt.Errorf("%w: full", ErrBackpressure)},
			"x: transport busy: full", "transport_busy"},
		{&Error{Kind: KindProtocol, Op: "tools/list", cause: errors.New("7 tools")}, "tools/list: 7 tools",
			"protocol_violation"},
		{&Error{Kind: KindJSONRPC, Op: "tools/call", Server: refused}, "tools/call: server error -32602: no such tool",
			"-32602"},
		{&Error{Kind: KindJSONRPC, Server: &mcp.Error{Code: 1}}, "server error 1: ", "1"},
		{&Error{Kind: KindState, Op: "await", cause: ErrNotReady}, "client is not ready", "not_ready"},
		{&Error{Kind: KindTimeout, Op: "ping", cause: ErrTimeout}, "ping: no answer in time", "timeout"},
		{&Error{Kind: KindCancelled, Op: "ping", cause: context.Canceled}, "ping: context canceled", "cancelled"},
		{&Error{Kind: KindShutdown, Op: "ping", cause: ErrShutdown}, "ping: client is shut down", "shutdown"},
		{&Error{Kind: KindInvalid, Op: "ping", cause: errors.New("not an object")}, "ping: not an object", "_OTHER"},
		{&Error{Kind: KindShutdown}, "shutdown", "shutdown"},
	} {
		if got := tc.err.Error(); got != tc.text {
			t.Errorf("want the text %q, got %q", tc.text, got)
		}
		if got := tc.err.ErrorType(); got != tc.typ {
			t.Errorf("%s: want error.type %q, got %q", tc.text, tc.typ, got)
		}
		if SafeToRetry(tc.err) {
			t.Errorf("%s: want SafeToRetry false", tc.text)
		}
		if tc.err.cause != nil && !errors.Is(tc.err, tc.err.cause) {
			t.Errorf("%s: want its cause in the chain", tc.text)
		}
	}
	wrapped := fmt.Errorf("wrapped: %w", &Error{Kind: KindJSONRPC, Server: refused})
	if server, ok := errors.AsType[*mcp.Error](wrapped); !ok || server != refused {
		t.Errorf("want the server's error in the chain, got %v", server)
	}
}

// Each condition is only in the chains of its own errors.
func TestErrorsIsMatchesOnlyOneCondition(t *testing.T) {
	conditions := []error{ErrNotReady, ErrConnectionLost, ErrBackpressure, ErrTimeout, ErrShutdown, ErrUnsupported}
	for _, is := range conditions {
		err := fmt.Errorf("caller: %w", &Error{Kind: KindState, cause: fmt.Errorf("%w: more", is)})
		for _, other := range conditions {
			if got := errors.Is(err, other); got != (is == other) {
				t.Errorf("errors.Is(%v, %v): want %v, got %v", is, other, is == other, got)
			}
		}
	}
	timeout := error(&Error{Kind: KindTimeout, cause: ErrTimeout})
	if !errors.Is(timeout, context.DeadlineExceeded) {
		t.Error("errors.Is(timeout, context.DeadlineExceeded) is false")
	}
	if e, ok := errors.AsType[net.Error](timeout); !ok || !e.Timeout() {
		t.Errorf("want a timeout to be a net.Error, got %v", e)
	}
}
