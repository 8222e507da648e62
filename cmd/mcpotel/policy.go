package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/planfile"
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
	f.DurationVar(&p.timeout, "timeout", 0, "end tool calls that take longer than this `DURATION`, such as 30s")
	f.StringVar(&p.file, "policy", "", "read the policy from this YAML `FILE`: allowed tools, timeouts, rate limits "+
		"and redaction. Flags add to its tools, and --timeout overrides its timeout")
	p.timed = f.Lookup("timeout")
}

// policy returns the policy of the flags and the file; nil without flags and file.
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
		if own, err = planfile.Policy(text); err != nil {
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

// arguments returns the flags as arguments for a proxy that a host starts. The path of the file is absolute, because a
// host may start the proxy in any directory.
func (p *policyFlags) arguments() (given []string, _ error) {
	policy, err := p.policy()
	if err != nil || policy == nil {
		return nil, err
	}
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
			return nil, misuse("%s: hosts expand variables after $; put this rule into a file and use --policy FILE", a)
		}
	}
	return given, nil
}
