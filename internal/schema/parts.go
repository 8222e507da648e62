package schema

import (
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// parts is the library's form of a schema that validates a value against any
// one of its nodes. A node is chosen by the value: {"1": {"2": v}} validates v
// against node 1*width+2. Two levels, because the library tries each name of a
// level in turn.
type parts struct {
	resolved *jsonschema.Resolved
	width    int
}

func (s *Schema) newParts() (*parts, error) {
	const doc = "schema:///doc"
	width := int(math.Ceil(math.Sqrt(float64(len(s.nodes)))))
	root := &jsonschema.Schema{Schema: s.dialect.uri(), Properties: map[string]*jsonschema.Schema{}}
	for row := range slices.Chunk(s.nodes, width) {
		props := make(map[string]*jsonschema.Schema, width)
		for i, n := range row {
			props[strconv.Itoa(i)] = &jsonschema.Schema{Ref: doc + "#" + fragment(n.path)}
		}
		root.Properties[strconv.Itoa(row[0].id/width)] = &jsonschema.Schema{Properties: props}
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{
		Loader: func(*url.URL) (*jsonschema.Schema, error) { return s.root.lib, nil },
	})
	return &parts{resolved, width}, err
}

// validate returns the library's error for n alone.
func (p *parts) validate(n *node, v any) error {
	row, column := strconv.Itoa(n.id/p.width), strconv.Itoa(n.id%p.width)
	err := p.resolved.Validate(object{row: object{column: v}})
	for range 3 { // the root, the row and the reference
		err = errors.Unwrap(err)
	}
	return err
}
