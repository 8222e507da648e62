package instrument

import "github.com/mcpotel/mcpotel/internal/instrument/words"

// TargetKind says what a request is aimed at, and so which attribute names the target.
type TargetKind uint8

const (
	NoTarget TargetKind = iota
	Tool                // gen_ai.tool.name
	Prompt              // gen_ai.prompt.name
)

// MessageKind is the kind of a JSON-RPC message.
type MessageKind uint8

const (
	KindRequest MessageKind = iota
	KindResponse
	KindError
	KindNotification
)

// String returns the word that telemetry has for k.
func (k MessageKind) String() string { return words.MessageKinds[k] }

// resultInputRequired is the type of a result that asks the client for something. (specification 2026-07-28,
// basic/patterns/mrtr)
const resultInputRequired = "input_required"

// resultTask is the type of a result that is a task, which goes on. (tasks extension)
const resultTask = "task"
