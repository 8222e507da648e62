package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A selector is a series selector in a query.
type selector struct {
	name     string // empty if a matcher on __name__ selects the names
	matchers []matcher
	window   string // in brackets; empty for none
	offset   string
	function string // function whose only argument is the selector; empty for none
}

type matcher struct{ label, op, value string }

func (s selector) matchersText() string { return fmt.Sprint(s.matchers) }

// A query is the part of a PromQL query that the tests need: its selectors and its labels.
type query struct {
	selectors []selector
	labels    []string // of by, without, on, ignoring, group_left and group_right
}

var tokens = regexp.MustCompile(
	`"(?:[^"\\]|\\.)*"|[0-9][0-9a-zA-Z.]*|[a-zA-Z_:$][a-zA-Z0-9_:$]*|=~|!~|!=|==|>=|<=|[^\s]`)

var word = regexp.MustCompile(`^[a-zA-Z_:]`)

var (
	labelLists = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	operators  = []string{"and", "or", "unless", "offset", "bool", "sum", "count", "max", "min", "avg", "group", "topk"}
)

// parse parses a query. It does not detect invalid queries: promtool and Prometheus do.
func parse(text string) (q query) {
	r := &reader{rest: tokens.FindAllString(text, -1)}
	for len(r.rest) > 0 {
		switch next := r.peek(0); {
		case slices.Contains(labelLists, next):
			q.labels = append(q.labels, r.labelList()...)
		case next == "{", word.MatchString(next) && r.peek(1) != "(" && !slices.Contains(operators, next):
			q.selectors = append(q.selectors, r.selector())
		default:
			r.next()
		}
	}
	return q
}

// A reader reads the tokens of a query one by one.
type reader struct{ rest, read []string }

func (r *reader) peek(n int) string {
	if n < len(r.rest) {
		return r.rest[n]
	}
	return ""
}

func (r *reader) next() string {
	token := r.peek(0)
	r.read, r.rest = append(r.read, token), r.rest[min(1, len(r.rest)):]
	return token
}

// skip consumes the next token if it is this token.
func (r *reader) skip(token string) bool {
	if r.peek(0) != token {
		return false
	}
	r.next()
	return true
}

func (r *reader) labelList() (labels []string) {
	for r.next(); r.peek(0) != ")"; {
		if token := r.next(); word.MatchString(token) {
			labels = append(labels, token)
		}
	}
	return labels
}

func (r *reader) selector() (s selector) {
	if n := len(r.read); n > 1 && r.read[n-1] == "(" {
		s.function = r.read[n-2]
	}
	if r.peek(0) != "{" {
		s.name = r.next()
	}
	if r.skip("{") {
		for !r.skip("}") {
			s.matchers = append(s.matchers, matcher{r.next(), r.next(), strings.Trim(r.next(), `"`)})
			r.skip(",")
		}
	}
	if r.skip("[") {
		s.window = r.next()
		r.skip("]")
	}
	if r.skip("offset") {
		s.offset = r.next()
	}
	return s
}

func TestParseSplitsQueries(t *testing.T) {
	q := parse(`histogram_quantile(0.95, sum by (le, job) (rate(a_bucket{x=~"b|c",y!=""}[$__rate_interval]))) > 0.5
		or on (z) topk(3, (m unless last_over_time(m[1h] offset 5m))) / scalar(r:x:y5m) and {__name__=~"k.+"}`)
	want := query{
		selectors: []selector{
			{name: "a_bucket", matchers: []matcher{{"x", "=~", "b|c"}, {"y", "!=", ""}}, window: "$__rate_interval",
				function: "rate"},
			{name: "m", function: ","},
			{name: "m", window: "1h", offset: "5m", function: "last_over_time"},
			{name: "r:x:y5m", function: "scalar"},
			{matchers: []matcher{{"__name__", "=~", "k.+"}}},
		},
		labels: []string{"le", "job", "z"},
	}
	if got := fmt.Sprintf("%+v", q); got != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %s\nwant %+v", got, want)
	}
}
