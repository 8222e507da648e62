// Package within combines two contexts, for a request from one peer that causes work on the connection to another peer.
// The combined context has the values of the request, including its span, and the lifetime of the connection.
package within

import "context"

// Values returns a context that ends with life. It has the values of ctx and, for all other keys, the values of life.
// The end of ctx has no effect.
func Values(life, ctx context.Context) context.Context {
	return joined{life, context.WithoutCancel(ctx)}
}

type joined struct {
	context.Context
	values context.Context
}

func (c joined) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}
