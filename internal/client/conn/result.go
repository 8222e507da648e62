package conn

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ResultTypeError is the error for a result whose type was not negotiated.
type ResultTypeError struct{ Kind mcp.ResultType }

// ErrorType returns the attribute error.type of an operation that ended with e.
func (e *ResultTypeError) ErrorType() string { return names.ErrorViolation }

func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("the result type %q was not negotiated", string(e.Kind))
}

// DecodeResult decodes the result of m and consumes m. If it returns nil, it has validated every byte.
func DecodeResult(m *jsonrpc.Message, result any) error {
	return m.Consume(func(middle []byte) (int, error) { return mcp.DecodeInPlace(middle, result) })
}

// DropIcons removes icons that must not be loaded from a result. (specification 2026-07-28 and 2025-11-25, basic/index,
// "icons")
func (c *Conn) DropIcons(method string, result any) {
	if n, first := given.DropIcons(result); n > 0 {
		c.Telemetry.IconsRejected(method, fmt.Errorf("rejected icons: %d; the first: %w", n, first))
	}
}

// ResultTypeOf returns the result type of a decoded result. It is empty if the result has none.
func ResultTypeOf(result any) string {
	if base, ok := result.(interface{ Base() *mcp.Result }); ok {
		return string(base.Base().ResultType)
	}
	return ""
}

// DecodeError decodes the error of m.
func DecodeError(m *jsonrpc.Message) (*mcp.Error, error) {
	e, err := m.Failure()
	if err != nil {
		return nil, err
	}
	return &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}, nil
}
