package replay

import (
	"encoding/json"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// A server of 2026-07-28 requests input in a result, under keys of its choice (inputRequests). The host responds under
// the same keys in its next request (inputResponses). A replayed response therefore needs the keys of the current run.

// inputRequest is one input request of a result. text is its canonical JSON.
type inputRequest struct{ key, method, text string }

// inputRequestsOf returns the input requests of a result, in order.
func inputRequestsOf(result json.RawMessage) (all []inputRequest) {
	for key, request := range mcp.Object(lookup(result, []string{"inputRequests"})).All() {
		q := inputRequest{key: key, text: recording.Text(recording.ValueOf(request))}
		_, _ = mcp.Object(request).Decode("method", &q.method) // ignores a method of another type
		all = append(all, q)
	}
	return all
}

// openInputs are the open input requests of a server, by the key of the responding request: see joinKey.
type openInputs map[string][]inputRequest

// add adds the input requests of a result. A task repeats its open input requests in each result, but may omit requests
// that the host is already answering. So add keeps earlier requests.
func (q openInputs) add(method string, params, result json.RawMessage) {
	key := joinKey(method, params, result)
	all := inputRequestsOf(result)
	if taskOf(result) == "" {
		q[key] = all
		return
	}
	for _, one := range all {
		same := func(before inputRequest) bool { return before.key == one.key }
		q[key] = append(slices.DeleteFunc(q[key], same), one)
	}
}

// joinKey returns the same key for a result with input requests and for the request that responds: the task id, or else
// the requestState, or else the request itself. content is the result, or the params of the responding request.
func joinKey(method string, params, content json.RawMessage) string {
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

// pairKeys maps the recorded keys of input requests to the current keys. Among input requests of the same method it
// pairs input requests with equal content first, then with equal keys, then in the same place.
func pairKeys(was, now []inputRequest) map[string]string {
	keys := map[string]string{}
	for _, alike := range []func(q inputRequest) inputRequest{
		func(q inputRequest) inputRequest { return q },
		func(q inputRequest) inputRequest { return inputRequest{"", q.method, q.text} },
		func(q inputRequest) inputRequest { return inputRequest{q.key, q.method, ""} },
		func(q inputRequest) inputRequest { return inputRequest{"", q.method, ""} },
	} {
		unpaired := map[inputRequest][]string{}
		for _, q := range now {
			unpaired[alike(q)] = append(unpaired[alike(q)], q.key)
		}
		taken := map[string]bool{}
		was = slices.DeleteFunc(slices.Clone(was), func(q inputRequest) bool {
			same := unpaired[alike(q)]
			if len(same) == 0 {
				return false
			}
			keys[q.key], taken[same[0]] = same[0], true
			unpaired[alike(q)] = same[1:]
			return true
		})
		now = slices.DeleteFunc(slices.Clone(now), func(q inputRequest) bool { return taken[q.key] })
	}
	return keys
}

// rekeyed returns params whose input responses have the current keys. It removes responses to input requests that the
// server no longer makes. If the server has no known input requests, params stay unchanged.
func rekeyed(params json.RawMessage, was, now []inputRequest) json.RawMessage {
	responses := lookup(params, []string{"inputResponses"})
	if responses == nil || len(now) == 0 {
		return params
	}
	keys := pairKeys(was, now)
	text := []byte{'{'}
	for key, response := range mcp.Object(responses).All() {
		current, open := keys[key]
		if !open {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(jsonscan.AppendString(text, current), ':'), response...)
	}
	return recording.Replace(params, append(text, '}'), "inputResponses")
}
