package mcpclient

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// resultTypeError is the error for a result of a type that the client has not negotiated.
type resultTypeError struct{ kind mcp.ResultType }

// ErrorType is the value of the attribute error.type of an operation that ends with e.
func (e *resultTypeError) ErrorType() string { return names.ErrorViolation }

func (e *resultTypeError) Error() string {
	return fmt.Sprintf("result type %q was not negotiated", string(e.kind))
}

// decodeResult decodes the result of m, of which nothing can be read afterwards. Every byte has been validated when it
// returns nil.
func decodeResult(m *jsonrpc.Message, result any) error {
	return m.Consume(func(middle []byte) (int, error) { return mcp.DecodeInPlace(middle, result) })
}

// dropIcons takes the icons out of a result that nobody should load.
// (specification 2026-07-28, basic/index, "icons"; the same in 2025-11-25)
func (c *core) dropIcons(method string, result any) {
	if n, first := given.DropIcons(result); n > 0 {
		c.tel.IconsRejected(method, fmt.Errorf("%d left out, the first because its %w", n, first))
	}
}

// resultTypeOf returns the type of a decoded result, empty if it has none.
func resultTypeOf(result any) string {
	if base, ok := result.(interface{ Base() *mcp.Result }); ok {
		return string(base.Base().ResultType)
	}
	return ""
}

// decodeError decodes the error of m.
func decodeError(m *jsonrpc.Message) (*mcp.Error, error) {
	e, err := m.Failure()
	if err != nil {
		return nil, err
	}
	return &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}, nil
}
