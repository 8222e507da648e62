package mcpproxy

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/glob"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Policy decides which tools a host may call, how long and how often, and which data the host does not see. The zero
// value of a field means that the rule is off. A message that no rule concerns passes unchanged.
//
// Patterns match the names of tools as in [path.Match], but a slash is an ordinary character: * matches any text, ? any
// one character, [a-z] one character of a set, [^a-z] one character outside the set, and \ escapes the next character.
// Patterns are case-sensitive and match the whole name.
type Policy struct {
	// AllowTools holds patterns of permitted tools. Nil permits all tools, an empty list none.
	AllowTools []string

	// DenyTools holds patterns of forbidden tools. It overrides AllowTools. Answers to tools/list omit a forbidden tool.
	// Calls of a forbidden tool fail with the error for an unknown tool, -32602, and do not reach the server.
	DenyTools []string

	// Timeout bounds a tool call, including its waiting time in the proxy. After the timeout, the host gets an error, and
	// the server gets notifications/cancelled. Zero means no limit.
	Timeout time.Duration

	// Timeouts overrides Timeout for tools that match a pattern. The longest matching pattern counts. Of equally long
	// patterns, the first in alphabetical order counts. Zero means no limit.
	Timeouts map[string]time.Duration

	// MaxConcurrent bounds the concurrent tool calls of all hosts together. Further calls wait in order; up to 1,024 calls
	// of 16 MiB in total may wait. Zero means no limit.
	MaxConcurrent int

	// Rate bounds the tool calls of all hosts together in a period; all calls may come at the start of the period. A call
	// above the rate fails with an error that contains the time until a retry. The zero value means no limit.
	Rate Rate

	// Redaction removes data that hosts may not see.
	Redaction Redaction
}

// Rate is a number of calls in a period.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Redaction replaces secrets in the server's messages to the host: in results, errors, notifications, requests and
// reasons of cancellations, and also in the errors of a transport and of an ended process. All other bytes of a message
// stay the same. A message grows to at most three times its size plus 1 KiB. Where With would exceed this limit, the
// empty text replaces the secret.
//
// The texts of errors in spans and log records, and contents that
// [github.com/mcpotel/mcpotel/mcpclient/telemetry.WithContentCapture] captures, are redacted in the same way.
type Redaction struct {
	// Keys are the names of members, in any letter case and at any depth, whose whole values are replaced, whatever
	// their type. Keys do not count where members define properties with these names: in answers that introduce a
	// server or list its features, and in the requestedSchema of an elicitation. Keys also count in a text that is JSON
	// as a whole, such as the text that repeats structuredContent, but not in a text inside that JSON. Some errors are
	// not answers of the server, such as an error with the body of an HTTP answer or the last output of a process. In
	// these errors, everything after a key with : or = is replaced.
	Keys []string

	// Patterns are regular expressions of package [regexp]. All matches in a string, or in the name of a member, are
	// replaced. A pattern must match neither the empty text nor With.
	Patterns []string

	// With is the replacement. It has at most 64 bytes. Empty means "[redacted]".
	With string

	// Arguments extends the redaction to the arguments of tools, prompts and completions, before they reach the server.
	// In completion/complete, the text to complete is replaced if the name of the argument is in Keys.
	Arguments bool
}

// maxWith is the maximum length of [Redaction.With], in bytes. It bounds how much a message grows with each replaced
// value.
const maxWith = 64

const defaultWith = "[redacted]"

// rules is a compiled policy. It is immutable.
type rules struct {
	only        bool // only tools that match a pattern of the field allow may be called
	allow, deny []*regexp.Regexp
	timeout     time.Duration
	timeouts    []toolTimeout // longest pattern first
	secrets     *secrets      // nil without redaction
	arguments   bool          // the arguments of tools, prompts and completions are also redacted
}

type toolTimeout struct {
	of *regexp.Regexp
	d  time.Duration
}

// Validate returns an error if the policy is invalid. [New] returns the same error.
func (p *Policy) Validate() error {
	_, err := p.compile()
	return err
}

