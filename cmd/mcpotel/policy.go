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

// policyFlags are the flags of "mcpotel proxy" that say what a host may do.
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
		"`PATTERN`; may be repeated, and goes before --allow-tool")
	f.DurationVar(&p.timeout, "timeout", 0, "end a call of a tool that takes longer than this `DURATION`, such as 30s")
	f.StringVar(&p.file, "policy", "", "read from this YAML `FILE` which tools the host may call, how long, how often, "+
		"and what is redacted. Flags add to its tools, and --timeout goes before its timeout")
	p.timed = f.Lookup("timeout")
}

// policyArguments is how the arguments begin that [policyFlags.arguments] returns.
var policyArguments = []string{"--policy=", "--allow-tool=", "--deny-tool=", "--timeout="}

// translates is the argument of a proxy that translates.
const translates = "--translate"

// isOption reports whether an argument of the proxy is one of those that wrap hands on.
func isOption(arg string) bool {
	starts := func(with string) bool { return strings.HasPrefix(arg, with) }
	return arg == translates || slices.ContainsFunc(policyArguments, starts)
}

// policy returns what the flags and the file say, nil for nothing.
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

// arguments returns the flags as arguments of a proxy that a host starts, as JSON strings. The file is there by its
// absolute path, since a host starts its servers where it likes.
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
			return nil, misuse("%s: hosts look for variables behind $; the rules can be in a file, and --policy FILE", a)
		}
		args = append(args, quote(a))
	}
	return args, nil
}

// policyFile is a file of --policy.
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

// parsePolicy reads a file of --policy. An error names the line, if it is about one.
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

// noValue returns an error if a key has no value, such as one whose entries are all commented out. An allow list
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

// rate is written as 10/s.
type rate mcpproxy.Rate

// UnmarshalYAML reads a number of calls, a slash, and s, m or h.
func (r *rate) UnmarshalYAML(n *yaml.Node) error {
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
	calls, unit, _ := strings.Cut(n.Value, "/")
	count, err := strconv.Atoi(calls)
	if err != nil || count <= 0 || per[unit] == 0 {
		return fmt.Errorf("line %d: %q is no rate, such as 10/s, 100/m or 1000/h", n.Line, n.Value)
	}
	*r = rate{Calls: count, Per: per[unit]}
	return nil
}
