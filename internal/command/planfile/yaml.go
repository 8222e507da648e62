// Package planfile reads the YAML files of the command: plans of faults, plans of a game day, and policies of the
// proxy. Errors name the line.
package planfile

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeYAML decodes a file with at most one document. It rejects keys that v does not have.
func decodeYAML(text []byte, v any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(v)
	if err == nil {
		if err = d.Decode(new(yaml.Node)); err == nil {
			err = errors.New("the file has more than one document")
		}
	}
	if err != nil && err != io.EOF {
		return plainYAML(err)
	}
	return nil
}

// plainYAML removes the names of Go types from an error of the YAML package.
func plainYAML(err error) error {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var lines []string
	for _, line := range wrong.Errors {
		line, _, _ = strings.Cut(line, " not found in type ")
		line, _, _ = strings.Cut(line, " into ")
		lines = append(lines, strings.NewReplacer("field ", "unknown key ", "cannot unmarshal !!", "not understood: ").
			Replace(line))
	}
	return errors.New(strings.Join(lines, "; "))
}
