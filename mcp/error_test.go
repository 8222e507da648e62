package mcp

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorsIsComparesCodes(t *testing.T) {
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

func TestErrResourceNotFoundMatchesAllRevisions(t *testing.T) {
	uri := []byte(`{"uri":"file:///x"}`)
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"the legacy code":                 {&Error{Code: -32002}, true},
		"wrapped":                         {fmt.Errorf("read: %w", &Error{Code: -32002, Data: uri}), true},
		"the modern code with a URI":      {&Error{Code: -32602, Data: uri}, true},
		"the modern code without data":    {&Error{Code: -32602}, false},
		"the modern code with other data": {&Error{Code: -32602, Data: []byte(`[1]`)}, false},
		"an empty URI":                    {&Error{Code: -32602, Data: []byte(`{"uri":""}`)}, false},
		"another code":                    {&Error{Code: -32603, Data: uri}, false},
		"invalid params":                  {ErrInvalidParams, false},
	} {
		if got := errors.Is(tc.err, ErrResourceNotFound); got != tc.want {
			t.Errorf("%s: want %v, got %v", name, tc.want, got)
		}
	}
	if !errors.Is(&Error{Code: -32602, Data: uri}, ErrInvalidParams) {
		t.Error("the modern error does not match ErrInvalidParams")
	}
}
