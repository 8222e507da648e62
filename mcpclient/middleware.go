package mcpclient

import (
	"context"
	"fmt"
	"slices"
)

// CallFunc makes a call, like [Client.Call]. result is a pointer to fill, or nil. The error is an [*Error] unless a
// [Middleware] returns another error.
type CallFunc func(ctx context.Context, method string, params, result any, options ...CallOption) error

// Middleware wraps the function that makes a call, to observe, change, repeat or deny the call. The client calls the
// Middleware once, when the client is created. It calls the returned function for every call, concurrently:
//
//	func(next mcpclient.CallFunc) mcpclient.CallFunc {
//		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
//			begun := time.Now()
//			err := next(ctx, method, params, result, options...)
//			log.Println(method, time.Since(begun), err)
//			return err
//		}
//	}
//
// The returned function runs inside the CLIENT span of the call: [trace.SpanFromContext] of its context returns that
// span. The span ends with the error that the middleware returns. A cached result needs no request and has no span.
//
// The function must pass the options on, because some belong to the client. It may append other options, which take
// precedence.
type Middleware func(next CallFunc) CallFunc

// interpose wraps the client's calls in the middleware of the options.
func (c *Client) interpose() error {
	if len(c.cfg.Middleware) == 0 {
		return nil
	}
	all := CallFunc(c.call)
	for i, wrap := range slices.Backward(c.cfg.Middleware) {
		if wrap != nil {
			all = wrap(all)
		}
		if wrap == nil || all == nil {
			return fmt.Errorf("mcpclient: options: Middleware[%d] is nil or returned nil", i)
		}
	}
	c.intercepted = all
	return nil
}

// intercept makes a call through the middleware. It combines all options into one before it passes them on, so that the
// slice of options need not be on the heap. Clients without middleware gain most from that.
func (c *Client) intercept(ctx context.Context, method string, params, result any, options []CallOption) error {
	return c.operate(ctx, method, params, options, func(ctx context.Context, options []CallOption) error {
		all := &asked{logLevel: c.logLevel.level()}
		c.cfg.apply(all, options)
		return c.intercepted(ctx, method, params, result, func(a *asked) { *a = *all })
	})
}
