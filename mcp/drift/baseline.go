package drift

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// version is the version of the baseline format and of the fingerprint algorithm.
const version = 1

type baseline struct {
	Version int   `json:"version"`
	Tools   Tools `json:"tools"`
}

// ErrBaseline matches, with errors.Is, all errors of [ParseBaseline].
var ErrBaseline = errors.New("not a baseline of tools")

// Baseline returns the fingerprints as the text of a file for [ParseBaseline]: JSON with the tools in the order of
// their names, one part on each line, and a line break at the end. Equal tools produce equal text. The only text of
// the server in the file is the names of tools; everything else is a digest.
func (t Tools) Baseline() ([]byte, error) {
	if t == nil {
		t = Tools{}
	}
	text, err := json.Marshal(baseline{version, t}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// ParseBaseline parses the output of [Tools.Baseline]. It returns an error for unknown members and for a tool that
// occurs twice.
func ParseBaseline(text []byte) (Tools, error) {
	var b baseline
	if err := json.Unmarshal(text, &b, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBaseline, err)
	}
	switch {
	case b.Version != version:
		return nil, fmt.Errorf("%w: version %d, want %d", ErrBaseline, b.Version, version)
	case b.Tools == nil:
		return nil, fmt.Errorf("%w: the member tools is missing", ErrBaseline)
	}
	return b.Tools, nil
}
