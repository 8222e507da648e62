package drift

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// version is that of the form of baselines and of what fingerprints are made of.
const version = 1

type baseline struct {
	Version int   `json:"version"`
	Tools   Tools `json:"tools"`
}

// ErrBaseline is in the chain of what [ParseBaseline] returns for a text that is no baseline.
var ErrBaseline = errors.New("no baseline of tools")

// Baseline returns the fingerprints as the text of a file for [ParseBaseline]: JSON, the tools in the order of their
// names, a part a line, and a line break at the end. The same tools make the same text. It has digests and names, and
// nothing else that a server says.
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

// ParseBaseline reads what [Tools.Baseline] wrote. What else there is in it is an error, as is one tool twice.
func ParseBaseline(text []byte) (Tools, error) {
	var b baseline
	if err := json.Unmarshal(text, &b, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBaseline, err)
	}
	switch {
	case b.Version != version:
		return nil, fmt.Errorf("%w: its version is %d, want %d", ErrBaseline, b.Version, version)
	case b.Tools == nil:
		return nil, fmt.Errorf("%w: it has no tools, not even an empty object of them", ErrBaseline)
	}
	return b.Tools, nil
}
