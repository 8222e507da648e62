package telemetry

import (
	"strconv"
	"strings"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Result is how an operation ended. The zero Result is success.
type Result struct {
	// ErrorType is one of this package's words, or any other, such as the HTTP status ("503") if only HTTP answered; empty
	// means that of Err. It does not count if the answer has a code.
	ErrorType string

	// Kind is the kind of error by which mcpclient sorts errors; empty means what follows from the rest.
	Kind string

	// Code is the code of the JSON-RPC error that is the answer, if HasCode, and Message its text.
	Code    int64
	HasCode bool
	Message string

	// Err is the error for the log, whose text appears nowhere else.
	Err error

	// ResultType is the type of the result, empty or complete for an ordinary one.
	ResultType string

	// ToolError says that the result is the tool's report of an error.
	ToolError bool

	// CallerLeft says that the operation ended because whoever asked for it did not want it any more.
	CallerLeft bool

	// Expected says that the error is an answer like another, such as a legacy server's to the probe: it is logged at
	// Debug. Span and metrics have it as they have every error.
	Expected bool
}

// forgiven are the codes that are no error of a server: what the client sent was wrong. (Semantic conventions for MCP,
// error.type of a server span)
var forgiven = map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}

// isError reports whether an answer with this code is an error of the side that sent the request, or of the one that
// received it.
func isError(d Direction, code int64) bool { return d == Sent || !forgiven[code] }

// codeTexts are those that the specifications of JSON-RPC and MCP give a meaning, as text.
var codeTexts = map[int64]string{
	-32700: "-32700", // parse error
	-32600: "-32600", // invalid request
	-32601: "-32601", // method not found
	-32602: "-32602", // invalid params
	-32603: "-32603", // internal error
	-32002: "-32002", // resource not found
	-32020: "-32020", // header mismatch
	-32021: "-32021", // missing client capability
	-32022: "-32022", // unsupported protocol version
	-32042: "-32042", // URL elicitation required
	-1:     "-1",     // user rejected sampling
}

const codeInternalError = -32603

func codeText(code int64) string {
	if text, ok := codeTexts[code]; ok {
		return text
	}
	return strconv.FormatInt(code, 10)
}

// outcome is how an operation ended, as far as metrics tell it. The zero outcome is success.
type outcome struct {
	word    string // error.type if it is not the code's
	code    int64
	hasCode bool
	failed  bool // for this side
}

func outcomeOf(d Direction, r *Result) outcome {
	switch {
	case r.ToolError:
		return outcome{word: ErrorToolError, failed: true}
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
	if w, ok := errorWords[errorType]; ok {
		return w.word
	}
	return truncate(errorType, maxName)
}

// errorTypeOf returns what err's ErrorType method says, or its type.
func errorTypeOf(err error) string { return semconv.ErrorType(err).Value.AsString() }

// text tells outcomes apart that are not of the protocol.
func (o outcome) text() string {
	if o.hasCode {
		return codeText(o.code)
	}
	return o.word
}

// anonymous returns the outcome that stands for o and others like it. Success has no others.
func (o outcome) anonymous() outcome {
	if o == (outcome{}) {
		return o
	}
	return outcome{word: other, hasCode: o.hasCode, failed: o.failed}
}

// known reports whether the outcome is one of a set that no peer can extend.
func (o outcome) known() bool {
	if o.hasCode {
		return o.word == other || codeTexts[o.code] != ""
	}
	return !o.failed || o.word == other || errorWords[o.word].word != "" || httpStatuses[o.word]
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
	case o.word != "":
		return o.word
	}
	return codeText(o.code)
}

// kind is the kind of error.
func (o outcome) kind(said string) string {
	switch {
	case said != "":
		return oneOf(errorKinds, said)
	case o.hasCode:
		return kindJSONRPC
	case errorWords[o.word].kind != "":
		return errorWords[o.word].kind
	case httpStatuses[o.word]:
		return kindTransport
	}
	return other
}

// bounded returns an error type for metrics that have no limit of their own: this package's words, the codes of the
// protocol and the statuses of HTTP, else _OTHER.
func bounded(errorType string) string {
	if w, ok := errorWords[errorType]; ok || errorType == "" {
		return w.word
	}
	if code, err := strconv.ParseInt(errorType, 10, 64); err == nil && codeTexts[code] != "" {
		return codeTexts[code]
	}
	if httpStatuses[errorType] {
		return strings.Clone(errorType)
	}
	return other
}
