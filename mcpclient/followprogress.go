package mcpclient

import (
	"context"
	"iter"

	"github.com/mcpotel/mcpotel/mcp"
)

// FollowProgress makes a call and yields the reports of its progress as they come in: call gets a context and an
// option, and makes with both any one call of a client, such as [Client.CallTool] or [CallToolAs], in its own
// goroutine. The loop runs in that call, so it is over when the call has returned; an error of the call comes last,
// without a report. Leaving the loop cancels the call. While the loop is busy with one report, the latest 16 are kept.
//
//	var result *mcp.CallToolResult
//	call := func(ctx context.Context, follow mcpclient.CallOption) (err error) {
//		result, err = client.CallTool(ctx, "index", arguments, follow)
//		return err
//	}
//	for p, err := range mcpclient.FollowProgress(ctx, call) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(p.Progress, p.Message)
//	}
//
// The calls are made when the sequence is ranged over, once each time.
func FollowProgress(ctx context.Context, call func(ctx context.Context, follow CallOption) error) iter.Seq2[
	*mcp.ProgressParams, error] {
	return func(yield func(*mcp.ProgressParams, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		left := false
		err := call(ctx, WithProgress(func(p *mcp.ProgressParams) {
			if !left && !yield(p, nil) {
				left = true
				cancel()
			}
		}))
		if err != nil && !left {
			yield(nil, err)
		}
	}
}
