// Package jaeger reads traces from Jaeger by its HTTP API, version 3, which returns OTLP: kinds, links and status are
// unchanged. Times are unchanged, too, because the package requests raw traces; by default Jaeger corrects clock
// differences.
//
// Start with [New]. Jaeger does not know whether a trace is complete; [Client.Await] waits until the caller considers
// it complete.
package jaeger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ErrNotFound means that the trace does not exist, or not yet.
var ErrNotFound = errors.New("no such trace")

// A Client queries one Jaeger. It is safe for concurrent use.
type Client struct{ base string }

// New returns a client for the Jaeger at base, a URL without a path.
func New(base string) *Client { return &Client{base: base} }

// URL returns the address of a trace's page in Jaeger's UI.
func (c *Client) URL(id string) string { return c.base + "/trace/" + id }

// A Query selects traces.
type Query struct {
	Service      string         // required by Jaeger
	Name         string         // name of one of the service's spans; empty means any
	Attributes   map[string]any // attributes of a single span; compared here, after Jaeger has applied Limit
	Since, Until time.Time      // zero means an hour ago, and a minute from now
	Limit        int            // zero means 1,000 traces
}

// Trace returns a trace by its id, or ErrNotFound if Jaeger has no span of it.
func (c *Client) Trace(ctx context.Context, id string) (*Trace, error) {
	traces, err := c.traces(ctx, "/api/v3/traces/"+url.PathEscape(id)+"?raw_traces=true")
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", id, err)
	}
	return traces[0], nil
}

// Await fetches a trace until ok reports true. If ctx ends first, Await returns an error and the latest state of the
// trace, or nil.
func (c *Client) Await(ctx context.Context, id string, ok func(*Trace) bool) (*Trace, error) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	var last *Trace
	for {
		t, err := c.Trace(ctx, id)
		switch {
		case err == nil && ok(t):
			return t, nil
		case err == nil:
			last = t
		case !errors.Is(err, ErrNotFound):
			return last, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return last, fmt.Errorf("trace %s is not complete: %w", id, context.Cause(ctx))
		}
	}
}

// Find returns the matching traces, the earliest first. An empty result is not an error.
func (c *Client) Find(ctx context.Context, q Query) ([]*Trace, error) {
	now := time.Now()
	if q.Since.IsZero() {
		q.Since = now.Add(-time.Hour)
	}
	if q.Until.IsZero() {
		q.Until = now.Add(time.Minute)
	}
	traces, err := c.traces(ctx, "/api/v3/traces?"+url.Values{
		"query.service_name": {q.Service}, "query.operation_name": {q.Name},
		"query.start_time_min": {q.Since.UTC().Format(time.RFC3339Nano)},
		"query.start_time_max": {q.Until.UTC().Format(time.RFC3339Nano)},
		"query.num_traces":     {strconv.Itoa(cmp.Or(q.Limit, 1000))}, "query.raw_traces": {"true"},
	}.Encode())
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find traces of %s: %w", q.Service, err)
	}
	return slices.DeleteFunc(traces, func(t *Trace) bool { return !slices.ContainsFunc(t.Spans, q.matches) }), nil
}

// matches reports whether a span has the attributes.
func (q *Query) matches(s *Span) bool {
	for key, want := range q.Attributes {
		if s.Attributes[key] != want {
			return false
		}
	}
	return true
}

// Tagged returns the ids of the traces in which a span of the service has the tag: the results of a search on Jaeger's
// page for "key=value", by the same API. It covers the last hour and at most 1,000 traces.
func (c *Client) Tagged(ctx context.Context, service, key, value string) (ids []string, err error) {
	tags, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		return nil, err
	}
	var a struct{ Data []struct{ TraceID string } }
	err = c.get(ctx, "/api/traces?"+url.Values{"service": {service}, "tags": {string(tags)}, "lookback": {"1h"},
		"limit": {"1000"}}.Encode(), &a)
	if err != nil {
		return nil, fmt.Errorf("find traces of %s with %s=%s: %w", service, key, value, err)
	}
	for _, found := range a.Data {
		ids = append(ids, found.TraceID)
	}
	return ids, nil
}

// Services returns the names of all services with spans in Jaeger.
func (c *Client) Services(ctx context.Context) ([]string, error) {
	var a struct{ Services []string }
	if err := c.get(ctx, "/api/v3/services", &a); err != nil {
		return nil, err
	}
	slices.Sort(a.Services)
	return a.Services, nil
}

func (c *Client) traces(ctx context.Context, path string) ([]*Trace, error) {
	var a answer
	if err := c.get(ctx, path, &a); err != nil {
		return nil, err
	}
	traces := group(a.spans())
	if len(traces) == 0 {
		return nil, ErrNotFound
	}
	return traces, nil
}

// get sends a request and decodes the answer. Names in the answer match in any case.
func (c *Client) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(resp.Body).Decode(v)
	case http.StatusNotFound:
		return ErrNotFound
	}
	var a answer
	if json.NewDecoder(resp.Body).Decode(&a) == nil && a.Error != nil {
		return fmt.Errorf("%s: %s", resp.Status, a.Error.Message)
	}
	return errors.New(resp.Status)
}
