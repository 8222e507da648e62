package traceview

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// A filter selects what a page shows, by the parameters of its URL. The zero value selects everything.
type filter struct {
	Service string        // only traces with a span of this service
	Text    string        // text in a name, id, status message, or "key=value" of an attribute, ignoring case
	Errors  bool          // only traces with errors
	Min     time.Duration // only traces of at least this duration
	Level   int           // only log records of at least this severity

	Connects bool // also list the traces that only connect; see isConnecting

	Since   time.Duration // only traces that began within this time; zero for all
	Longest bool          // sort by duration, the longest first, not by age
	Page    int           // number of the page of the list, from 1

	MinText string // Min as written in the URL
	Bad     string // explanation of an invalid parameter; empty for none
}

func filterOf(r *http.Request) filter {
	q := r.URL.Query()
	f := filter{
		Service: q.Get("service"), Text: strings.TrimSpace(q.Get("q")), Errors: q.Get("errors") != "",
		MinText: strings.TrimSpace(q.Get("min")), Connects: q.Get("connects") != "",
	}
	f.Level, _ = strconv.Atoi(q.Get("level"))
	f.Since, _ = time.ParseDuration(q.Get("since"))
	f.Longest = q.Get("sort") == "longest"
	f.Page, _ = strconv.Atoi(q.Get("page"))
	f.Page = max(f.Page, 1)
	if f.MinText == "" {
		return f
	}
	var err error
	if f.Min, err = durationOf(f.MinText); err != nil {
		f.Bad = "“" + cut(scantText, f.MinText) + "” is not a duration: write 250ms, 1.5s, or a number of milliseconds."
	}
	return f
}

// durationOf parses a duration; a bare number is milliseconds.
func durationOf(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		s += "ms"
	}
	return time.ParseDuration(strings.ReplaceAll(s, " ", ""))
}

// Active reports whether the filter excludes anything; templates call it.
func (f filter) Active() bool {
	return f.Service != "" || f.Text != "" || f.Errors || f.Min > 0 || f.Level > 0 || f.Since > 0
}

// at returns the filter for another page of the list, as URL parameters.
func (f filter) at(page int) string {
	f.Page = page
	if page == 1 && f.query() == "" {
		return "?"
	}
	return f.query()
}

// query returns the filter as URL parameters.
func (f filter) query() string {
	q := url.Values{}
	for key, value := range map[string]string{"service": f.Service, "q": f.Text, "min": f.MinText} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Errors {
		q.Set("errors", "1")
	}
	if f.Connects {
		q.Set("connects", "1")
	}
	if f.Level > 0 {
		q.Set("level", strconv.Itoa(f.Level))
	}
	if f.Since > 0 {
		q.Set("since", f.Since.String())
	}
	if f.Longest {
		q.Set("sort", "longest")
	}
	if f.Page > 1 {
		q.Set("page", strconv.Itoa(f.Page))
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func (f filter) passes(s summary, spans []*otlpsink.Span) bool {
	switch {
	case f.Service != "" && !slices.Contains(s.Services, f.Service),
		f.Errors && s.Errors == 0,
		s.Duration < f.Min, f.Since > 0 && time.Since(s.Start) > f.Since:
		return false
	case f.Text == "", contains(s.TraceID, f.Text):
		return true
	}
	return slices.ContainsFunc(spans, func(sp *otlpsink.Span) bool {
		return contains(sp.Name, f.Text) || sp.SpanID == f.Text || contains(sp.StatusMessage, f.Text) ||
			contained(sp.Attributes, f.Text)
	})
}

// contained reports whether an attribute, written as key=value, contains text.
func contained(attributes map[string]any, text string) bool {
	for k, v := range attributes {
		if contains(k+"="+valueText(v), text) {
			return true
		}
	}
	return false
}

func contains(s, text string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(text))
}
