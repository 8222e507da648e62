package instrument

import (
	"strconv"
	"strings"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Result describes how an operation ended. The zero Result means success.
type Result struct {
	// ErrorType is a key of [words.ErrorWords], or any other text, such as the HTTP status ("503") if the only answer came
	// from HTTP. If ErrorType is empty, the error type of Err is used. If HasCode is set, a text that is not a key of
	// words.ErrorWords is ignored.
	ErrorType string

	// Kind is the kind of error in mcpclient's classification. If Kind is empty, the kind is derived from the other
	// fields.
	Kind string

	// Code and Message are the code and text of the JSON-RPC error in the answer, if HasCode is set.
	Code    int64
	HasCode bool
	Message string

	// Err is the error for the log record. Without a code, its text is also the description of the span's status.
	Err error

	// Unsent means that the request certainly had no effect on the server, so that a retry is safe.
	Unsent bool

	// ResultType is the type of the result. It is empty or complete for an ordinary result.
	ResultType string

	// ToolError means that the result is a tool's error report.
	ToolError bool

	// CallerLeft means that the caller of the operation, or the requesting peer, has cancelled it.
	CallerLeft bool

	// Expected means that the error is an ordinary answer, such as a legacy server's answer to the probe. The operation
	// then counts as a success in every signal: no error status, no error.type on span or metric, no exception record, and
	// no failure in the flight recorder and statistics. The attribute rpc.response.status_code contains the answer's code.
	// (Semantic conventions, "Recording errors on spans": errors that were handled are not recorded)
	Expected bool

	// Told means that another record already reports the error, such as the record of an attempt to connect. The record of
	// the operation then has level Debug.
	Told bool
}

// requestErrorCodes holds the codes that reject a faulty request. These are not errors of the server. (Semantic
// conventions for MCP, error.type of a server span)
var requestErrorCodes = map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}

// isError reports whether an answer with this code counts as an error of this side. For a sent request, every code
// counts. For a received request, every code counts except those in requestErrorCodes.
func isError(d telemetry.Direction, code int64) bool {
	return d == telemetry.DirectionSent || !requestErrorCodes[code]
}

const codeInternalError = -32603

func codeText(code int64) string {
	if text, ok := words.CodeTexts[code]; ok {
		return text
	}
	return strconv.FormatInt(code, 10)
}

// outcome is the part of a Result that metrics record. The zero outcome means success.
type outcome struct {
	word    string // error.type if it differs from the code; in statusCode, _OTHER also replaces the code
	code    int64
	hasCode bool
	failed  bool // the operation failed from this side's view
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

// wordOf returns the error type as an interned or copied string.
func wordOf(errorType string) string {
	if w, ok := words.ErrorWords[errorType]; ok {
		return w.Word
	}
	return truncate(errorType, words.MaxName)
}

// errorTypeOf returns the result of err's ErrorType method, or the type of err.
func errorTypeOf(err error) string { return semconv.ErrorType(err).Value.AsString() }

// text returns the code or the word of an outcome. An outcome that is not known is counted under its text.
func (o outcome) text() string {
	if o.hasCode && o.word == "" {
		return codeText(o.code)
	}
	return o.word
}

// anonymous returns the outcome that replaces o if metrics cannot record o itself. It never replaces success.
func (o outcome) anonymous() outcome {
	if o == (outcome{}) {
		return o
	}
	return outcome{word: names.Other, hasCode: o.hasCode, failed: o.failed}
}

// known reports whether the outcome belongs to a closed set that no peer can extend.
func (o outcome) known() bool {
	if o.hasCode {
		return o.word == names.Other || words.CodeTexts[o.code] != ""
	}
	return !o.failed || o.word == names.Other || words.ErrorWords[o.word].Word != "" || words.HTTPStatuses[o.word]
}

// errorType returns the value of error.type. It is empty for success.
func (o outcome) errorType() string {
	switch {
	case !o.failed:
		return ""
	case o.word != "":
		return o.word
	}
	return codeText(o.code)
}

// statusCode returns the value of rpc.response.status_code. It is empty if the answer has no code.
func (o outcome) statusCode() string {
	switch {
	case !o.hasCode:
		return ""
	case o.word == names.Other:
		return o.word
	}
	return codeText(o.code)
}

// kind returns the kind of error. said is [Result.Kind], which may be empty.
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

// bounded returns the error type for metrics that have no limit of their own for error types. It keeps words of this
// package, codes of the protocol and HTTP statuses. All other types become _OTHER.
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
