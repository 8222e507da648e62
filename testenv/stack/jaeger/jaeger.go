// Package jaeger reads traces from a Jaeger by its HTTP API, version 3, whose answers are OTLP: kinds, links and status
// come as they were exported. Times do too, for the traces are asked for raw: by default Jaeger corrects for clocks.
//
// Start with [New]. That a trace is complete Jaeger does not know; [Client.Await] waits until it looks so.
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

// ErrNotFound says that there is no such trace, or not yet.
var ErrNotFound = errors.New("no such trace")

// A Client asks one Jaeger. It may be used from any goroutine.
type Client struct{ base string }

// New returns a client for the Jaeger at a URL without a path.
func New(base string) *Client { return &Client{base: base} }

// URL is the page of a trace, for people whose Jaeger has a UI.
func (c *Client) URL(id string) string { return c.base + "/trace/" + id }

// A Query says which traces to find.
type Query struct {
	Service      string         // required by Jaeger
	Name         string         // of one of the service's spans; empty means any
	Attributes   map[string]any // that one span has, with these values; compared here, after Jaeger's limit
	Since, Until time.Time      // zero means an hour ago, and a minute from now
	Limit        int            // zero means 1,000 traces
}

// Trace returns a trace by its id; ErrNotFound if Jaeger has no span of it.
func (c *Client) Trace(ctx context.Context, id string) (*Trace, error) {
	traces, err := c.traces(ctx, "/api/v3/traces/"+url.PathEscape(id)+"?raw_traces=true")
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", id, err)
	}
	return traces[0], nil
}

// Await asks for a trace until ok is true of it. When ctx ends first, the error says so and the trace is what there is,
// nil for nothing.
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

// Find returns the traces of a query, the earliest first. None is no error.
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

// Tagged returns the ids of the traces in which a span of the service has the tag: what the search of Jaeger's page
// finds for "key=value", by the API that it uses. They are those of the last hour, and 1,000 at most.
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

// Services returns the names of the services that Jaeger has spans of.
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

// get asks and decodes the answer. Names in it match whatever their case.
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
