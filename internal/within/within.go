// Package within joins two contexts: what is done for a request of one peer on a connection to another has the values
// of the request, its span among them, and lasts as long as the connection.
package within

import "context"

// Values returns a context that ends with life. It has the values of ctx, and of life where ctx has none; that ctx ends
// has no effect.
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
