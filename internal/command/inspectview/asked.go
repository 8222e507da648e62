package inspectview

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/toolform"
	"github.com/mcpotel/mcpotel/mcp"
)

// asked is an open question as a page shows it.
type asked struct {
	ID       int
	At       time.Time
	Kind     string // form, url or sampling
	Message  string
	URL      string
	Host     string
	Warning  string
	System   string // the system prompt of sampling
	Messages []block
	Form     formPage
	Call     int // the operation whose page shows the question; 0 for none
}

// asked returns the open questions, for links to them.
func (s *Session) asked() (all []asked) {
	for _, q := range s.questions.open() {
		a := asked{ID: q.ID}
		switch {
		case q.Form != nil:
			a.Message = q.Form.Message
		case q.URL != nil:
			a.Message = q.URL.Message
		default:
			a.Message = "a message of a model"
		}
		a.Message = cut(maxName, a.Message)
		all = append(all, a)
	}
	return all
}

func askedOf(q *question, v url.Values, wrong map[string]error) asked {
	a := asked{ID: q.ID, At: q.Time}
	switch {
	case q.Form != nil:
		a.Kind, a.Message = "form", cut(10*maxText, q.Form.Message)
		a.Form = formPage{Fields: toolform.Of(q.Form.RequestedSchema).Fields(v, wrong), Whole: true}
	case q.URL != nil:
		a.Kind, a.Message, a.URL, a.Host = "url", cut(10*maxText, q.URL.Message), q.URL.URL.String(), q.URL.URL.Host
		a.Warning = cut(maxText, q.URL.Warning)
	case q.Sampling != nil:
		a.Kind, a.System = "sampling", cut(10*maxText, q.Sampling.SystemPrompt)
		for _, m := range q.Sampling.Messages[:min(len(q.Sampling.Messages), maxBlocks)] {
			for _, c := range m.Content {
				b := blockOf(c)
				b.Label = strings.TrimSpace(cut(maxName, string(m.Role)) + " " + b.Label)
				a.Messages = append(a.Messages, b)
			}
		}
		a.Messages = a.Messages[:min(len(a.Messages), maxBlocks)]
	}
	return a
}

func (s *Session) questionPage(w http.ResponseWriter, r *http.Request) error {
	q := s.questions.find(number(r))
	if q == nil {
		return errGone
	}
	return s.show(w, r, http.StatusOK, "question", "Question", askedOf(q, nil, nil), 0)
}

// answerQuestion handles the buttons of a question, and then returns to the page that showed it.
func (s *Session) answerQuestion(w http.ResponseWriter, r *http.Request) error {
	q := s.questions.find(number(r))
	if q == nil {
		return errGone
	}
	answer, again, err := answerOf(q, r)
	if err != nil {
		return err
	}
	if again != nil {
		return s.show(w, r, http.StatusUnprocessableEntity, "question", "Question", *again, 0)
	}
	if s.questions.take(q.ID) == nil {
		return errGone
	}
	q.answer <- answer
	http.Redirect(w, r, backTo(r), http.StatusSeeOther)
	return nil
}

// backTo returns the path of the page of an operation that showed a form, or of the calls.
func backTo(r *http.Request) string {
	if id := r.PostFormValue("call"); id != "" && strings.Trim(id, "0123456789") == "" {
		return "/calls/" + id
	}
	return "/calls"
}

// answerOf returns the answer to a question from a submitted form, or the page to show instead.
func answerOf(q *question, r *http.Request) (answer any, again *asked, err error) {
	button := r.PostForm.Get("do")
	switch {
	case q.Form != nil && button == "accept":
		return formAnswer(q, r)
	case q.Form != nil && button == "cancel":
		return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil, nil
	case q.Form != nil:
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil, nil
	case q.URL != nil && button == "accept":
		q.URL.Complete() // the person has finished there
		return mcp.ElicitAccept, nil, nil
	case q.URL != nil:
		return mcp.ElicitDecline, nil, nil
	case button == "accept":
		return message(r.PostForm.Get("text")), nil, nil
	}
	return nil, nil, nil
}

func formAnswer(q *question, r *http.Request) (answer any, again *asked, err error) {
	f := toolform.Of(q.Form.RequestedSchema)
	content, wrong := f.Arguments(r.PostForm)
	problem := ""
	if len(wrong) > 0 {
		problem = "Some answers are not valid."
	} else {
		problem = invalid(r.Context(), "The answers", q.Form.RequestedSchema, content)
	}
	if problem != "" {
		a := askedOf(q, r.PostForm, wrong)
		a.Form.Problem = problem
		return nil, &a, nil
	}
	answer, err = accept(content)
	return answer, nil, err
}
