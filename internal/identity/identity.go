// Package identity carries the identity of the caller from code that authenticates HTTP requests to code that serves
// them, without a dependency between the two.
package identity

import "context"

type key struct{}

// With returns a context for a request from the caller with this id.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// From returns the identity of the caller, or "" for an unknown client.
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Mark is a parameter type for methods that only packages of this module can declare or call.
type Mark struct{}

// Own marks a store that this module implements: it answers immediately and does not fail.
type Own interface{ Own(Mark) }
