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
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// Elicit asks the user of the client for something: by a form, or at a URL. It is [AskAll] for this alone.
//
// A form's RequestedSchema is a flat object, as [mcp.FormSchema] describes it; [FormOf] makes one from a struct. What
// the user accepts has been checked against it. Keywords and formats that the specification does not have for forms are
// refused, and so is an empty message. Nothing secret may be asked for by a form. Revisions before 2025-11-25 get the
// form in their words, without defaults other than those of booleans, and cannot be asked for a choice of several.
//
// A URL must be https, or http to this machine. It must be of use to the user alone and must not hold what is private,
// and where it leads, the server has to make sure that it is this user who has come. That the user accepts means no
// more than that: what is done there, the server learns there. See [Server.ElicitationComplete]. p.Task is not sent,
// and an ElicitationID made up if there is none.
// (specification 2026-07-28, client/elicitation)
func Elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	r := new(mcp.ElicitResult)
	if err := AskAll(ctx, AskElicit("", p, r)); err != nil {
		return nil, err
	}
	return r, nil
}

// AskElicit is [Elicit] as one [Ask] among others. The answer goes into result, unless that is nil.
func AskElicit(key string, p *mcp.ElicitParams, result *mcp.ElicitResult) *Ask {
	return &Ask{key, &elicitQuestion{asked: p, result: result}}
}

type elicitQuestion struct {
	asked  *mcp.ElicitParams
	result *mcp.ElicitResult
	raw    *json.RawMessage // takes the content as it came; nil if the handler does not ask for it
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
		return errors.New("requestedSchema: it is missing")
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

// missing: an elicitation capability that says nothing else means forms.
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
	if err := decodeCopy(answer, &taken); err != nil {
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
