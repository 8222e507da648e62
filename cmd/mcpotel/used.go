package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/scrape"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// used holds the flags that name the sources of the numbers of calls.
type used struct {
	sources []string
	headers headers
	over    string
	client  string
}

func (u *used) flags(f *pflag.FlagSet) {
	f.Func("used", "also show how often each tool was called, according to this `SOURCE`: the URL of a Prometheus, the URL "+
		"of a page of metrics such as http://localhost:9464/metrics, or a recording of \"mcpotel proxy --record\"; may be "+
		"repeated", func(s string) error {
		u.sources = append(u.sources, s)
		return nil
	})
	u.headers.flags(f, "used-header", " to the URLs of --used")
	f.StringVar(&u.over, "over", "7d", "count the calls of this `TIME` in Prometheus, such as 12h, 7d or 4w")
	f.StringVar(&u.client, "client", "", "count only calls of the client with this `NAME` (mcp_client.name), if several "+
		"servers have tools of the same names")
}

// times matches a duration of Prometheus.
var times = regexp.MustCompile(`^[1-9][0-9]{0,5}[smhdwy]$`)

// calls are the numbers of calls by tool.
type calls map[string]int64

// count returns the numbers of calls of all sources; nil without --used.
func (u *used) count(ctx context.Context) (calls, error) {
	header, err := u.headers.read()
	switch {
	case err != nil:
		return nil, err
	case len(u.sources) == 0 && (u.client != "" || header != nil):
		return nil, misuse("no source: --client and --used-header need --used SOURCE")
	case len(u.sources) == 0:
		return nil, nil
	case !times.MatchString(u.over):
		return nil, misuse("--over: %q is not a time, such as 12h, 7d or 4w", u.over)
	}
	all := calls{}
	for _, source := range u.sources {
		if !strings.HasPrefix(source, "http://") && !strings.HasPrefix(source, "https://") {
			if u.client != "" {
				return nil, misuse("--client does not apply to the recording %s: it has one server", source)
			}
			err = all.recorded(source)
		} else if page, ok := strings.CutSuffix(source, scrape.Path); ok {
			err = u.ask(page, header, func(at *backend.Client) error { return u.scraped(ctx, at, all) })
		} else {
			err = u.ask(source, header, func(at *backend.Client) error { return u.queried(ctx, prom.New(at), all) })
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (u *used) ask(url string, header http.Header, read func(*backend.Client) error) error {
	at, err := backend.New(url, header)
	if err != nil {
		return misuse("--used: %w", err)
	}
	if err := read(at); err != nil {
		return &exitError{exitConnection, fmt.Errorf("--used %s: %w", at, err)}
	}
	return nil
}

// recorded adds the calls in a recording.
func (all calls) recorded(path string) error {
	file, err := recording.Open(path)
	if err != nil {
		return misuse("--used: %w", err)
	}
	for _, e := range file.Entries {
		if e.From == recording.HostSide && e.Kind == recording.Request && e.Method == mcp.MethodCallTool {
			all[e.Name]++
		}
	}
	return nil
}

// The series that count calls, in Prometheus.
const (
	callSeries  = "mcp_client_operation_duration_seconds"
	methodLabel = "mcp_method_name"
	toolLabel   = "gen_ai_tool_name"
	clientLabel = "mcp_client_name"
)

// queried adds the calls that a Prometheus has counted. A counter that is not zero counts as at least one call even if it
// did not grow, because its first sample may already contain calls.
func (u *used) queried(ctx context.Context, p *prom.Client, all calls) error {
	selector := fmt.Sprintf(`%s_count{%s=%q`, callSeries, methodLabel, mcp.MethodCallTool)
	if u.client != "" {
		selector += fmt.Sprintf(`,%s=%q`, clientLabel, u.client)
	}
	selector += "}[" + u.over + "]"
	query := func(function string) ([]prom.Series, error) {
		return p.Query(ctx, fmt.Sprintf("sum by (%s) (%s(%s))", toolLabel, function, selector))
	}
	grown, err := query("increase")
	if err != nil {
		return err
	}
	reached, err := query("max_over_time")
	if err != nil {
		return err
	}
	found := calls{}
	for _, s := range reached {
		if s.Value() > 0 {
			found[s.Labels[toolLabel]] = 1
		}
	}
	for _, s := range grown {
		name := s.Labels[toolLabel]
		found[name] = max(found[name], int64(math.Round(s.Value())))
	}
	all.add(found)
	return nil
}

func (all calls) add(more calls) {
	for name, n := range more {
		all[name] += n
	}
}

// maxPage bounds a page of metrics, in bytes.
const maxPage = 64 << 20

// scraped adds the calls on a page of metrics.
func (u *used) scraped(ctx context.Context, at *backend.Client, all calls) error {
	response, err := at.Get(ctx, scrape.Path, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	page := &io.LimitedReader{R: response.Body, N: maxPage}
	families, err := parser.TextToMetricFamilies(page)
	if err == nil && page.N == 0 {
		err = fmt.Errorf("the page has more than %d MiB", maxPage>>20)
	}
	if err != nil {
		return err
	}
	family := families[callSeries]
	if family == nil {
		return errors.New("the page has no " + callSeries)
	}
	for _, m := range family.Metric {
		labels := map[string]string{}
		for _, l := range m.Label {
			labels[l.GetName()] = l.GetValue()
		}
		if labels[methodLabel] == mcp.MethodCallTool && (u.client == "" || labels[clientLabel] == u.client) {
			all[labels[toolLabel]] += int64(m.Histogram.GetSampleCount())
		}
	}
	return nil
}

// usage lists the tools with and without calls, and the cost of the tools without calls.
type usage struct {
	Unused       []string `json:"unused"` // tools without a call, the largest first
	UnusedTokens int      `json:"unusedTokens"`
	UnusedShare  float64  `json:"unusedShare"` // share of the tokens of all tools
	Others       int64    `json:"otherCalls"`  // calls of tools that the server does not list
	Allow        []string `json:"allow"`       // the tools with calls
}

// join adds the numbers of calls to the tools of a list.
func (all *toolCosts) join(n calls) {
	if n == nil {
		return
	}
	u := &usage{Unused: []string{}, Allow: []string{}}
	listed := map[string]bool{}
	for i := range all.Tools {
		t := &all.Tools[i]
		times := n[t.Name]
		t.Calls, listed[t.Name] = &times, true
		if times > 0 {
			u.Allow = append(u.Allow, t.Name)
			continue
		}
		u.Unused = append(u.Unused, t.Name)
		u.UnusedTokens += t.EstimatedTokens
	}
	for name, times := range n {
		if !listed[name] {
			u.Others += times
		}
	}
	slices.Sort(u.Allow)
	if all.EstimatedTokens > 0 {
		u.UnusedShare = float64(u.UnusedTokens) / float64(all.EstimatedTokens)
	}
	all.Usage = u
}

// print prints the tools without calls, and a policy that hides them.
func (u *usage) print(w io.Writer) error {
	text := fmt.Sprintf("Tools without a call: %d. They take %d tokens, %s of the list.", len(u.Unused), u.UnusedTokens,
		percent(u.UnusedShare))
	switch {
	case len(u.Allow) == 0 && u.Others > 0:
		text = fmt.Sprintf("The sources have %d calls, but none of a tool of this server. Check --client.", u.Others)
	case len(u.Allow) == 0:
		text = "The sources have no calls of tools. Check --over and --client, and whether the telemetry arrives."
	case u.Others > 0:
		text += fmt.Sprintf(" %d more calls are of tools that the server does not list, or that metrics do not name (%s).",
			u.Others, names.Other)
	}
	if len(u.Allow) > 0 && len(u.Unused) > 0 {
		var quoted []string
		for _, name := range u.Allow {
			quoted = append(quoted, strconv.Quote(visible.Line(name)))
		}
		text += "\nTo hide them, with mcpotel proxy --policy FILE:\n\ntools:\n  allow: [" + strings.Join(quoted, ", ") + "]"
	}
	return printText(w, "\n"+text)
}
