package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// inputRounds is the state of a call's requests for input.
type inputRounds struct {
	required *mcp.InputRequiredResult // request for input in the latest answer; nil for none
	given    mcp.InputRound           // input for the next request
	rounds   int                      // number of requests for input so far
}

// inRounds is the layer that gets the input that a modern server requests before it answers, and then sends the call
// again.
func inRounds(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		for {
			if err := next(ctx, cl); err != nil || cl.input.required == nil {
				return err
			}
			if cl.asked.inputReturned {
				return &Error{Kind: KindState, Op: cl.Method, cause: &InputRequiredError{cl.input.required}}
			}
			if err := cl.provide(cl.Outside(ctx)); err != nil {
				return err
			}
			cl.By = time.Time{} // restart the timeout, because a person may have used up the time
		}
	}
}

// InputRequiredError is the error of a call with [ReturnInputRequired] if the server answered with a request for input.
type InputRequiredError struct{ Result *mcp.InputRequiredResult }

// Error reports the number of requests for input.
func (e *InputRequiredError) Error() string {
	return fmt.Sprintf("the server requested input before it answers (%d requests)", len(e.Result.InputRequests))
}

// ReturnInputRequired makes a call return a modern server's request for input instead of calling the client's handlers:
// the error of the call wraps an [*InputRequiredError]. The option is for programs that forward calls. The caller then
// repeats the call with an [mcp.InputRound] in the params. The option has no effect on tasks and on legacy servers.
// (specification 2026-07-28, basic/patterns/mrtr)
func ReturnInputRequired() CallOption { return func(a *asked) { a.inputReturned = true } }

// inputDelay is the delay before the client repeats a request that the server has answered with a request for input
// without any inputs. The delay doubles with each such answer.
const inputDelay = 50 * time.Millisecond

// mayRequireInput reports whether the server may request input before it answers a method.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests")
func mayRequireInput(method string) bool {
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		return true
	}
	return false
}

// Limits of the requests for input in one answer. The client keeps these requests while a person answers.
const (
	maxInputs     = 64
	maxInputKey   = 1 << 10  // bytes of a key
	maxInputBytes = 16 << 20 // bytes of all requests, including their keys
)

// checkInputs returns an error if the requests for input in one answer exceed a limit.
func checkInputs(requests mcp.InputRequests) error {
	if len(requests) > maxInputs {
		return fmt.Errorf("the server requested more than %d inputs at once", maxInputs)
	}
	size := 0
	for key, r := range requests {
		if len(key) > maxInputKey {
			return fmt.Errorf("the server requested an input with a key of more than %d bytes", maxInputKey)
		}
		size += len(key) + len(r.Method) + len(r.Params)
	}
	if size > maxInputBytes {
		return fmt.Errorf("the requests for input in one answer of the server exceed %d bytes", maxInputBytes)
	}
	return nil
}

// provide gets the requested input from the client's handlers, and prepares the call to be sent again. (specification
// 2026-07-28, basic/patterns/mrtr, "Client Requirements (Basic Workflow)")
func (cl *call) provide(ctx context.Context) *Error {
	c := cl.c
	in := cl.input.required
	cl.input.required = nil
	if v := reflect.ValueOf(cl.result); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero() // the request for input is not part of the result
	}
	if cl.input.rounds++; cl.input.rounds >= c.cfg.Limits.InputRounds {
		return &Error{Kind: KindProtocol, Op: cl.Method,
			cause: fmt.Errorf("the server requested input %d times, which is the limit (Options.Limits.InputRounds)",
				cl.input.rounds)}
	}
	if err := checkInputs(in.InputRequests); err != nil {
		return &Error{Kind: KindProtocol, Op: cl.Method, cause: err}
	}
	cl.input.given = mcp.InputRound{RequestState: in.RequestState}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.core.Base, func() { cancel(ErrShutdown) })()
	if len(in.InputRequests) == 0 {
		if !conn.PauseFor(limited, min(inputDelay<<min(cl.input.rounds-1, 10), c.cfg.Backoff.Max)) {
			return errorOf(c.core.Interrupted(ctx, cl.Method, !cl.Accepted))
		}
		return nil
	}
	cl.input.given.InputResponses = make(mcp.InputResponses, len(in.InputRequests))
	for _, key := range slices.Sorted(maps.Keys(in.InputRequests)) {
		answer, err := c.answering.input(limited, cl.ID, in.InputRequests[key])
		switch {
		case err != nil && limited.Err() != nil:
			return errorOf(c.core.Interrupted(ctx, cl.Method, !cl.Accepted))
		case err != nil:
			err.Op, err.cause = cl.Method, fmt.Errorf("the server requires input first: %w", err.cause)
			return err
		}
		cl.input.given.InputResponses[key] = answer
	}
	return nil
}

// withInput returns params, which is a JSON object or empty, with the input of the present round. It removes the input
// of earlier rounds.
func withInput(params []byte, in mcp.InputRound) ([]byte, error) {
	out := []byte{'{'}
	if len(params) > 0 {
		o := jsonscan.ObjectAt(params, 0)
		for o.Next() {
			keep := string(o.Key()) != "inputResponses" && string(o.Key()) != "requestState"
			if value := o.Raw(); keep {
				out = append(append(out, params[o.KeyAt():o.At()+len(value)]...), ',')
			}
		}
		if err := o.Err(); err != nil {
			return nil, err
		}
	}
	added, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if string(added) == "{}" {
		out = out[:max(1, len(out)-1)] // drop the last comma
	}
	return append(out, added[1:]...), nil
}
