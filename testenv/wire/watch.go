package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// Side is the sender of a message.
type Side uint8

// The sides of a conversation.
const (
	Client Side = iota
	Server
)

func (s Side) String() string { return [...]string{"client", "server"}[s] }

// Watch validates the messages of one conversation against the schema of their revision, which it derives from the
// messages. It is safe for concurrent use; a response must come after its request.
type Watch struct {
	schemas *Schemas

	mu      sync.Mutex
	agreed  mcp.Version               // guarded by mu; revision of the session, set by the answer to initialize
	waiting [2]map[string]waitingCall // guarded by mu; unanswered requests of each side, by id
	checked int                       // guarded by mu; number of validated messages
}

// waitingCall is an unanswered request.
type waitingCall struct {
	method  string
	version mcp.Version
	task    bool // the request asks for a task of 2025-11-25
}

// NewWatch returns a Watch for a new conversation.
func (s *Schemas) NewWatch() *Watch {
	return &Watch{schemas: s, waiting: [2]map[string]waitingCall{{}, {}}}
}

// Checked returns the number of validated messages.
func (w *Watch) Checked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checked
}

// frame has the members of a message that Watch reads.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version mcp.Version `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Version mcp.Version     `json:"protocolVersion"` // parameter of initialize
		Task    json.RawMessage `json:"task"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int64 `json:"code"`
	} `json:"error"`
}

// Message validates one message, or a batch of messages.
func (w *Watch) Message(from Side, text []byte) error {
	var batch []json.RawMessage
	if json.Unmarshal(text, &batch) == nil {
		var all []error
		for _, one := range batch {
			all = append(all, w.Message(from, one))
		}
		return errors.Join(all...)
	}
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("%s: %w: %s", from, err, text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.check(from, &f, text); err != nil {
		return fmt.Errorf("%s: %w: %s", from, err, text)
	}
	return nil
}

// check validates a message. The caller holds mu.
func (w *Watch) check(from Side, f *frame, text []byte) error {
	if f.Method == "" {
		return w.answer(from, f, text)
	}
	v := w.version(f)
	if f.ID != nil {
		w.waiting[from][string(f.ID)] = waitingCall{f.Method, v, f.Params.Task != nil}
	}
	r, name := w.schemas.of[v], "JSONRPCNotification"
	if r == nil {
		return nil // an unsupported revision was requested, or none has been agreed on
	}
	if f.ID != nil {
		name = "JSONRPCRequest"
	}
	if known, ok := r.requests[f.Method]; ok {
		name = known
	}
	w.checked++
	return r.check(name, text)
}

// version returns the revision of a request or notification. The caller holds mu.
func (w *Watch) version(f *frame) mcp.Version {
	switch {
	case f.Method == mcp.MethodInitialize:
		return f.Params.Version
	case f.Params.Meta.Version != "":
		return f.Params.Meta.Version
	case w.agreed != "":
		return w.agreed
	}
	return mcp.Version20260728 // notification in a conversation without sessions
}

// answer validates a response. The caller holds mu.
func (w *Watch) answer(from Side, f *frame, text []byte) error {
	asker := Server
	if from == Server {
		asker = Client
	}
	call, known := w.waiting[asker][string(f.ID)]
	delete(w.waiting[asker], string(f.ID))
	if f.Error != nil {
		return w.failure(call.version, f.Error.Code, text)
	}
	if !known {
		return fmt.Errorf("answers no request")
	}
	if call.method == mcp.MethodInitialize {
		var result mcp.InitializeResult
		if json.Unmarshal(f.Result, &result) == nil {
			call.version, w.agreed = result.ProtocolVersion, result.ProtocolVersion
		}
	}
	r := w.schemas.of[call.version]
	if r == nil {
		return nil
	}
	w.checked++
	if err := r.check(first(r, "JSONRPCResultResponse", "JSONRPCResponse"), text); err != nil {
		return err
	}
	if name := r.resultOf(call, f.Result); name != "" {
		return r.check(name, f.Result)
	}
	return nil
}

// failure validates an error response. The caller holds mu.
func (w *Watch) failure(v mcp.Version, code int64, text []byte) error {
	r := w.schemas.of[v]
	if r == nil {
		return nil
	}
	name, ok := r.errors[code]
	if !ok || !strings.HasSuffix(name, "Error") {
		name = first(r, "JSONRPCErrorResponse", "JSONRPCError")
	}
	w.checked++
	return r.check(name, text)
}

// resultOf returns the name of the definition for the result of a call. It returns "" if the schema has none, as for
// the result of an extension.
func (r *revision) resultOf(call waitingCall, result json.RawMessage) string {
	var typed struct {
		Type mcp.ResultType  `json:"resultType"`
		Task json.RawMessage `json:"task"`
	}
	if json.Unmarshal(result, &typed) == nil {
		switch {
		case typed.Type == mcp.ResultInputRequired:
			return "InputRequiredResult"
		case typed.Type == mcp.ResultTask:
			return ""
		case call.task && typed.Task != nil:
			return "CreateTaskResult"
		}
	}
	request, ok := r.requests[call.method]
	if !ok {
		return ""
	}
	return first(r, strings.TrimSuffix(request, "Request")+"Result", "EmptyResult")
}

// first returns the first name that has a definition.
func first(r *revision, names ...string) string {
	for _, name := range names {
		if r.has(name) {
			return name
		}
	}
	return ""
}
