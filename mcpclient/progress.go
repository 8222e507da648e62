package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// WithProgress asks the server for reports of progress and hands them to f, in order, in the goroutine of the call, all
// that arrived before the result before the call returns. While f runs, the latest 16 reports are kept, fewer if their
// texts have more than 1 MiB together. f may keep a report, and may call the client.
func WithProgress(f func(*mcp.ProgressParams)) CallOption { return func(a *asked) { a.OnProgress = f } }

// ResetTimeoutOnProgress asks the server for reports of progress, and each of them gives the request its timeout anew:
// a call takes as long as it does, provided that the server shows in time that it is at work. total bounds the whole of
// it, from the beginning of the request, even if the server reports progress; zero means ten times the timeout.
// Negative means no bound but that of the context, with which a server can keep the call waiting for ever. The reports
// themselves are for [WithProgress]. (specification 2026-07-28, basic/patterns/cancellation, "Timeouts")
func ResetTimeoutOnProgress(total time.Duration) CallOption {
	return func(a *asked) { a.Resets, a.Total = true, total }
}
