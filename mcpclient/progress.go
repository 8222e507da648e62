package mcpclient

import (
	"context"
	"iter"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// WithProgress requests progress notifications and passes them to f, in order, in the goroutine of the call. Before the
// call returns, f gets all that arrived before the result. While f runs, the latest 16 are kept, fewer if their texts
// exceed 1 MiB together. f may keep a notification, and may call the client.
func WithProgress(f func(*mcp.ProgressParams)) CallOption { return func(a *asked) { a.OnProgress = f } }

// ResetTimeoutOnProgress requests progress notifications, and each restarts the timeout of the request: a call may
// take any time if the server reports progress often enough. total bounds the whole request, even with progress;
// zero means ten times the timeout. Negative means no bound except the context, so a server can keep the call
// waiting forever. [WithProgress] gets the notifications.
// (specification 2026-07-28, basic/patterns/cancellation, "Timeouts")
func ResetTimeoutOnProgress(total time.Duration) CallOption {
	return func(a *asked) { a.Resets, a.Total = true, total }
}

// FollowProgress makes a call and yields the reports of its progress as they come in: call gets a context and an
// option, and passes both to one call of a client, such as [Client.CallTool] or [CallToolAs], without starting a
// goroutine. The loop runs inside that call and ends with it; an error of the call comes last, with a nil report.
// Leaving the loop cancels the call. While the loop is busy with one report, the latest 16 are kept.
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
