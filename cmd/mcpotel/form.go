package main

import (
	"context"
	"errors"
	"io"

	"github.com/mcpotel/mcpotel/internal/command/question"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// Commands that a person can type instead of an answer. With a leading space, these texts are literal answers.
const (
	decline = "/no"
	cancel  = "/cancel"
)

var (
	errDeclined = errors.New("declined")
	errAgain    = errors.New("asked again from the beginning")
)

// form asks the person at the terminal the questions of a server. Without a person at the terminal it declines.
func (c *console) form(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	questions, err := question.Of(p)
	if err != nil {
		return nil, err
	}
	if !c.person {
		c.say("%s asks: %s", server, p.Message)
		c.say("declined: there is no person at a terminal to ask")
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}
	done, err := c.asks(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c.say("%s asks: %s", server, p.Message)
	c.print("  Enter accepts the [default], or skips an optional answer; " + decline + " declines, " + cancel +
		" cancels.\n")
	for {
		content, err := c.fill(ctx, questions)
		if err == nil {
			err = c.review(ctx, questions)
		}
		switch {
		case err == nil:
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
		case errors.Is(err, errDeclined):
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		case errors.Is(err, io.EOF):
			return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
		case !errors.Is(err, errAgain):
			return nil, err
		}
	}
}

// fill asks the questions. It repeats each question until the answer is valid.
func (c *console) fill(ctx context.Context, questions []*question.Question) (map[string]any, error) {
	content := map[string]any{}
	for _, q := range questions {
		c.print(q.Introduction())
		for {
			text, err := c.command(ctx, q.Prompt())
			if err != nil {
				return nil, err
			}
			value, err := q.Answer(ctx, text)
			if err == nil {
				q.Given = value
				break
			}
			c.print("  " + visible.Line(err.Error()) + "\n")
		}
		if q.Given != nil {
			content[q.Name] = q.Given
		}
	}
	return content, nil
}

// review shows the answers to the person before they are sent.
func (c *console) review(ctx context.Context, questions []*question.Question) error {
	for _, q := range questions {
		if q.Given != nil {
			c.print("  " + q.Label() + " = " + visible.Line(string(visible.JSON(q.Given))) + "\n")
		}
	}
	for {
		text, err := c.command(ctx, "Send this? (yes, no, change) [yes]: ")
		if err != nil {
			return err
		}
		switch text {
		case "", "y", "yes":
			return nil
		case "n", "no":
			return errDeclined
		case "c", "change":
			return errAgain
		}
	}
}

// command reads one line, and returns an error if the line is the command to decline or to cancel.
func (c *console) command(ctx context.Context, prompt string) (string, error) {
	text, err := c.ask(ctx, prompt)
	switch {
	case err != nil:
		return "", err
	case text == decline:
		return "", errDeclined
	case text == cancel:
		return "", io.EOF
	}
	return text, nil
}
