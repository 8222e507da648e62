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

// Errors about a part of a value, other than invalid JSON.
var (
	errMissing   = errors.New("is missing")
	errNull      = errors.New("is null")
	errDuplicate = errors.New("occurs twice")
)

func (e *pathError) Error() string {
	if kind, ok := errors.AsType[*jsonscan.TypeError](e.err); ok {
		article := "a"
		if strings.ContainsRune("aio", rune(kind.Want[0])) { // array, integer, object
			article = "an"
		}
		return e.path + " is not " + article + " " + kind.Want
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

// maxName is the number of bytes of a name that an error contains, because a peer may choose any name.
const maxName = 128

// within adds the member name to the path of err.
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

// withinElement adds the array index i to the path of err.
func withinElement(i int, err error) error {
	return within("["+strconv.Itoa(i)+"]", err)
}

// isSyntax reports whether err is about invalid JSON. Decoders report its offset in the whole text and add no path.
func isSyntax(err error) bool {
	_, ok := err.(*jsonscan.SyntaxError)
	return ok
}
