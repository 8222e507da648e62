package planfile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/mcpproxy"
)

// policyFile is the content of a file for --policy.
type policyFile struct {
	Tools struct {
		Allow []string `yaml:"allow"`
		Deny  []string `yaml:"deny"`
	} `yaml:"tools"`
	Timeout  time.Duration            `yaml:"timeout"`
	Timeouts map[string]time.Duration `yaml:"timeouts"`
	Limit    struct {
		Concurrent int  `yaml:"concurrent"`
		Rate       rate `yaml:"rate"`
	} `yaml:"limit"`
	Redact struct {
		Keys      []string `yaml:"keys"`
		Patterns  []string `yaml:"patterns"`
		With      string   `yaml:"with"`
		Arguments bool     `yaml:"arguments"`
	} `yaml:"redact"`
}

// Policy parses a file for --policy. An error about a rule names the line.
func Policy(text []byte) (mcpproxy.Policy, error) {
	var f policyFile
	if err := decodeYAML(text, &f); err != nil {
		return mcpproxy.Policy{}, err
	}
	var whole yaml.Node
	if err := decodeYAML(text, &whole); err != nil {
		return mcpproxy.Policy{}, err
	}
	if err := noValue(&whole); err != nil {
		return mcpproxy.Policy{}, err
	}
	return mcpproxy.Policy{
		AllowTools: f.Tools.Allow, DenyTools: f.Tools.Deny,
		Timeout: f.Timeout, Timeouts: f.Timeouts,
		MaxConcurrent: f.Limit.Concurrent, Rate: mcpproxy.Rate(f.Limit.Rate),
		Redaction: mcpproxy.Redaction{
			Keys: f.Redact.Keys, Patterns: f.Redact.Patterns, With: f.Redact.With, Arguments: f.Redact.Arguments,
		},
	}, nil
}

// noValue returns an error if a key has no value, for example if all its entries are commented out. An allow list
// without a value would allow all tools.
func noValue(n *yaml.Node) error {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.ShortTag() == "!!null" {
			key := n.Content[i-1]
			return fmt.Errorf("line %d: %s has no value: remove the line, or write [] for an empty list (allow: [] allows no "+
				"tools)", key.Line, key.Value)
		}
		if err := noValue(child); err != nil {
			return err
		}
	}
	return nil
}

// rate is a rate in the notation "10/s".
type rate mcpproxy.Rate

// UnmarshalYAML parses a number of calls, a slash, and s, m or h.
func (r *rate) UnmarshalYAML(n *yaml.Node) error {
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
	calls, unit, _ := strings.Cut(n.Value, "/")
	count, err := strconv.Atoi(calls)
	if err != nil || count <= 0 || per[unit] == 0 {
		return fmt.Errorf("line %d: %q is not a rate such as 10/s, 100/m or 1000/h", n.Line, n.Value)
	}
	*r = rate{Calls: count, Per: per[unit]}
	return nil
}
