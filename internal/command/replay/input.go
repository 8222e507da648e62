package replay

import (
	"encoding/json"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// A server of 2026-07-28 asks the host in results, under keys that it makes up (inputRequests), and the host answers
// under these keys in its next request (inputResponses). So the answers of a recording go out under the keys of now.

// question is one of what a server asks for in a result. Its text is that of its JSON as a value.
type question struct{ key, method, text string }

// questionsIn returns what a result asks for, in its order.
func questionsIn(result json.RawMessage) (all []question) {
	for key, asked := range mcp.Object(lookup(result, []string{"inputRequests"})).All() {
		q := question{key: key, text: recording.Text(recording.ValueOf(asked))}
		_, _ = mcp.Object(asked).Decode("method", &q.method) // of another type it is none
		all = append(all, q)
	}
	return all
}

// questions are what a server asks for, by what joins a result and the request with the answers.
type questions map[string][]question

// note notes what a result asks for. A task says again what is still open, and may say less than is being answered.
func (q questions) note(method string, params, result json.RawMessage) {
	about := joined(method, params, result)
	all := questionsIn(result)
	if taskOf(result) == "" {
		q[about] = all
		return
	}
	for _, one := range all {
		same := func(before question) bool { return before.key == one.key }
		q[about] = append(slices.DeleteFunc(q[about], same), one)
	}
}

// joined returns what joins a result that asks, and a request that answers: the id of a task, or else the state that
// the request repeats. Without either it is the request itself. content is the result, or the params that answer.
func joined(method string, params, content json.RawMessage) string {
	if id := taskOf(content); id != "" {
		return "task " + id
	}
	if state := lookup(content, []string{"requestState"}); state != nil {
		return "state " + string(state)
	}
	v := recording.ValueOf(params)
	if o, ok := v.(map[string]any); ok {
		delete(o, "inputResponses")
		delete(o, "requestState")
	}
	return method + " " + recording.Text(v)
}

// paired returns by which key the server now asks for what it has asked for by another one. Of questions of one method,
// those with the same content belong together, then those with the same key, and then those in the same place.
func paired(was, now []question) map[string]string {
	keys := map[string]string{}
	for _, alike := range []func(q question) question{
		func(q question) question { return q },
		func(q question) question { return question{"", q.method, q.text} },
		func(q question) question { return question{q.key, q.method, ""} },
		func(q question) question { return question{"", q.method, ""} },
	} {
		waiting := map[question][]string{}
		for _, q := range now {
			waiting[alike(q)] = append(waiting[alike(q)], q.key)
		}
		taken := map[string]bool{}
		was = slices.DeleteFunc(slices.Clone(was), func(q question) bool {
			same := waiting[alike(q)]
			if len(same) == 0 {
				return false
			}
			keys[q.key], taken[same[0]] = same[0], true
			waiting[alike(q)] = same[1:]
			return true
		})
		now = slices.DeleteFunc(slices.Clone(now), func(q question) bool { return taken[q.key] })
	}
	return keys
}

// renamed returns params with the host's answers under the keys by which the server asks for them now. Answers to what
// it does not ask for are left out. If it asks for nothing that is known, they stay as they are.
func renamed(params json.RawMessage, was, now []question) json.RawMessage {
	answers := lookup(params, []string{"inputResponses"})
	if answers == nil || len(now) == 0 {
		return params
	}
	keys := paired(was, now)
	text := []byte{'{'}
	for key, answer := range mcp.Object(answers).All() {
		current, asked := keys[key]
		if !asked {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(jsonscan.AppendString(text, current), ':'), answer...)
	}
	return recording.Replace(params, append(text, '}'), "inputResponses")
}
