// Package prom is a client for the HTTP API of Prometheus (https://prometheus.io/docs/prometheus/latest/querying/api/).
package prom

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/backend"
)

// A Client sends requests to one Prometheus. It is safe for concurrent use.
type Client struct{ at *backend.Client }

// New returns a Client. The argument is the HTTP client for the URL of one Prometheus.
func New(at *backend.Client) *Client { return &Client{at} }

// Labels are the labels of a series, including __name__.
type Labels map[string]string

// A Sample is the value of a series at one time.
type Sample struct {
	Time  time.Time
	Value float64
}

// A Series is a list of samples with the same labels, oldest first.
type Series struct {
	Labels  Labels
	Samples []Sample
}

// Value returns the value of the newest sample.
func (s Series) Value() float64 { return s.Samples[len(s.Samples)-1].Value }

// An Exemplar is one measurement in a series. Labels has its trace_id and span_id.
type Exemplar struct {
	Labels Labels
	Time   time.Time
	Value  float64
}

// ExemplarSeries holds the exemplars of a series.
type ExemplarSeries struct {
	Labels    Labels
	Exemplars []Exemplar
}

// Query evaluates an expression now. The series have one sample each; a scalar is a series without labels.
func (c *Client) Query(ctx context.Context, expression string) ([]Series, error) {
	return c.series(ctx, "query", url.Values{"query": {expression}})
}

// QueryRange evaluates an expression at each step from start to end.
func (c *Client) QueryRange(ctx context.Context, expression string, start, end time.Time, step time.Duration) ([]Series,
	error) {
	return c.series(ctx, "query_range", url.Values{
		"query": {expression}, "start": {unix(start)}, "end": {unix(end)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)},
	})
}

// Exemplars returns the exemplars of the series in an expression.
func (c *Client) Exemplars(ctx context.Context, expression string, start, end time.Time) ([]ExemplarSeries, error) {
	var found []struct {
		Labels    Labels `json:"seriesLabels"`
		Exemplars []struct {
			Labels    Labels  `json:"labels"`
			Value     float64 `json:"value,string"`
			Timestamp float64 `json:"timestamp"`
		} `json:"exemplars"`
	}
	values := url.Values{"query": {expression}, "start": {unix(start)}, "end": {unix(end)}}
	if err := c.get(ctx, http.MethodPost, "query_exemplars", values, &found); err != nil {
		return nil, err
	}
	var all []ExemplarSeries
	for _, f := range found {
		s := ExemplarSeries{Labels: f.Labels}
		for _, e := range f.Exemplars {
			s.Exemplars = append(s.Exemplars, Exemplar{e.Labels, moment(e.Timestamp), e.Value})
		}
		all = append(all, s)
	}
	return all, nil
}

// MCPExemplars returns the exemplars of the metrics of clients and servers with these labels, the newest first. metric is
// the name of one metric, or empty for all. Exemplars without a trace are omitted.
func (c *Client) MCPExemplars(ctx context.Context, metric string, labels Labels, start, end time.Time) (all []Exemplar,
	_ error) {
	selector := []string{`__name__=~"mcp_(client|server)_.+"`}
	if metric != "" {
		selector[0] = "__name__=" + strconv.Quote(metric)
	}
	found, err := c.Exemplars(ctx, "{"+strings.Join(append(selector, labels.matchers()...), ",")+"}", start, end)
	for _, series := range found {
		for _, e := range series.Exemplars {
			if e.Labels["trace_id"] != "" {
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Exemplar) int { return b.Time.Compare(a.Time) })
	return all, err
}

// Matchers returns the labels as matchers of PromQL, for example `job="shop"`.
func (l Labels) Matchers() string { return strings.Join(l.matchers(), ",") }

func (l Labels) matchers() (all []string) {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		all = append(all, key+"="+strconv.Quote(l[key]))
	}
	return all
}

// Series returns the labels of the series that match one of the selectors and have samples between start and end.
func (c *Client) Series(ctx context.Context, start, end time.Time, selectors ...string) (all []Labels, err error) {
	values := url.Values{"match[]": selectors, "start": {unix(start)}, "end": {unix(end)}}
	err = c.get(ctx, http.MethodPost, "series", values, &all)
	return all, err
}

// An Alert is pending or firing.
type Alert struct {
	Labels      Labels // including alertname
	Annotations Labels
	State       string    // pending or firing
	ActiveAt    time.Time // since when the expression has a result
}

// Alerts returns the alerts that are pending or firing.
func (c *Client) Alerts(ctx context.Context) ([]Alert, error) {
	var found struct{ Alerts []Alert }
	err := c.get(ctx, http.MethodGet, "alerts", nil, &found)
	return found.Alerts, err
}

// AlertNames returns the names of all alerts with rules.
func (c *Client) AlertNames(ctx context.Context) (names []string, err error) {
	var found struct {
		Groups []struct {
			Rules []struct{ Name string }
		}
	}
	err = c.get(ctx, http.MethodGet, "rules", url.Values{"type": {"alert"}}, &found)
	for _, g := range found.Groups {
		for _, r := range g.Rules {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// result is the response to query and query_range.
type result struct {
	Type string          `json:"resultType"`
	Data json.RawMessage `json:"result"`
}

func (c *Client) series(ctx context.Context, path string, values url.Values) ([]Series, error) {
	var r result
	if err := c.get(ctx, http.MethodPost, path, values, &r); err != nil {
		return nil, err
	}
	if r.Type == "scalar" {
		var s sample
		err := json.Unmarshal(r.Data, &s)
		return []Series{{Samples: []Sample{Sample(s)}}}, err
	}
	var found []struct {
		Metric Labels   `json:"metric"`
		Value  *sample  `json:"value"`
		Values []sample `json:"values"`
	}
	if err := json.Unmarshal(r.Data, &found); err != nil {
		return nil, fmt.Errorf("%s: a %s: %w", path, r.Type, err)
	}
	var all []Series
	for _, f := range found {
		if f.Value != nil {
			f.Values = append(f.Values, *f.Value)
		}
		s := Series{Labels: f.Metric}
		for _, v := range f.Values {
			s.Samples = append(s.Samples, Sample(v))
		}
		if len(s.Samples) == 0 {
			return nil, fmt.Errorf("%s: %v has no float samples", path, f.Metric)
		}
		all = append(all, s)
	}
	return all, nil
}

// sample decodes [seconds, "value"].
type sample Sample

func (s *sample) UnmarshalJSON(text []byte) error {
	var seconds float64
	var value string
	if err := json.Unmarshal(text, &[]any{&seconds, &value}); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	*s = sample{moment(seconds), v}
	return err
}

// mostRead bounds the size of a response, in bytes.
const mostRead = 64 << 20

// get sends a request with this method and decodes the data of the response.
func (c *Client) get(ctx context.Context, method, path string, values url.Values, data any) error {
	ask := c.at.Post
	if method == http.MethodGet {
		ask = c.at.Get
	}
	resp, err := ask(ctx, "/api/v1/"+path, values)
	if err != nil {
		return fmt.Errorf("prometheus: %w", err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostRead)).Decode(&answer); err != nil {
		return fmt.Errorf("prometheus: %s: %s: %w", path, resp.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("prometheus: %s?%s: %s", path, values.Encode(), answer.Error)
	}
	return json.Unmarshal(answer.Data, data)
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

func moment(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)) }
