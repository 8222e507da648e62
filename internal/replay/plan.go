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
	Skip string // why it is not sent; empty if it is
}

// Plan returns what is sent in each session, and what is not.
func Plan(f *recording.File, o *Options) ([][]Step, error) {
	if !f.Content {
		return nil, fmt.Errorf("the recording has no content: record it with --record-content")
	}
	var sessions [][]Step
	for _, reactions := range f.Reactions() {
		p := planner{o: o, safe: readOnly(reactions), skipped: map[string]bool{}}
		var steps []Step
		for _, r := range reactions {
			steps = append(steps, Step{r, p.skip(r)})
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
				safe[t.Name] = a != nil && a.ReadOnlyHint != nil && *a.ReadOnlyHint
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

func (p *planner) skip(r *recording.Reaction) string {
	if r.Method != mcp.MethodCallTool {
		return p.skipTask(r)
	}
	if p.o.All || p.safe[r.Name] || p.o.Allow != nil && p.o.Allow(r.Name) {
		return ""
	}
	for _, s := range r.Steps {
		if s.Request == r.Request && s.Kind == recording.Result {
			p.skipped[taskOf(s.Content)] = true
		}
	}
	if _, listed := p.safe[r.Name]; !listed {
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
