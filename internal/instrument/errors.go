package instrument

import (
	"strconv"
	"strings"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Result is how an operation ended. The zero Result is success.
type Result struct {
	// ErrorType is one of this package's words, or any other, such as the HTTP status ("503") if only HTTP answered; empty
	// means that of Err. If the answer has a code, only this package's words count.
	ErrorType string

	// Kind is the kind of error by which mcpclient sorts errors; empty means what follows from the rest.
	Kind string

	// Code is the code of the JSON-RPC error that is the answer, if HasCode, and Message its text.
	Code    int64
	HasCode bool
	Message string

	// Err is the error for the log, whose text appears nowhere else.
	Err error

	// Unsent says that the request cannot have made the server act, so that sending it again is safe.
	Unsent bool

	// ResultType is the type of the result, empty or complete for an ordinary one.
	ResultType string

	// ToolError says that the result is the tool's report of an error.
	ToolError bool

	// CallerLeft says that the operation ended because its caller, or the peer that asked for it, did not want it any
	// more.
	CallerLeft bool

	// Expected says that the error is an ordinary answer, such as a legacy server's to the probe. The operation succeeds
	// for every signal: no error status, no error.type on span or metric, no exception record, and no failure in the
	// flight recorder and statistics. The code of the answer stays in rpc.response.status_code. (Semantic conventions,
	// "Recording errors on spans": errors that were handled are not recorded)
	Expected bool

	// Told says that a record of something larger tells of the error, such as that of an attempt to connect: it is logged
	// at Debug.
	Told bool
}

// forgiven are the codes that are no error of a server: what the client sent was wrong. (Semantic conventions for MCP,
// error.type of a server span)
var forgiven = map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}

// isError reports whether an answer with this code is an error of the side that sent the request, or of the one that
// received it.
func isError(d telemetry.Direction, code int64) bool { return d == telemetry.Sent || !forgiven[code] }

const codeInternalError = -32603

func codeText(code int64) string {
	if text, ok := words.CodeTexts[code]; ok {
		return text
	}
	return strconv.FormatInt(code, 10)
}

// outcome is how an operation ended, as far as metrics tell it. The zero outcome is success.
type outcome struct {
	word    string // error.type if it is not the code's; _OTHER stands for the code as well
	code    int64
	hasCode bool
	failed  bool // for this side
}

func outcomeOf(d telemetry.Direction, r *Result) outcome {
	switch {
	case r.Expected && r.HasCode:
		return outcome{code: r.Code, hasCode: true}
	case r.Expected:
		return outcome{}
	case r.ToolError:
		return outcome{word: names.ErrorToolError, failed: true}
	case r.HasCode && words.ErrorWords[r.ErrorType].Word != "":
		return outcome{word: words.ErrorWords[r.ErrorType].Word, code: r.Code, hasCode: true, failed: true}
	case r.HasCode:
		return outcome{code: r.Code, hasCode: true, failed: isError(d, r.Code)}
	case r.ErrorType != "":
		return outcome{word: wordOf(r.ErrorType), failed: true}
	case r.Err != nil:
		return outcome{word: wordOf(errorTypeOf(r.Err)), failed: true}
	}
	return outcome{}
}

// wordOf returns an error type as a word of its own.
func wordOf(errorType string) string {
	if w, ok := words.ErrorWords[errorType]; ok {
		return w.Word
	}
	return truncate(errorType, words.MaxName)
}

// errorTypeOf returns what err's ErrorType method says, or its type.
func errorTypeOf(err error) string { return semconv.ErrorType(err).Value.AsString() }

// text tells outcomes apart that are not of the protocol.
func (o outcome) text() string {
	if o.hasCode && o.word == "" {
		return codeText(o.code)
	}
	return o.word
}

// anonymous returns the outcome that stands for o and others like it. Success has no others.
func (o outcome) anonymous() outcome {
	if o == (outcome{}) {
		return o
	}
	return outcome{word: names.Other, hasCode: o.hasCode, failed: o.failed}
}

// known reports whether the outcome is one of a set that no peer can extend.
func (o outcome) known() bool {
	if o.hasCode {
		return o.word == names.Other || words.CodeTexts[o.code] != ""
	}
	return !o.failed || o.word == names.Other || words.ErrorWords[o.word].Word != "" || words.HTTPStatuses[o.word]
}

// errorType is the value of error.type, empty for success.
func (o outcome) errorType() string {
	switch {
	case !o.failed:
		return ""
	case o.word != "":
		return o.word
	}
	return codeText(o.code)
}

// statusCode is the value of rpc.response.status_code, empty if the answer has no code.
func (o outcome) statusCode() string {
	switch {
	case !o.hasCode:
		return ""
	case o.word == names.Other:
		return o.word
	}
	return codeText(o.code)
}

// kind is the kind of error.
func (o outcome) kind(said string) string {
	switch {
	case said != "":
		return words.OneOf(words.ErrorKinds, said)
	case words.ErrorWords[o.word].Kind != "":
		return words.ErrorWords[o.word].Kind
	case o.hasCode:
		return words.KindJSONRPC
	case words.HTTPStatuses[o.word]:
		return words.KindTransport
	}
	return names.Other
}

// bounded returns an error type for metrics that have no limit of their own: this package's words, the codes of the
// protocol and the statuses of HTTP, else _OTHER.
func bounded(errorType string) string {
	if w, ok := words.ErrorWords[errorType]; ok || errorType == "" {
		return w.Word
	}
	if code, err := strconv.ParseInt(errorType, 10, 64); err == nil && words.CodeTexts[code] != "" {
		return words.CodeTexts[code]
	}
	if words.HTTPStatuses[errorType] {
		return strings.Clone(errorType)
	}
	return names.Other
}
