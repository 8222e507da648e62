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

// inputRounds is what a call knows of the input that its server asks for.
type inputRounds struct {
	required *mcp.InputRequiredResult // by the latest answer, instead of a result; nil if none is
	given    mcp.InputRound           // goes with the next request
	rounds   int                      // how often the server has asked
}

// inRounds is the layer that gives a modern server the input that it asks for before it answers, and sends the request
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
			cl.By = time.Time{} // a person may have taken that
		}
	}
}

// InputRequiredError is the error of a call with [ReturnInputRequired] that the server has answered with a wish for
// input.
type InputRequiredError struct{ Result *mcp.InputRequiredResult }

// Error says that the server needs an answer first.
func (e *InputRequiredError) Error() string {
	return fmt.Sprintf("the server needs an answer first, to %d requests", len(e.Result.InputRequests))
}

// ReturnInputRequired has a call return what a modern server needs before it answers, instead of asking the handlers of
// the client: the error has an [*InputRequiredError] in its chain. It is for those who pass a call on. The caller makes
// the call again with an [mcp.InputRound] in the params. It changes nothing for what a task needs, or a legacy server.
// (specification 2026-07-28, basic/patterns/mrtr)
func ReturnInputRequired() CallOption { return func(a *asked) { a.inputReturned = true } }

// inputDelay is the time before a request is sent again to a server that asked for nothing but that. It doubles from
// one such answer to the next.
const inputDelay = 50 * time.Millisecond

// mayRequireInput reports whether the server may ask for input before it answers a method.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests")
func mayRequireInput(method string) bool {
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		return true
	}
	return false
}

// The bounds of what a server may ask for in one answer. It is kept for as long as a person takes.
const (
	maxInputs     = 64
	maxInputKey   = 1 << 10  // bytes of a key
	maxInputBytes = 16 << 20 // of all requests, keys included
)

// checkInputs says which bound a server exceeds that asks for all this in one answer.
func checkInputs(requests mcp.InputRequests) error {
	if len(requests) > maxInputs {
		return fmt.Errorf("the server asks for more than %d inputs at once", maxInputs)
	}
	size := 0
	for key, r := range requests {
		if len(key) > maxInputKey {
			return fmt.Errorf("the server asks for an input under a key of more than %d bytes", maxInputKey)
		}
		size += len(key) + len(r.Method) + len(r.Params)
	}
	if size > maxInputBytes {
		return fmt.Errorf("the server asks for inputs with more than %d bytes at once", maxInputBytes)
	}
	return nil
}

// provide gets what the server asked for instead of a result, from the handlers that answer the same requests of legacy
// servers, and makes the call ready to be sent again.
// (specification 2026-07-28, basic/patterns/mrtr, "Client Requirements (Basic Workflow)")
func (cl *call) provide(ctx context.Context) *Error {
	c := cl.c
	in := cl.input.required
	cl.input.required = nil
	if v := reflect.ValueOf(cl.result); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero() // the input that is required is no part of the result
	}
	if cl.input.rounds++; cl.input.rounds >= c.cfg.MaxInputRounds {
		return &Error{Kind: KindProtocol, Op: cl.Method,
			cause: fmt.Errorf("the server has asked for input %d times, Options.MaxInputRounds", cl.input.rounds)}
	}
	if err := checkInputs(in.InputRequests); err != nil {
		return &Error{Kind: KindProtocol, Op: cl.Method, cause: err}
	}
	cl.input.given = mcp.InputRound{RequestState: in.RequestState}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.core.Base, func() { cancel(ErrShutdown) })()
	if len(in.InputRequests) == 0 {
		if !conn.PauseFor(limited, min(inputDelay<<min(cl.input.rounds-1, 10), c.cfg.BackoffMax)) {
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
			err.Op, err.cause = cl.Method, fmt.Errorf("the server needs an answer first: %w", err.cause)
			return err
		}
		cl.input.given.InputResponses[key] = answer
	}
	return nil
}

// withInput returns params, a JSON object or nothing, with what the server asked for in the place of what it had of
// that before.
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
		out = out[:max(1, len(out)-1)] // the last comma
	}
	return append(out, added[1:]...), nil
}
