package mcpclient

import (
	"context"
	"iter"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// WithProgress requests progress notifications and passes them to f, in order, in the goroutine of the call. Before the
// call returns, f gets all notifications that arrived before the result. While f runs, the client keeps only the latest
// 16 notifications, or fewer if their texts exceed 1 MiB together. f may keep a notification, and may call the client.
func WithProgress(f func(*mcp.ProgressParams)) CallOption { return func(a *asked) { a.OnProgress = f } }

// ResetTimeoutOnProgress requests progress notifications. Each notification restarts the timeout of the request, so a
// call may take any time if the server reports progress often enough. total bounds the whole request, even with
// progress. Zero means ten times the timeout. A negative value means that only the context bounds the call, so a server
// can keep it waiting forever. [WithProgress] gets the notifications. (specification 2026-07-28,
// basic/patterns/cancellation, "Timeouts")
func ResetTimeoutOnProgress(total time.Duration) CallOption {
	return func(a *asked) { a.Resets, a.Total = true, total }
}

// FollowProgress makes a call and yields its progress reports as they arrive. call gets a context and an option, and
// must pass both to one call of a client, such as [Client.CallTool] or [CallToolAs], without starting a goroutine. The
// loop runs inside that call and ends with it. If the call fails, FollowProgress yields its error last, with a nil
// report. Leaving the loop cancels the call. While the loop is busy with one report, the client keeps the latest 16.
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
// Each range over the sequence makes the call once.
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
