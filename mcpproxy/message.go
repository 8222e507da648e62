package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// hostMessage is the policy's interpretation of a host's request or notification. All rules use the same
// interpretation: the rules for tools, for redaction and for counting.
type hostMessage struct {
	tool string // the called tool, for tools/call; empty for any other method
	args []span // values in params that [Redaction.Arguments] covers
}

// span is the range params[start:end] of a value.
type span struct{ start, end int }

// readMembers lists the members of params that the protocol defines, for the methods that a policy reads.
var readMembers = map[string][]string{
	mcp.MethodCallTool:  {"name", "arguments", "task", "inputResponses", "requestState", "_meta"},
	mcp.MethodGetPrompt: {"name", "arguments", "inputResponses", "requestState", "_meta"},
	mcp.MethodComplete:  {"ref", "argument", "context", "_meta"},
}

// readHostMessage reads a message of a host. It rejects params that two readers may interpret differently, because a
// member of the protocol is duplicated or has the wrong letter case.
func readHostMessage(m relay.Message) (read hostMessage, err error) {
	members := readMembers[m.Method]
	if members == nil {
		return read, nil
	}
	seen := make([]bool, len(members))
	o := jsonscan.ObjectAt(m.Params, 0)
	for o.Next() {
		i, is := known(o.Key(), members)
		if !is {
			continue
		}
		switch key := string(o.Key()); {
		case key != members[i]:
			return read, ambiguous("member %q has the wrong letter case, want %q", shown(key), members[i])
		case seen[i]:
			return read, ambiguous("member %q occurs twice", members[i])
		}
		seen[i] = true
		raw := o.Raw()
		switch at := o.At(); members[i] {
		case "name":
			if m.Method == mcp.MethodCallTool {
				_, _ = mcp.Decode(raw, &read.tool) // a name that is not a string counts as missing
			}
		case "arguments", "argument", "context":
			read.args = append(read.args, span{at, at + len(raw)})
		}
	}
	if m.Method == mcp.MethodCallTool && (read.tool == "" || strings.ContainsRune(read.tool, 0)) {
		read.tool = ""
		return read, ambiguous("the name of the tool must occur once, without a NUL character")
	}
	return read, nil
}

// ambiguous returns the error for params that the policy cannot interpret.
func ambiguous(format string, args ...any) error {
	return &mcp.Error{
		Code: mcp.CodeInvalidParams, Message: "the proxy's policy cannot read the params: " + fmt.Sprintf(format, args...),
	}
}

// known returns the index of the member that a reader may recognize in this key. It returns false if there is none.
// Some readers ignore case, and some end a text at NUL.
func known(key []byte, members []string) (i int, is bool) {
	key, _, _ = bytes.Cut(key, []byte{0})
	i = slices.IndexFunc(members, func(name string) bool { return bytes.EqualFold(key, []byte(name)) })
	return i, i >= 0
}

// isRequest reports whether any revision of the protocol has a request with this method.
func isRequest(method string) bool {
	for m := range mcp.Methods() {
		if m.Name == method && m.Kind == mcp.KindRequest {
			return true
		}
	}
	return false
}

// isProtocol reports whether any revision of the protocol has a message with this method.
func isProtocol(method string) bool {
	for m := range mcp.Methods() {
		if m.Name == method {
			return true
		}
	}
	return false
}

// sharable reports whether a message with this method may be sent to a server that hosts without sessions share. A
// message that changes the state of a session would affect all of these hosts; only older revisions have such messages.
// A request without an id is invalid in every revision.
func sharable(method string, notification bool) bool {
	if notification && isRequest(method) {
		return false
	}
	m, is := mcp.Lookup(method, mcp.Version20260728)
	return is && m.Sender&mcp.FromClient != 0 || !isProtocol(method)
}

// redactArguments returns params in which the values that [Redaction.Arguments] covers are redacted, and the number of
// replacements.
func (r *secrets) redactArguments(params json.RawMessage, read hostMessage, method string) (json.RawMessage, int) {
	w := rewriter{from: params}
	replaced := 0
	for _, s := range read.args {
		raw := params[s.start:s.end]
		redacted, n := r.redact(raw, part{})
		if method == mcp.MethodComplete {
			if value, hidden := r.completed(redacted, redactedLimit(len(raw))); hidden > 0 {
				redacted, n = value, n+hidden
			}
		}
		if n > 0 {
			w.replace(s.start, s.end, redacted)
			replaced += n
		}
	}
	return w.result(), replaced
}

// completed redacts the argument of completion/complete, except its name, if the name is a key. limit is the limit of
// [rewriter.hide].
func (r *secrets) completed(argument json.RawMessage, limit int) (redacted json.RawMessage, replaced int) {
	isName := func(key []byte) bool { _, is := known(key, []string{"name"}); return is }
	secret := false
	for o := jsonscan.ObjectAt(argument, 0); o.Next(); {
		var name string
		if isName(o.Key()) {
			_, _ = mcp.Decode(o.Raw(), &name) // a name that is not a string is not a key
			secret = secret || r.hasKey([]byte(name))
		}
	}
	if !secret {
		return argument, 0
	}
	w := rewriter{from: argument, limit: limit}
	for o := jsonscan.ObjectAt(argument, 0); o.Next(); {
		if isName(o.Key()) {
			continue
		}
		at := o.At()
		if raw := o.Raw(); !r.isHidden(raw) {
			w.hide(at, at+len(raw), r.quoted, `""`)
			replaced++
		}
	}
	return w.result(), replaced
}

// forTape returns a message of a host for the recording. It changes only requests for completions: it omits ambiguous
// params, and redacts the text to complete if its argument is named like a redacted key.
func (t *tape) forTape(m relay.Message) relay.Message {
	if t == nil || m.Method != mcp.MethodComplete {
		return m
	}
	if read, err := readHostMessage(m); err != nil {
		m.Params = nil
	} else {
		m.Params, _ = t.secrets.redactArguments(m.Params, read, m.Method)
	}
	return m
}
