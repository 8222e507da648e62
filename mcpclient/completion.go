package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// Complete requests completions of the value of an argument of a prompt, or of a resource template. others are the
// arguments that already have values, nil for none; servers before 2025-06-18 do not get them. The answer has at
// most 100 values, the best first; of a longer one the first 100 are kept and HasMore is true.
//
// Servers declare completion only from 2025-03-26 on. A server of 2024-11-05 is asked, and may refuse.
// (specification 2026-07-28, server/utilities/completion)
func (c *Client) Complete(
	ctx context.Context, ref mcp.CompleteRef, argument mcp.CompleteArgument, others map[string]string,
	options ...CallOption,
) (*mcp.CompleteResult, error) {
	p, r := &mcp.CompleteParams{Ref: ref, Argument: argument}, new(mcp.CompleteResult)
	err := c.operate(ctx, mcp.MethodComplete, p, options, func(ctx context.Context, options []CallOption) error {
		s, options, err := c.agreed(ctx, mcp.MethodComplete, options)
		switch {
		case err != nil:
			return err
		case s.Version >= mcp.Version20250326 && !hasCompletion(&s.Capabilities):
			return unsupported(mcp.MethodComplete, "completions")
		}
		if s.Version < mcp.Version20250618 {
			p.Ref.Title = ""
		} else if len(others) > 0 {
			p.Context = &mcp.CompleteContext{Arguments: others}
		}
		return c.Call(ctx, mcp.MethodComplete, p, r, options...)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
