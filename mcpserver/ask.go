package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrUnsupported means that the server cannot ask the client, for one of these reasons:
//
//   - The client has not declared the capability.
//   - The client's revision, or the current request, does not allow questions.
//   - The request is part of a batch, or arrived over HTTP without a session.
//   - A [LevelSetter] or [ResourceSubscriber] is running: during such a call, the server reads no messages.
//   - The client is a legacy client that has not sent notifications/initialized yet.
//
// A handler may continue without the answer. If the handler returns the error because a modern client lacks a
// capability, the client gets -32021 with the missing capabilities.
var ErrUnsupported = rpc.ErrUnsupported

// ErrInputRequired means that the server must ask the client first. The handler returns the error, unchanged or
// wrapped, and the server calls the handler again when the client has answered.
var ErrInputRequired = errors.New("input required")

// ClientError is the error with which a client answered a request of the server: the client refused the request or
// could not handle it. Only clients of revisions before 2026-07-28 can return one.
type ClientError struct {
	Method  string // method of the request
	Code    int64
	Message string
	Data    json.RawMessage // nil without data
}

// Error returns the method of the request with the client's message and code.
func (e *ClientError) Error() string {
	return fmt.Sprintf("%s: the client answered: %s (%d)", e.Method, e.Message, e.Code)
}

// Ask is one question to a client, for [RequestInfo.AskAll]. Create it with [AskElicit], [AskCreateMessage] or
// [AskListRoots].
//
// The key identifies the question among all questions of one request. If the key is empty, the server derives a key
// from the content of the question, so that an answer belongs to exactly one question. A handler that asks different
// questions in different runs must set the keys. If one run of a handler uses a key twice, the server appends a number
// to the second key.
type Ask struct {
	key      string
	question question
}

// question is a question to a client: an elicitation, a request to sample or a request for the roots.
type question interface {
	Method() string
	// check returns an error if the question itself is invalid.
	check() error
	// missing adds to need the required capabilities that declared lacks, and reports whether there are any.
	missing(v mcp.Version, declared, need *mcp.ClientCapabilities) bool
	// params returns the params for a client of revision v.
	params(v mcp.Version, declared *mcp.ClientCapabilities) (any, error)
	// Take validates an answer and stores it. ctx bounds the validation. Take may be called again.
	Take(ctx context.Context, answer json.RawMessage) error
}

// AskAll asks the client that sent the request several questions at once, and returns when all answers have arrived.
// [RequestInfo.Elicit], [RequestInfo.CreateMessage] and [RequestInfo.ListRoots] ask a single question each.
//
// A client of a revision before 2026-07-28 gets requests, on the connection or stream on which the client waits for
// the answer to its own request. AskAll waits for the answers until ctx ends, and then cancels the requests. If the
// client refuses a request, AskAll returns a [*ClientError].
//
// A modern client gets the questions in the result of its own request, and then sends the request again with the
// answers. AskAll therefore returns an error that wraps [ErrInputRequired], unless the request already has all
// answers. The handler returns this error. When the answers have arrived, the server calls the handler again from
// its beginning, with the answers of all rounds so far. The handler wraps side effects that must happen only once
// in [Once]. Between the rounds, the client keeps the answers and results, encrypted: see [Options.StateKeys]. Only
// tools, prompts and resources can ask modern clients.
//
// AskAll returns [ErrUnsupported] if one of the questions cannot be asked, and for a nil *RequestInfo. An invalid
// answer is also an error; a modern client gets this error as -32602. AskAll may be called from several goroutines.
// (specification 2026-07-28, basic/patterns/mrtr; 2025-11-25, client)
func (r *RequestInfo) AskAll(ctx context.Context, asks ...*Ask) error {
	if r == nil || r.call == nil {
		return fmt.Errorf("%w: no request is being handled", ErrUnsupported)
	}
	return r.call.ask(ctx, asks)
}

// ask takes the answers that the client has already sent, and asks the client the other questions.
func (c *call) ask(ctx context.Context, asks []*Ask) error {
	if err := c.canAsk(); err != nil {
		return err
	}
	items, err := inquiries(&c.info.from, c.info.Version, asks)
	if err != nil {
		return err
	}
	left, err := c.rounds.take(ctx, c, items)
	switch {
	case err != nil || len(left) == 0:
		return err
	}
	task, err := taskOf(ctx)
	switch {
	case err != nil:
		return err
	case task != nil:
		return askIn(ctx, task, left)
	case !c.modern():
		return c.inquireAll(ctx, left)
	}
	return c.rounds.require(left)
}