// TextRedactor returns a function that redacts a text of the server outside of messages, such as a line on its standard
// error. The text is redacted like the text of an error: see [Redaction.Keys]. The function is safe for concurrent use.
func (p *Policy) TextRedactor() (func(text string) string, error) {
	r, err := p.compile()
	if err != nil {
		return nil, err
	}
	return func(text string) string {
		if r.secrets != nil {
			text, _ = r.secrets.redactErrorText(text)
		}
		return text
	}, nil
}

// compile returns the rules of a policy, or an error if the policy is invalid.
func (p *Policy) compile() (*rules, error) {
	r := &rules{only: p.AllowTools != nil, timeout: p.Timeout, arguments: p.Redaction.Arguments}
	var err error
	if r.allow, err = compilePatterns("allowed tools", p.AllowTools); err != nil {
		return nil, err
	}
	if r.deny, err = compilePatterns("denied tools", p.DenyTools); err != nil {
		return nil, err
	}
	if p.Timeout < 0 {
		return nil, errors.New("policy: the timeout is negative")
	}
	for _, pattern := range slices.SortedFunc(maps.Keys(p.Timeouts), longestFirst) {
		of, err := glob.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("policy: timeouts: %w", err)
		}
		d := p.Timeouts[pattern]
		if d < 0 {
			return nil, fmt.Errorf("policy: the timeout of %q is negative", pattern)
		}
		r.timeouts = append(r.timeouts, toolTimeout{of, d})
	}
	if p.MaxConcurrent < 0 {
		return nil, errors.New("policy: the number of concurrent calls is negative")
	}
	if p.Rate != (Rate{}) && (p.Rate.Calls <= 0 || p.Rate.Per <= 0) {
		return nil, errors.New("policy: the calls and the time of a rate must be above zero")
	}
	r.secrets, err = newSecrets(&p.Redaction)
	return r, err
}

func longestFirst(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

// restrict reports whether the rules may forbid any tool.
func (r *rules) restrict() bool { return r.only || r.deny != nil }

// permit reports whether a tool with these names may be called: a rule permits at least one name, and no rule forbids
// any of the names.
func (r *rules) permit(names ...string) bool {
	matches := func(patterns []*regexp.Regexp) bool {
		return slices.ContainsFunc(names, func(name string) bool { return matchesAny(patterns, name) })
	}
	return (!r.only || matches(r.allow)) && !matches(r.deny)
}

// timeoutOf returns the timeout for calls of a tool with these names. Zero means none.
func (r *rules) timeoutOf(names ...string) time.Duration {
	for _, t := range r.timeouts {
		if slices.ContainsFunc(names, t.of.MatchString) {
			return t.d
		}
	}
	return r.timeout
}

func newSecrets(o *Redaction) (*secrets, error) {
	if len(o.Keys) == 0 && len(o.Patterns) == 0 {
		return nil, nil
	}
	with := o.With
	if with == "" {
		with = defaultWith
	}
	if len(with) > maxWith {
		return nil, fmt.Errorf("policy: redaction: the replacement has more than %d bytes", maxWith)
	}
	r := &secrets{plain: with, quoted: jsonscan.AppendString(nil, with)}
	r.with = r.quoted[1 : len(r.quoted)-1]
	inText := jsonscan.AppendString(nil, string(r.quoted))
	r.inText = inText[1 : len(inText)-1]
	var quoted []string
	for _, k := range o.Keys {
		if k == "" {
			return nil, errors.New("policy: redaction: a key is empty")
		}
		r.keys = append(r.keys, []byte(k))
		quoted = append(quoted, regexp.QuoteMeta(k))
	}
	if quoted != nil {
		r.inError = regexp.MustCompile(`(?is)(^|\W)(` + strings.Join(quoted, "|") + `)(\\*["']?\s*[:=])`)
	}
	for _, text := range o.Patterns {
		p, err := regexp.Compile(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("policy: redaction: %w", err)
		case p.MatchString(""):
			return nil, fmt.Errorf("policy: redaction: %q matches the empty text", text)
		case p.MatchString(with):
			return nil, fmt.Errorf("policy: redaction: %q matches the replacement %q", text, with)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// compilePatterns compiles patterns. The argument what describes the patterns in errors.
func compilePatterns(what string, patterns []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, pattern := range patterns {
		p, err := glob.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("policy: %s: %w", what, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func matchesAny(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}
