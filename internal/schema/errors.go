package schema

import (
	"errors"
	"strings"
)

// Reasons to reject a schema. A [*CompileError] matches exactly one of these with [errors.Is].
var (
	// ErrInvalid: the text is not JSON, or the value of a keyword is not allowed in its dialect.
	ErrInvalid = errors.New("invalid schema")
	// ErrDialect: $schema names a dialect other than 2020-12 and draft-07.
	ErrDialect = errors.New("unsupported schema dialect")
	// ErrRef: a reference points outside the schema, or to no subschema in it.
	ErrRef = errors.New("unresolved reference")
	// ErrCycle: a subschema applies itself to the same value, without end.
	ErrCycle = errors.New("endless reference")
	// ErrPattern: package regexp (RE2) does not support a regular expression, for example a look-ahead or a
	// back-reference.
	ErrPattern = errors.New("unsupported regular expression")
	// ErrLimit: the schema exceeds a bound of this package on size, depth or composition.
	ErrLimit = errors.New("schema limit exceeded")
	// ErrForm: the schema has more than the form of an elicitation may have. Only [CompileForm] returns it.
	ErrForm = errors.New("not a flat form")
)

var (
	// ErrBudget is returned by [Schema.Validate] and [Schema.ApplyDefaults] when processing the value would take more work
	// than allowed. The value may be valid or invalid.
	ErrBudget = errors.New("validation would take too long")
	// ErrDefaults is returned by [Schema.ApplyDefaults] when the missing defaults are too many, too large or too deep.
	ErrDefaults = errors.New("defaults too large")
)

// CompileError reports why and where [Compile] rejected a schema.
type CompileError struct {
	Path    string // JSON Pointer to the keyword or subschema; "" is the root
	Message string
	Reason  error // one of ErrInvalid, ErrDialect, ErrRef, ErrCycle, ErrPattern, ErrLimit and ErrForm
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

// ValidationError lists the problems of a value, in words that a model can act on. It quotes at most 64 bytes of any
// one value or name.
type ValidationError struct {
	// Problems has at least one element and at most eight. The list is not complete, because a subschema stops at its
	// first violated keyword: only sibling properties and items are reported together.
	Problems []Problem
}

// Problem is one violated keyword.
type Problem struct {
	// Instance is the JSON Pointer to the wrong value; "" is the root. Its names are truncated to 64 bytes.
	Instance string
	// Schema is the JSON Pointer to the violated keyword from the root of the schema, after following references; "" if
	// the text is not JSON.
	Schema string
	// Keyword is the violated keyword, such as "required"; "" if the text is not JSON.
	Keyword string
	// Message describes the problem and the expected value.
	Message string
}

func (e *ValidationError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// String returns the message, preceded by the place of the value unless that is the root.
func (p Problem) String() string {
	if p.Instance == "" {
		return p.Message
	}
	return p.Instance + ": " + p.Message
}