// modern reports whether the client is of the modern era.
func (c *call) modern() bool { return c.info.Version.Era() == mcp.Modern }

// canAsk returns an error if the client cannot be asked during this request.
func (c *call) canAsk() error {
	switch {
	case c.modern() && !asksInResult(c.info.Method):
		return fmt.Errorf("%w: revision %s allows no questions during %s", ErrUnsupported, c.info.Version, c.info.Method)
	case c.modern():
		return nil
	case c.x.conn != nil && !c.x.Terms.Confirmed.Load():
		return errUnconfirmed
	case c.method.inline:
		return fmt.Errorf("%w: the server reads no messages from it until it has answered %s", ErrUnsupported,
			c.info.Method)
	}
	if c.x.conn == nil || !c.Out.Reach().Asks {
		return fmt.Errorf("%w: this request came in a batch or without a session, so the server cannot send requests back",
			ErrUnsupported)
	}
	return nil
}

// errUnconfirmed is the error for a legacy client that must not get requests yet.
// (specification 2025-11-25, basic/lifecycle, "Initialization")
var errUnconfirmed = fmt.Errorf("%w: it has not sent %s yet", ErrUnsupported, mcp.NotificationInitialized)

// asksInResult reports whether a modern server may ask questions in the result of the method.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests")
func asksInResult(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodGetPrompt || method == mcp.MethodReadResource
}

// inquiry is an Ask that has been encoded for the client of one request.
type inquiry struct {
	question
	key     string          // unique after rounds.take
	encoded json.RawMessage // params; nil without params
}

// inquiries encodes asks for revision v. It returns an error if the client cannot be asked.
func inquiries(from *engine.Sender, v mcp.Version, asks []*Ask) ([]*inquiry, error) {
	declared := from.Declared()
	var need mcp.ClientCapabilities
	items := make([]*inquiry, len(asks))
	for i, a := range asks {
		q := a.question
		if err := q.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Method(), err)
		}
		if q.missing(v, &declared, &need) {
			continue
		}
		encoded, err := encodedParams(q, v, &declared)
		if err == nil {
			items[i] = &inquiry{question: q, encoded: encoded}
			items[i].key, err = keyOf(a, &declared)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Method(), err)
		}
	}
	for i, it := range items {
		if it == nil {
			return nil, undeclared(v, asks[i].question.Method(), need)
		}
	}
	return items, nil
}

// undeclared returns the error for capabilities that the client has not declared.
func undeclared(v mcp.Version, method string, need mcp.ClientCapabilities) error {
	names, err := json.Marshal(need)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%s: %w: it has not declared %s", method, ErrUnsupported, names)
	if v.Era() != mcp.Modern {
		return err
	}
	return missingCapability(need, err)
}

// encodedParams returns the params of a question, encoded for revision v. It returns nil if the question has no
// params.
func encodedParams(q question, v mcp.Version, declared *mcp.ClientCapabilities) (json.RawMessage, error) {
	params, err := q.params(v, declared)
	if params == nil || err != nil {
		return nil, err
	}
	if err := given.Check(params); err != nil {
		return nil, err
	}
	return mcp.AppendParams(nil, params)
}

// keyOf returns the key that the user set, or else a key derived from the params. The derivation always encodes the
// params for the newest revision, so that the key does not depend on the client's revision.
func keyOf(a *Ask, declared *mcp.ClientCapabilities) (string, error) {
	if a.key != "" {
		return a.key, nil
	}
	words, err := encodedParams(a.question, mcp.SupportedVersions()[0], declared)
	kind := keyKinds[a.question.Method()]
	if words == nil || err != nil {
		return kind, err
	}
	sum := sha256.Sum256(words)
	return kind + "-" + hex.EncodeToString(sum[:8]), nil
}

var keyKinds = map[string]string{mcp.MethodElicit: "elicit", mcp.MethodCreateMessage: "sample",
	mcp.MethodListRoots: "roots"}
