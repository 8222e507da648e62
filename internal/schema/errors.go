package schema

import (
	"errors"
	"strings"
)

// Why a schema was not accepted. A [*CompileError] matches exactly one of
// these with [errors.Is].
var (
	// ErrInvalid: the text is not JSON, or a keyword has a value its dialect
	// does not allow.
	ErrInvalid = errors.New("invalid schema")
	// ErrDialect: $schema names a dialect other than 2020-12 and draft-07.
	ErrDialect = errors.New("unsupported schema dialect")
	// ErrRef: a reference leads outside the schema, or to no subschema in it.
	ErrRef = errors.New("unresolved reference")
	// ErrCycle: a subschema applies itself to the same value, without end.
	ErrCycle = errors.New("endless reference")
	// ErrPattern: a regular expression is one that package regexp (RE2) does
	// not know, such as a look-ahead or a back-reference.
	ErrPattern = errors.New("unsupported regular expression")
	// ErrLimit: the schema is larger, deeper or more composed than the bounds
	// of this package.
	ErrLimit = errors.New("schema limit exceeded")
	// ErrForm: the schema is more than the form of an elicitation may be; of
	// [CompileForm] only.
	ErrForm = errors.New("not a flat form")
)

var (
	// ErrBudget is returned by [Schema.Validate] and [Schema.ApplyDefaults]
	// when the value would take more work than allowed. It says nothing about
	// the value's validity.
	ErrBudget = errors.New("validation would take too long")
	// ErrDefaults is returned by [Schema.ApplyDefaults] when the defaults to
	// fill in are too many, too large or too deep.
	ErrDefaults = errors.New("defaults too large")
)

// CompileError reports why and where [Compile] did not accept a schema.
type CompileError struct {
	Path    string // JSON Pointer to the keyword or subschema; "" is the root
	Message string
	Reason  error // one of ErrInvalid, ErrDialect, ErrRef, ErrCycle, ErrPattern, ErrLimit, ErrForm
}

func (e *CompileError) Error() string {
	var b strings.Builder
	b.WriteString(e.Reason.Error())
	if e.Path != "" {
		b.WriteString(" at ")
		b.WriteString(clip(e.Path, maxText))
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the reason.
func (e *CompileError) Unwrap() error { return e.Reason }

// ValidationError says what is wrong with a value, in words that a model can
// act on. It quotes at most 64 bytes of any one value or name.
type ValidationError struct {
	// Problems has at least one element and at most eight. A subschema stops
	// at its first keyword that fails, so the list is not complete: only
	// sibling properties and items are reported together.
	Problems []Problem
}

// Problem is one failed keyword.
type Problem struct {
	// Instance is the JSON Pointer to the value at fault; "" is the root.
	// Names in it are cut at 64 bytes.
	Instance string
	// Schema is the JSON Pointer to the failed keyword from the root of the
	// schema, after references were followed; "" when the text is not JSON.
	Schema string
	// Keyword is the failed keyword, such as "required"; "" when the text is
	// not JSON.
	Keyword string
	// Message says what is wrong and what is wanted.
	Message string
}

func (e *ValidationError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// String is the message, preceded by the place unless that is the root.
func (p Problem) String() string {
	if p.Instance == "" {
		return p.Message
	}
	return p.Instance + ": " + p.Message
}
