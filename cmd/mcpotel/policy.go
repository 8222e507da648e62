package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/mcpproxy"
)

// policyFlags are the flags of "mcpotel proxy" for its policy.
type policyFlags struct {
	allow, deny []string
	timeout     time.Duration
	file        string
	timed       *pflag.Flag // --timeout
}

func (p *policyFlags) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&p.allow, "allow-tool", nil, "let the host list and call only tools whose names match this "+
		"`PATTERN`, such as 'read_*'; may be repeated")
	f.StringArrayVar(&p.deny, "deny-tool", nil, "do not let the host list or call tools whose names match this "+
		"`PATTERN`; may be repeated, and overrides --allow-tool")
	f.DurationVar(&p.timeout, "timeout", 0, "end a call of a tool that takes longer than this `DURATION`, such as 30s")
	f.StringVar(&p.file, "policy", "", "read the policy from this YAML `FILE`: allowed tools, timeouts, rate limits "+
		"and redaction. Flags add to its tools, and --timeout overrides its timeout")
	p.timed = f.Lookup("timeout")
}

// policyArguments are the prefixes of the arguments that [policyFlags.arguments] returns.
var policyArguments = []string{"--policy=", "--allow-tool=", "--deny-tool=", "--timeout="}

// translates is the flag --translate of the proxy.
const translates = "--translate"

// isOption reports whether arg is a proxy option that wrap passes on.
func isOption(arg string) bool {
	starts := func(with string) bool { return strings.HasPrefix(arg, with) }
	return arg == translates || slices.ContainsFunc(policyArguments, starts)
}

// policy returns the policy of the flags and the file; nil without any.
func (p *policyFlags) policy() (*mcpproxy.Policy, error) {
	if p.file == "" && p.allow == nil && p.deny == nil && !p.timed.Changed {
		return nil, nil
	}
	var own mcpproxy.Policy
	if p.file != "" {
		text, err := os.ReadFile(p.file)
		if err != nil {
			return nil, misuse("%v", err)
		}
		if own, err = parsePolicy(text); err != nil {
			return nil, misuse("%s: %v", p.file, err)
		}
	}
	own.AllowTools = append(own.AllowTools, p.allow...)
	own.DenyTools = append(own.DenyTools, p.deny...)
	if p.timed.Changed {
		own.Timeout = p.timeout
	}
	if err := own.Validate(); err != nil {
		return nil, misuse("%v", err)
	}
	return &own, nil
}

// arguments returns the flags as JSON strings, for the arguments of a proxy that a host starts. The path of the file is
// absolute, because hosts start servers in any directory.
func (p *policyFlags) arguments() (args []string, _ error) {
	policy, err := p.policy()
	if err != nil || policy == nil {
		return nil, err
	}
	var given []string
	if p.file != "" {
		path, err := filepath.Abs(p.file)
		if err != nil {
			return nil, misuse("%v", err)
		}
		given = append(given, "--policy="+path)
	}
	for _, pattern := range p.allow {
		given = append(given, "--allow-tool="+pattern)
	}
	for _, pattern := range p.deny {
		given = append(given, "--deny-tool="+pattern)
	}
	if p.timed.Changed {
		given = append(given, "--timeout="+p.timeout.String())
	}
	for _, a := range given {
		if strings.Contains(a, "$") {
			return nil, misuse("%s: hosts expand variables after $; write the rule in a file for --policy FILE", a)
		}
		args = append(args, quote(a))
	}
	return args, nil
}

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

// parsePolicy parses a file for --policy. An error about a rule names the line.
func parsePolicy(text []byte) (mcpproxy.Policy, error) {
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
			return fmt.Errorf("line %d: %s has no value: remove the line if there is no such rule; an empty list is written "+
				"as [], and allow: [] allows no tool", key.Line, key.Value)
		}
		if err := noValue(child); err != nil {
			return err
		}
	}
	return nil
}

// rate is written as in 10/s.
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
