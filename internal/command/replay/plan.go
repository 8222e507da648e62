// Package replay sends the requests of a recording to a server again. It implements "mcpotel replay". [Plan] selects
// the messages and is pure; [Run] sends them.
package replay

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// Options select tool calls. Calls of tools that the recorded server marked as read-only (annotations.readOnlyHint in
// its tools/list) are always sent.
type Options struct {
	All   bool                   // send all calls, and requests that change a task
	Allow func(tool string) bool // also send calls of these tools; nil for none
}

// Step is a message of the host, with the decision whether to send it.
type Step struct {
	*recording.Reaction
	Name string // tool, prompt or URI in the params, which the server reads
	Skip string // why the message is not sent; empty if it is sent
}

// Plan returns the messages of each session, including those to skip. It returns an error for ambiguous params, which
// servers may read differently. Plan uses the name in the params, because the server reads it, and ignores the separate
// name in the recording.
func Plan(f *recording.File, o *Options) ([][]Step, error) {
	if !f.Content {
		return nil, fmt.Errorf("the recording has no content; record again with --record-content")
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

// readOnly maps each listed tool to whether the server marked it as read-only in all lists.
func readOnly(reactions []*recording.Reaction) map[string]bool {
	safe := map[string]bool{}
	for _, r := range reactions {
		for _, s := range r.Steps {
			var list mcp.ListToolsResult
			if s.Method != mcp.MethodListTools || s.Kind != recording.Result {
				continue
			}
			if _, err := mcp.Decode(s.Content, &list); err != nil {
				continue // an invalid list marks no tool as read-only
			}
			for _, t := range list.Tools {
				a := t.Annotations
				reads := a != nil && a.ReadOnlyHint != nil && *a.ReadOnlyHint
				before, listed := safe[t.Name]
				safe[t.Name] = reads && (before || !listed) // marked in every list
			}
		}
	}
	return safe
}

// planner decides about the messages of one session, in order.
type planner struct {
	o       *Options
	safe    map[string]bool
	skipped map[string]bool // ids of tasks whose tool call is skipped
}

// changes are methods, other than tools/call, that change state of a server.
var changes = map[string]bool{mcp.MethodCancelTask: true}

// paramsMembers are the members of params that Plan, [Run] or a server reads.
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
			_, _ = mcp.Object(r.Content).Decode(member, &s.Name) // ignores a name of another type
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
		return "its params contain no tool name"
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
		return "the recording does not mark the tool as read-only"
	}
	return "the tool is not read-only"
}

// skipTask returns why a message about a task is skipped, or the empty string.
func (p *planner) skipTask(r *recording.Reaction) string {
	id := taskOf(r.Content)
	switch {
	case id == "":
		return ""
	case p.skipped[id]:
		return "its task is not started"
	case changes[r.Method] && !p.o.All:
		return "it changes a task"
	}
	return ""
}

// taskOf returns the task id in params or a result, or the empty string.
func taskOf(content []byte) (id string) {
	_, _ = mcp.Object(content).Decode("taskId", &id) // ignores an id of another type
	if id == "" {
		task, _ := mcp.Object(content).Lookup("task")
		_, _ = mcp.Object(task).Decode("taskId", &id)
	}
	return id
}
