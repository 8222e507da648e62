package within_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/internal/within"
)

type key string

func TestValuesContextEndsOnlyWithTheLife(t *testing.T) {
	why := errors.New("over")
	life, end := context.WithCancelCause(context.WithValue(context.WithValue(t.Context(), key("a"), 1), key("b"), 1))
	request, answered := context.WithCancelCause(context.WithValue(t.Context(), key("a"), 2))
	ctx := within.Values(life, request)
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	if a, b := ctx.Value(key("a")), ctx.Value(key("b")); a != 2 || b != 1 {
		t.Errorf("got a = %v and b = %v, want 2 of the request and 1 of the life", a, b)
	}
	answered(errors.New("answered"))
	if ctx.Err() != nil || below.Err() != nil {
		t.Error("the context ends with the request")
	}
	end(why)
	<-below.Done()
	if context.Cause(ctx) != why || context.Cause(below) != why {
		t.Errorf("got the causes %v and %v, want that of the life", context.Cause(ctx), context.Cause(below))
	}
}
