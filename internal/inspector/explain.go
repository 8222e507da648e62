package inspector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/explain"
)

const explainDescription = "Explain why a call failed, or where its time went: the cause, its evidence, and what to " +
	"do next. Pass the id of a trace, or the name of a tool for its last failure; add the name of the client if several " +
	"clients have such a tool."

type explainArguments struct {
	TraceID string `json:"trace_id,omitempty" jsonschema:"id of the trace, or correlation id of the call"`
	Tool    string `json:"tool,omitempty" jsonschema:"instead of trace_id: explain the last failure of this tool"`
	Peer    string `json:"peer,omitempty" jsonschema:"in place of trace_id: the last failure of this client or server"`
}

// explanation is the answer of the tool explain.
type explanation struct{ explain.Explanation }

func (x *explanation) text() string { return x.String() }

func (in *inspector) explain(ctx context.Context, a explainArguments) (*explanation, error) {
	id := a.TraceID
	if id == "" {
		last, missing, err := in.lastFailure(ctx, a)
		if err != nil {
			return nil, err
		}
		if id = last.facts.TraceID; id == "" {
			last.facts.Missing = append(missing, last.facts.Missing...)
			return &explanation{*explain.Explain(&last.facts)}, nil
		}
	}
	id, ok := hexadecimal(id)
	if !ok {
		return nil, errors.New("trace_id must have at most 32 hexadecimal digits; recent_traces lists the ids of failed " +
			"calls")
	}
	f := in.facts(ctx, id)
	return &explanation{*explain.Explain(&f)}, nil
}

// alone returns the facts of an entry without a trace or a correlation id.
func alone(h *happening, missing []string) explain.Facts {
	missing = append(missing, "a trace: the program records no traces, so only one side of the call is known")
	return explain.Facts{Peers: []explain.Peer{*h.peer}, Alone: h.entry, Missing: missing}
}

// lastFailure returns the latest failed operation that matches the arguments.
func (in *inspector) lastFailure(ctx context.Context, a explainArguments) (*call, []string, error) {
	found, missing := in.calls(ctx, filter{peer: a.Peer, tool: a.Tool, failed: true}, 1)
	if len(found) > 0 {
		return &found[0], missing, nil
	}
	what := "no failure"
	if a.Tool != "" {
		what += fmt.Sprintf(" of the tool %q", line(a.Tool))
	}
	if a.Peer != "" {
		what += fmt.Sprintf(" of %q", line(a.Peer))
	}
	return nil, nil, errors.New(strings.TrimSpace(what + " is recorded; recent_traces lists the recorded failures. " +
		notes(missing)))
}

// hexadecimal parses an id in upper or lower case.
func hexadecimal(text string) (id string, ok bool) {
	id = strings.ToLower(strings.TrimSpace(text))
	if id == "" || len(id) > 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	return strings.Repeat("0", 32-len(id)) + id, true
}
