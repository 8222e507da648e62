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

// maxFrontmatter is the largest size of a frontmatter, in bytes.
const maxFrontmatter = 64 << 10

// maxDepth is the maximum nesting depth of values in a frontmatter.
const maxDepth = 32

// ParseManifest splits a SKILL.md into its frontmatter, as JSON, and the text after the frontmatter. The text shares
// the memory of content. The frontmatter has at most 64 KiB and no anchors. Names and values follow the core schema of
// YAML 1.2, in which a date is text.
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
		return nil, nil, errors.New("frontmatter has no fields")
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

// split finds the frontmatter between the first line of the file and the next line that is ---. The first line must
// also be ---.
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
	return nil, nil, errors.New("the frontmatter does not end: there is no second line ---")
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// value converts a YAML node to a JSON value.
func value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d levels", n.Line, maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		fields := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			name := n.Content[i]
			if name.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: the name of the field is not text", name.Line)
			}
			if _, twice := fields[name.Value]; twice {
				return nil, fmt.Errorf("line %d: the field %q occurs twice", name.Line, name.Value)
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

// Plain scalars of the core schema that are numbers. (YAML 1.2.2, section 10.3.2)
var (
	integer         = regexp.MustCompile(`^[-+]?[0-9]+$`)
	prefixedInteger = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	float           = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// quotedStyles are the styles of scalars that are always text.
const quotedStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle |
	yaml.TaggedStyle

func scalar(n *yaml.Node) (any, error) {
	text := n.Value
	if n.Style&quotedStyles != 0 {
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
		return nil, fmt.Errorf("line %d: JSON cannot represent %s", n.Line, text)
	}
	switch {
	case integer.MatchString(text):
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
	case prefixedInteger.MatchString(text):
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

// sameFields compares two JSON objects by value and returns the name of a field that differs. An object with a
// duplicate name equals no object.
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
