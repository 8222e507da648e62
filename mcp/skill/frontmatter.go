package skill

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/mcp"
)

// maxFrontmatter is how many bytes the frontmatter of a SKILL.md may have.
const maxFrontmatter = 64 << 10

// maxDepth is how deep its values may be nested.
const maxDepth = 32

// ParseManifest takes a SKILL.md apart into its frontmatter, as JSON, and the text behind it, which shares the memory
// of content. The frontmatter has 64 KiB at most and no anchors; names and values are those of the core schema of YAML
// 1.2, so that a date is text.
func ParseManifest(content []byte) (frontmatter mcp.Object, body []byte, err error) {
	head, body, err := split(content)
	if err != nil {
		return nil, nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(head, &document); err != nil {
		return nil, nil, fmt.Errorf("frontmatter: %w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, nil, errors.New("frontmatter: it has no fields")
	}
	fields, err := value(document.Content[0], 0)
	if err != nil {
		return nil, nil, fmt.Errorf("frontmatter: %w", err)
	}
	if frontmatter, err = json.Marshal(fields, json.Deterministic(true)); err != nil {
		return nil, nil, fmt.Errorf("frontmatter: %w", err)
	}
	return frontmatter, body, nil
}

// split finds the frontmatter between two lines that are ---, the first of which begins the file.
func split(content []byte) (head, body []byte, err error) {
	line, rest, _ := bytes.Cut(content, []byte("\n"))
	if !isFence(line) {
		return nil, nil, errors.New("no frontmatter: the first line is not ---")
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		next := min(at+len(line)+1, len(rest))
		if isFence(line) {
			return rest[:at], rest[next:], nil
		}
		if at = next; at > maxFrontmatter {
			return nil, nil, fmt.Errorf("the frontmatter has more than %d bytes", maxFrontmatter)
		}
	}
	return nil, nil, errors.New("the frontmatter has no end: no second line is ---")
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// value is what a node of YAML is in JSON.
func value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: it is nested deeper than %d", n.Line, maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		fields := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			name := n.Content[i]
			if name.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: the name of a field is not text", name.Line)
			}
			if _, twice := fields[name.Value]; twice {
				return nil, fmt.Errorf("line %d: the field %q is there twice", name.Line, name.Value)
			}
			v, err := value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			fields[name.Value] = v
		}
		return fields, nil
	case yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			v, err := value(item, depth+1)
			if err != nil {
				return nil, err
			}
			items[i] = v
		}
		return items, nil
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, fmt.Errorf("line %d: aliases are not supported", n.Line)
}

// The plain scalars of the core schema that are no text. (YAML 1.2.2, section 10.3.2)
var (
	integer = regexp.MustCompile(`^[-+]?[0-9]+$`)
	based   = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	float   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

const styled = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle

func scalar(n *yaml.Node) (any, error) {
	text := n.Value
	if n.Style&styled != 0 {
		return text, nil
	}
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
		return nil, fmt.Errorf("line %d: JSON has no %s", n.Line, text)
	}
	switch {
	case integer.MatchString(text):
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
	case based.MatchString(text):
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return i, nil
		}
		return nil, fmt.Errorf("line %d: the number %s is too large", n.Line, text)
	case !float.MatchString(text):
		return text, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("line %d: the number %s is too large", n.Line, text)
	}
	return f, nil
}

// sameFields compares two JSON objects by their values, and names a field that differs. One in which a name occurs
// twice is like no other.
func sameFields(a, b mcp.Object) (field string, same bool) {
	var left, right map[string]jsontext.Value
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return "", false
	}
	names := make([]string, 0, len(left)+len(right))
	for name := range left {
		names = append(names, name)
	}
	for name := range right {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		l, r := left[name], right[name]
		if l == nil || r == nil || l.Canonicalize() != nil || r.Canonicalize() != nil || !bytes.Equal(l, r) {
			return name, false
		}
	}
	return "", true
}
