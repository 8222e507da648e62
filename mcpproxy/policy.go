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

// Policy says which tools a host may call, how long and how often, and what it does not get to see. The zero value of
// each field means that there is no such rule. What no rule is about passes as it is.
//
// The names of tools are matched by patterns as those of [path.Match], in which a slash is a character like any other:
// * is any text, ? any character, [a-z] and [^a-z] one of some characters, and \ takes the next character as it is.
// They are case-sensitive and match the whole name.
type Policy struct {
	// AllowTools are patterns of the tools that may be called. Nil means all tools, an empty list means none.
	AllowTools []string

	// DenyTools are patterns of tools that may not be called, also if AllowTools has them. A tool that may not be called
	// is left out of the answers to tools/list, and a call of it is answered with the error for a tool that is unknown,
	// -32602. The server does not get it.
	DenyTools []string

	// Timeout is how long a call of a tool may take, with the time for which it waits in the proxy. Then the host gets an
	// error, and the server notifications/cancelled. Zero means without end.
	Timeout time.Duration

	// Timeouts are those of tools that match a pattern, in place of Timeout. The longest pattern counts, of several that
	// are as long the first in alphabetical order. Zero means without end.
	Timeouts map[string]time.Duration

	// MaxConcurrent is how many calls of tools are with the server at once, those of all hosts together. Those beyond
	// wait in the order in which they came: 1,024 of them, and 16 MiB, at most. Zero means any number.
	MaxConcurrent int

	// Rate is how many calls of tools may be made in which time, those of all hosts together, all at once or one by one.
	// Those beyond are answered with an error that says when to try again. The zero value means any number.
	Rate Rate

	// Redaction is what hosts do not get to see.
	Redaction Redaction
}

// Rate is a number of calls in a time.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Redaction replaces parts of messages of the server on the way to the host: of results, of errors, also those
// of a transport and of a process that has ended, of notifications and requests of the server, and of the reasons for
// which it cancels. All else in a message stays byte for byte. A message grows to three times its size and 1 KiB at
// most; where a replacement would make it larger, the empty text takes the place of With.
//
// The texts of errors in spans and log records, and contents that
// [github.com/mcpotel/mcpotel/mcpclient/telemetry.WithContentCapture] captures, are redacted in the same way.
type Redaction struct {
	// Keys are the names of members whose values are replaced as a whole, whatever they are and at any depth, upper and
	// lower case being the same. Where names of members are those of properties, they do not count: in the answers that
	// introduce a server or list what it has, and in the requestedSchema of an elicitation. They count in a text that is
	// JSON as a whole, such as the one that repeats structuredContent; a text in that is a text. In the text of an error
	// that is no answer of the server, such as one with the body of an HTTP answer or the last words of a process, all is
	// replaced that follows a key with : or =.
	Keys []string

	// Patterns are regular expressions of package [regexp]. What they match in a string, or in the name of a member, is
	// replaced. None may match the empty text, or With.
	Patterns []string

	// With is what stands there instead, 64 bytes at most. Empty means "[redacted]".
	With string

	// Arguments has the arguments of tools, prompts and completions redacted as well, before the server gets them. The
	// text that is completed is replaced if its argument has the name of a key.
	Arguments bool
}

// maxWith bounds, in bytes, how much larger a message becomes with each value that is replaced.
const maxWith = 64

const defaultWith = "[redacted]"

// rules are a policy, ready for use. They are immutable.
type rules struct {
	only        bool // only tools that match allow may be called
	allow, deny []*regexp.Regexp
	timeout     time.Duration
	timeouts    []toolTimeout // the longest pattern first
	secrets     *secrets      // nil if nothing is redacted
	arguments   bool          // are redacted as well
}

type toolTimeout struct {
	of *regexp.Regexp
	d  time.Duration
}

// Validate returns what is wrong with a policy, as [New] does.
func (p *Policy) Validate() error {
	_, err := p.compile()
	return err
}

// TextRedactor returns a function that redacts a text of the server which is no message, such as a line on its standard
// error, as it does the text of an error: see [Redaction.Keys]. It is safe for concurrent use.
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

// compile returns the rules of a policy, or what is wrong with it.
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
		return nil, errors.New("policy: a rate is a number of calls in a time, both above zero")
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

// restrict reports whether there are tools that may not be called.
func (r *rules) restrict() bool { return r.only || r.deny != nil }

// permit reports whether a tool with these names may be called: a rule that allows one of them, and none that denies
// one.
func (r *rules) permit(names ...string) bool {
	matches := func(patterns []*regexp.Regexp) bool {
		return slices.ContainsFunc(names, func(name string) bool { return matchesAny(patterns, name) })
	}
	return (!r.only || matches(r.allow)) && !matches(r.deny)
}

// timeoutOf returns how long a call of a tool with these names may take, zero for without end.
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
		return nil, fmt.Errorf("policy: redaction: what stands instead has more than %d bytes", maxWith)
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
			return nil, fmt.Errorf("policy: redaction: %q matches %q, which is to stand in place of what it matches",
				text, with)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// compilePatterns compiles the patterns of what is called so.
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
