package mcp

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// pathError is an error about one part of a value, such as tools[3].name.
type pathError struct {
	path string
	err  error
}

// What can be wrong with a part, besides its not being valid JSON.
var (
	errMissing   = errors.New("is missing")
	errNull      = errors.New("is null")
	errDuplicate = errors.New("occurs twice")
)

func (e *pathError) Error() string {
	if kind, ok := errors.AsType[*jsonscan.TypeError](e.err); ok {
		return e.path + " is no " + kind.Want
	}
	switch e.err {
	case errMissing, errNull, errDuplicate:
		return e.path + " " + e.err.Error()
	case errNotObject:
		return e.path + " must be a JSON object"
	}
	return e.path + ": " + e.err.Error()
}

func (e *pathError) Unwrap() error { return e.err }

// maxName bounds what an error shows of a name, in bytes; a peer may have made it up.
const maxName = 128

// within says that err is about the member called name.
func within(name string, err error) error {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	inner, ok := err.(*pathError)
	if !ok {
		return &pathError{name, err}
	}
	dot := "."
	if strings.HasPrefix(inner.path, "[") {
		dot = ""
	}
	return &pathError{name + dot + inner.path, inner.err}
}

// withinElement says that err is about the i-th element of an array.
func withinElement(i int, err error) error {
	return within("["+strconv.Itoa(i)+"]", err)
}

// isSyntax reports whether err is about text that is not JSON. To decoders, which know where in the whole text it is
// wrong, names around that place mean nothing.
func isSyntax(err error) bool {
	_, ok := err.(*jsonscan.SyntaxError)
	return ok
}
