package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// WithProgress requests progress notifications and passes them to f, in order, in the goroutine of the call; f
// gets all that arrived before the result before the call returns. While f runs, the latest 16 are kept, fewer if
// their texts exceed 1 MiB together. f may keep a notification, and may call the client.
func WithProgress(f func(*mcp.ProgressParams)) CallOption { return func(a *asked) { a.OnProgress = f } }

// ResetTimeoutOnProgress requests progress notifications, and each restarts the timeout of the request: a call may
// take any time if the server reports progress often enough. total bounds the whole request, even with progress;
// zero means ten times the timeout. Negative means no bound except the context, so a server can keep the call
// waiting forever. [WithProgress] gets the notifications.
// (specification 2026-07-28, basic/patterns/cancellation, "Timeouts")
func ResetTimeoutOnProgress(total time.Duration) CallOption {
	return func(a *asked) { a.Resets, a.Total = true, total }
}
