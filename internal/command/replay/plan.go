// Package replay makes the requests of a recording again, of another server or of the same one. It is behind
// "mcpotel replay". [Plan] says which, and is pure; [Run] makes them.
package replay

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// Options say which calls of tools are made. Calls of tools that the recorded server has called read-only
// (annotations.readOnlyHint in its tools/list) always are.
type Options struct {
	All   bool                   // make all calls
	Allow func(tool string) bool // make calls of these tools as well; nil for none
}

// Step is a message of the host, and whether it is sent.
type Step struct {
	*recording.Reaction
	Name string // of the tool or prompt, or the URI, as the params have it: the server reads this one
	Skip string // why it is not sent; empty if it is
}

// Plan returns the messages to send in each session, and those left out. Ambiguous params, which a server may read
// differently, are an error. Plan judges by the params, which are sent, and never by the name that the recording
// has beside them.
func Plan(f *recording.File, o *Options) ([][]Step, error) {
	if !f.Content {
		return nil, fmt.Errorf("the recording has no content: record it with --record-content")
	}
	var sessions [][]Step
	for _, reactions := range f.Reactions() {
		p := planner{o: o, safe: readOnly(reactions), skipped: map[string]bool{}}
		var steps []Step
		for _, r := range reactions {
			s, err := p.step(r)
			if err != nil {
				return nil, fmt.Errorf("session %d, seq %d, %s: %w", r.Session, r.Seq, r.Method, err)
			}
			steps = append(steps, s)
		}
		sessions = append(sessions, steps)
	}
	return sessions, nil
}

// readOnly returns the tools that the server has called read-only.
func readOnly(reactions []*recording.Reaction) map[string]bool {
	safe := map[string]bool{}
	for _, r := range reactions {
		for _, s := range r.Steps {
			var list mcp.ListToolsResult
			if s.Method != mcp.MethodListTools || s.Kind != recording.Result {
				continue
			}
			if _, err := mcp.Decode(s.Content, &list); err != nil {
				continue // it says of no tool that it is
			}
			for _, t := range list.Tools {
				a := t.Annotations
				reads := a != nil && a.ReadOnlyHint != nil && *a.ReadOnlyHint
				before, listed := safe[t.Name]
				safe[t.Name] = reads && (before || !listed) // in all lists
			}
		}
	}
	return safe
}

// planner decides on the messages of a session, in their order.
type planner struct {
	o       *Options
	safe    map[string]bool
	skipped map[string]bool // ids of tasks that are not begun
}

// changes are methods, other than tools/call, that change something at a server.
var changes = map[string]bool{mcp.MethodCancelTask: true}

// paramsMembers are the members of params by which Plan and [Run] decide, or which a server acts on.
var paramsMembers = []string{
	"name", "uri", "arguments", "ref", "argument", "task", "taskId", "cursor", "requestState", "inputResponses", "_meta",
}

func (p *planner) step(r *recording.Reaction) (Step, error) {
	s := Step{Reaction: r}
	if err := recording.Exact(r.Content, paramsMembers...); err != nil {
		return s, err
	}
	for _, member := range []string{"name", "uri"} {
		if s.Name == "" {
			_, _ = mcp.Object(r.Content).Decode(member, &s.Name) // of another type it is none
		}
	}
	s.Skip = p.skip(&s)
	return s, nil
}

func (p *planner) skip(s *Step) string {
	if s.Method != mcp.MethodCallTool {
		return p.skipTask(s.Reaction)
	}
	if s.Name == "" {
		return "its params name no tool"
	}
	if p.o.All || p.safe[s.Name] || p.o.Allow != nil && p.o.Allow(s.Name) {
		return ""
	}
	for _, step := range s.Steps {
		if step.Request == s.Request && step.Kind == recording.Result {
			p.skipped[taskOf(step.Content)] = true
		}
	}
	if _, listed := p.safe[s.Name]; !listed {
		return "the recording does not say that the tool only reads"
	}
	return "the tool may change something"
}

// skipTask says why a message is not sent that is about a task.
func (p *planner) skipTask(r *recording.Reaction) string {
	id := taskOf(r.Content)
	switch {
	case id == "":
		return ""
	case p.skipped[id]:
		return "its task is not begun"
	case changes[r.Method] && !p.o.All:
		return "it changes a task"
	}
	return ""
}

// taskOf returns the id of a task that params or a result have, empty for none.
func taskOf(content []byte) (id string) {
	_, _ = mcp.Object(content).Decode("taskId", &id) // of another type it is none
	if id == "" {
		task, _ := mcp.Object(content).Lookup("task")
		_, _ = mcp.Object(task).Decode("taskId", &id)
	}
	return id
}
