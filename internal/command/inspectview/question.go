package inspectview

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// maxQuestions bounds the questions that wait for an answer. More are declined.
const maxQuestions = 20

// A question is a request of the server that waits for the person. Exactly one of Form, URL and Sampling is set.
type question struct {
	ID   int
	Time time.Time

	Form     *mcp.ElicitParams
	URL      *mcpclient.URLElicitation
	Sampling *mcp.CreateMessageParams

	answer chan any // *mcp.ElicitResult, mcp.ElicitAction or *mcp.CreateMessageResult; capacity 1; nil declines
}

// questions are the open questions of a server, the oldest first.
type questions struct {
	mu    sync.Mutex
	asked int
	all   []*question
}

// features returns the features that put the requests of a server on the page.
func (q *questions) features() []mcpclient.Feature {
	return []mcpclient.Feature{
		mcpclient.UseTasks(nil),
		mcpclient.HandleElicitation(func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			answer, err := q.ask(ctx, &question{Form: p})
			if r, ok := answer.(*mcp.ElicitResult); ok {
				return r, nil
			}
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, err
		}),
		mcpclient.HandleURLElicitation(func(ctx context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
			answer, err := q.ask(ctx, &question{URL: e})
			if a, ok := answer.(mcp.ElicitAction); ok {
				return a, nil
			}
			return mcp.ElicitDecline, err
		}, nil),
		mcpclient.HandleSampling(func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			answer, err := q.ask(ctx, &question{Sampling: p})
			if r, ok := answer.(*mcp.CreateMessageResult); ok {
				return r, nil
			}
			if err == nil {
				err = errRefused
			}
			return nil, err
		}, nil),
	}
}

var errRefused = errors.New("the user has rejected the sampling request")

// ask waits until the person answers, or ctx ends.
func (q *questions) ask(ctx context.Context, one *question) (any, error) {
	one.Time, one.answer = time.Now(), make(chan any, 1)
	q.mu.Lock()
	if len(q.all) >= maxQuestions {
		q.mu.Unlock()
		return nil, nil
	}
	q.asked++
	one.ID = q.asked
	q.all = append(q.all, one)
	q.mu.Unlock()
	defer q.take(one.ID)
	select {
	case answer := <-one.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// take removes a question and returns it; nil if it no longer waits.
func (q *questions) take(id int) *question {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, one := range q.all {
		if one.ID == id {
			q.all = append(q.all[:i:i], q.all[i+1:]...)
			return one
		}
	}
	return nil
}

// find returns a question; nil if it no longer waits.
func (q *questions) find(id int) *question {
	for _, one := range q.open() {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// open returns the questions that wait.
func (q *questions) open() []*question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]*question(nil), q.all...)
}

// accept returns the result for an accepted form.
func accept(content json.RawMessage) (*mcp.ElicitResult, error) {
	r := &mcp.ElicitResult{Action: mcp.ElicitAccept}
	err := json.Unmarshal(content, &r.Content)
	return r, err
}

// message returns the result for a text that the person wrote in the place of a model.
func message(text string) *mcp.CreateMessageResult {
	return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.SamplingContent{&mcp.TextContent{Text: text}},
		Model: "person", StopReason: mcp.StopEndTurn}
}
