package mcp

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorsAreToldByTheirCodes(t *testing.T) {
	all := map[int64]error{
		-32700: ErrParse, -32600: ErrInvalidRequest, -32601: ErrMethodNotFound, -32602: ErrInvalidParams, -32603: ErrInternal,
	}
	for code := range all {
		err := fmt.Errorf("wrapped: %w", &Error{Code: code, Message: "of the server's own", Data: []byte("{}")})
		for other, sentinel := range all {
			if got := errors.Is(err, sentinel); got != (code == other) {
				t.Errorf("an error with code %d is %v: got %v", code, sentinel, got)
			}
		}
	}
	for _, err := range []error{&Error{Code: -32002}, &Error{}, errors.New("method not found")} {
		if errors.Is(err, ErrMethodNotFound) {
			t.Errorf("%v is taken for %v", err, ErrMethodNotFound)
		}
	}
}
