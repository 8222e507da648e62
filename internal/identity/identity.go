// Package identity carries who is asking from what authenticates HTTP requests to what serves them, so that neither
// needs to know the other.
package identity

import "context"

type key struct{}

// With returns a context in which id is asking.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// From returns who is asking, empty for an unknown client.
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Mark is a parameter of methods that only packages of this module can declare or call.
type Mark struct{}

// Own is a store of this module's own: it answers at once, and does not fail.
type Own interface{ Own(Mark) }
