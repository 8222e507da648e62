package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/clientinput"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// Elicit asks the user of the client for input, in a form or at a URL. It is like [RequestInfo.AskAll] with a
// single question.
//
// The RequestedSchema of a form is a flat object: see [mcp.FormSchema]. [FormOf] makes such a schema from a struct.
// Elicit checks accepted content against the schema. It rejects an empty message, and keywords and formats that the
// specification does not allow in forms. A form must not ask for secrets. Revisions before 2025-11-25 have defaults
// only for booleans, so Elicit removes all other defaults for them. They also lack fields in which the user selects
// several values: for such a field, Elicit returns [ErrUnsupported].
//
// A URL must be https, or http to the local machine. The URL must be useless to anyone but the user and must not
// contain private data. The server behind the URL must verify that the visitor is this user. By accepting, the user
// only agrees to open the URL; the server behind the URL learns what the user does there. See
// [Server.ElicitationComplete]. Elicit does not send p.Task, and generates a missing ElicitationID. (specification
// 2026-07-28, client/elicitation)
func (r *RequestInfo) Elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	result := new(mcp.ElicitResult)
	if err := r.AskAll(ctx, AskElicit("", p, result)); err != nil {
		return nil, err
	}
	return result, nil
}

// AskElicit returns an [Ask] with the question of [RequestInfo.Elicit]. The server stores the answer in result,
// unless result is nil.
func AskElicit(key string, p *mcp.ElicitParams, result *mcp.ElicitResult) *Ask {
	return &Ask{key, &elicitQuestion{asked: p, result: result}}
}

type elicitQuestion struct {
	asked  *mcp.ElicitParams
	result *mcp.ElicitResult
	raw    *json.RawMessage // receives the accepted content as the client sent it; nil if not needed
	form   *schema.Schema   // nil for a URL
}

func (*elicitQuestion) Method() string { return mcp.MethodElicit }

func (q *elicitQuestion) check() error {
	switch p := q.asked; {
	case p == nil:
		return errors.New("no params")
	case strings.TrimSpace(p.Message) == "":
		return errors.New("no message")
	case p.Mode == mcp.ElicitURL:
		return checkURL(p)
	case p.Mode != "" && p.Mode != mcp.ElicitForm:
		return fmt.Errorf("unknown mode %q", p.Mode)
	}
	if q.asked.RequestedSchema == nil {
		return errors.New("requestedSchema: missing")
	}
	var err error
	if q.form, err = schema.CompileForm(q.asked.RequestedSchema); err != nil {
		return fmt.Errorf("requestedSchema: %w", err)
	}
	if err = clientinput.CheckForm(q.asked.RequestedSchema); err != nil {
		return fmt.Errorf("requestedSchema: %w", err)
	}
	return nil
}

func checkURL(p *mcp.ElicitParams) error {
	if err := clientinput.CheckVisitSize(p); err != nil {
		return err
	}
	u, err := url.Parse(p.URL)
	if err == nil {
		err = clientinput.CheckVisit(u)
	}
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

// missing treats an elicitation capability without members as support for forms.
func (q *elicitQuestion) missing(_ mcp.Version, declared, need *mcp.ClientCapabilities) bool {
	e := declared.Elicitation
	byURL := q.asked.Mode == mcp.ElicitURL
	switch {
	case e != nil && byURL && e.URL != nil:
		return false
	case e != nil && !byURL && (e.Form != nil || e.URL == nil):
		return false
	}
	if need.Elicitation == nil {
		need.Elicitation = &mcp.ElicitationCapability{}
	}
	if byURL {
		need.Elicitation.URL = mcp.Object{}
	} else {
		need.Elicitation.Form = mcp.Object{}
	}
	return true
}

func (q *elicitQuestion) params(v mcp.Version, _ *mcp.ClientCapabilities) (any, error) {
	shown := *q.asked
	shown.Task = nil
	if v.Era() == mcp.Modern {
		shown.Meta, shown.ElicitationID = nil, ""
	}
	switch {
	case v < mcp.Version20250618:
		return nil, fmt.Errorf("%w: revision %s has no elicitation", ErrUnsupported, v)
	case q.asked.Mode == mcp.ElicitURL && v < mcp.Version20251125:
		return nil, fmt.Errorf("%w: revision %s has no URL mode", ErrUnsupported, v)
	case q.asked.Mode == mcp.ElicitURL:
		shown.RequestedSchema = nil
		if v == mcp.Version20251125 && shown.ElicitationID == "" {
			shown.ElicitationID = rand.Text()
		}
		return &shown, nil
	}
	shown.URL, shown.ElicitationID = "", ""
	if v >= mcp.Version20251125 {
		return &shown, nil
	}
	shown.Mode = ""
	var err error
	shown.RequestedSchema, err = oldForm(shown.RequestedSchema, v)
	return &shown, err
}

func (q *elicitQuestion) Take(ctx context.Context, answer json.RawMessage) error {
	var taken mcp.ElicitResult
	if err := given.Decode(answer, &taken); err != nil {
		return err
	}
	switch taken.Action {
	case mcp.ElicitAccept:
	case mcp.ElicitDecline, mcp.ElicitCancel:
		taken.Content = nil
	default:
		return fmt.Errorf("unknown action %q", taken.Action)
	}
	if q.form != nil && taken.Action == mcp.ElicitAccept {
		content, ok := mcp.Object(answer).Lookup("content")
		if !ok || string(content) == "null" {
			content = json.RawMessage("{}")
		}
		if err := q.form.Validate(ctx, content); err != nil {
			return fmt.Errorf("content: %w", err)
		}
		if q.raw != nil {
			*q.raw = content
		}
	}
	if q.result != nil {
		*q.result = taken
	}
	return nil
}
