package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrUnsupported says that the client cannot be asked: it has not declared the capability, its revision or the request
// that is being handled does not allow it, or there is no way to reach it, as in a batch, over HTTP without a session,
// or where what it sends is not read meanwhile: in a [LevelSetter] and a [ResourceSubscriber]. So is a legacy client
// before its notifications/initialized. A handler may go on without the
// answer. If it returns the error instead, a modern client gets -32021 with the capabilities that are missing.
var ErrUnsupported = rpc.ErrUnsupported

// ErrInputRequired says that the client has to be asked first. A handler returns the error, or one that wraps it, as it
// is, and is called again when the client has answered.
var ErrInputRequired = errors.New("input required")

// ClientError is a client's answer to a request of the server: it will not, or cannot. Only clients of the revisions
// before 2026-07-28 can say so.
type ClientError struct {
	Method  string // of the request
	Code    int64
	Message string
	Data    json.RawMessage // nil for none
}

// Error says what the client has answered to which request, in its own words.
func (e *ClientError) Error() string {
	return fmt.Sprintf("%s: the client answered: %s (%d)", e.Method, e.Message, e.Code)
}

// Ask is something to ask a client for with [AskAll]. It is made by [AskElicit], [AskCreateMessage] and [AskListRoots].
//
// Its key names it among all that is asked for the sake of one request. The empty key stands for one that is made from
// what is asked, so that an answer belongs to exactly that question; a handler that does not ask in the same words each
// time it runs has to name a key. Whatever is asked again under the same key while a handler runs is another question.
type Ask struct {
	key      string
	question question
}

// question is what one kind of asking has of its own.
type question interface {
	Method() string
	// check says what is wrong with the question itself.
	check() error
	// missing adds to need what the client would have to declare besides, and reports whether there is anything.
	missing(v mcp.Version, declared, need *mcp.ClientCapabilities) bool
	// params returns the params as clients of a revision see them.
	params(v mcp.Version, declared *mcp.ClientCapabilities) (any, error)
	// Take checks an answer, as long as ctx lets it, and stores it. It may be called again.
	Take(ctx context.Context, answer json.RawMessage) error
}

// AskAll asks the client that sent the request of ctx for everything at once, and returns when all answers are there.
// [Elicit], [CreateMessage] and [ListRoots] ask for one thing each.
//
// A client of a revision before 2026-07-28 is sent requests, on the connection or the stream on which it waits for its
// own, and AskAll waits for the answers as long as ctx allows; when ctx ends, the client is told that they are not
// wanted any more. What the client refuses is a [*ClientError].
//
// A modern client is asked in the result of its own request, which it then sends again. So AskAll returns an error that
// is [ErrInputRequired] unless all answers have come with the request. The handler returns that error, and is called
// again from its beginning with the answers of all rounds so far; what must not be done again on the way, it does in a
// [Once]. Between the rounds, answers and results are kept by the client, encrypted: see [Options.StateKeys]. Only
// tools, prompts and resources can ask so.
//
// The error is [ErrUnsupported] if the client cannot be asked for one of these. An answer that does not have the form
// it should is an error, too; a modern client is told so with -32602. AskAll may be called from several goroutines.
// (specification 2026-07-28, basic/patterns/mrtr; 2025-11-25, client)
func AskAll(ctx context.Context, asks ...*Ask) error {
	r := RequestFrom(ctx)
	if r == nil || r.call == nil {
		return fmt.Errorf("%w: no request is being handled", ErrUnsupported)
	}
	return r.call.ask(ctx, asks)
}

// ask answers the asks from what the client has said, or asks it.
func (c *call) ask(ctx context.Context, asks []*Ask) error {
	if err := c.canAsk(); err != nil {
		return err
	}
	items, err := c.info.from.inquiries(c.info.Version, asks)
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

// canAsk says why the client cannot be asked anything in answer to this request.
func (c *call) canAsk() error {
	switch {
	case c.modern() && !asksInResult(c.info.Method):
		return fmt.Errorf("%w: in revision %s, %s must be answered at once", ErrUnsupported, c.info.Version, c.info.Method)
	case c.modern():
		return nil
	case c.x.conn != nil && !c.x.terms.confirmed.Load():
		return errUnconfirmed
	case c.method.inline:
		return fmt.Errorf("%w: nothing that it sends is read before %s is answered", ErrUnsupported, c.info.Method)
	}
	if c.x.conn == nil || !c.Out.Reach().Asks {
		return fmt.Errorf("%w: there is no way to send it a request: this one came in a batch, or without a session",
			ErrUnsupported)
	}
	return nil
}

// errUnconfirmed says that a legacy client is not to be sent requests yet.
// (specification 2025-11-25, basic/lifecycle, "Initialization")
var errUnconfirmed = fmt.Errorf("%w: it has not sent %s yet", ErrUnsupported, mcp.NotificationInitialized)

// asksInResult reports whether a modern server may answer the method with what it needs first.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests")
func asksInResult(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodGetPrompt || method == mcp.MethodReadResource
}

// inquiry is an Ask on its way to the client of one request.
type inquiry struct {
	question
	key     string          // unique once it has been given out by rounds.take
	encoded json.RawMessage // params, nil for none
}

// inquiries makes asks ready to be sent by a revision, or says why they cannot be.
func (c *client) inquiries(v mcp.Version, asks []*Ask) ([]*inquiry, error) {
	declared := c.declared()
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

// undeclared is the error for what a client of a revision has not declared.
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

// encodedParams returns the params of a question as clients of a revision see them, nil for none.
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

// keyOf returns the key that the user has given an ask, or one made from its words: those of the newest revision,
// whatever the client's is.
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
