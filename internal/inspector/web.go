package inspector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/weigh"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Bounds of the answers of a debug page.
const (
	maxPages   = 32 << 20  // bytes of all answers for one tool call
	maxValues  = 128 << 20 // bytes of memory for their values
	maxInspect = 100       // clients, or servers, of one debug page
)

// budget returns the memory budget of one tool call, for the answers of all pages.
func budget() *weigh.Budget { return &weigh.Budget{Text: maxPages, Values: maxValues} }

// page is a JSON endpoint of another process. Requests do not follow redirects, because the user has chosen the
// address.
type page struct {
	base   string
	client http.Client
}

// newPage returns the page at a URL. The URL must be on loopback unless remote is set.
func newPage(base string, remote bool) (*page, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("invalid page URL %q: want a URL such as http://localhost:6060/debug/mcp/, without user, "+
			"query or fragment", base)
	}
	if err := CheckLoopback(u, remote); err != nil {
		return nil, err
	}
	return &page{base, http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}, nil
}

// ErrRemote reports a URL that is not on loopback.
var ErrRemote = errors.New("not on this machine")

// CheckLoopback returns [ErrRemote] for a URL that is not on loopback, unless remote is set.
func CheckLoopback(u *url.URL, remote bool) error {
	if !remote && !hostname.Loopback(hostname.Host(u.Host)) {
		return fmt.Errorf("%w: %s", ErrRemote, u.Host)
	}
	return nil
}

// errNotFound reports a missing page.
var errNotFound = errors.New("no such page")

// get reads JSON within a budget.
func (p *page) get(ctx context.Context, rest string, into any, b *weigh.Budget) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+rest, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := p.client.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return fmt.Errorf("it cannot be reached: %w; check that the program is running", err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return errNotFound
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers HTTP %d", answer.StatusCode) // without the reason phrase, which the server chooses
	}
	err = b.Read(answer.Body, into)
	if errors.Is(err, weigh.ErrTooMuch) {
		return fmt.Errorf("its answer is too large: %w", err)
	}
	if err != nil {
		return fmt.Errorf("its answer is not the JSON of such a page: %w", err)
	}
	return nil
}

// DebugPage is the debug page of another process: see package inspect/debugpage.
type DebugPage struct{ *page }

// NewDebugPage returns the debug page at a URL.
func NewDebugPage(base string, remote bool) (*DebugPage, error) {
	p, err := newPage(base, remote)
	return &DebugPage{p}, err
}

// Name returns the URL.
func (d *DebugPage) Name() string { return d.base }

// Look reads the overview, and then the page of each client and server, because only these pages contain the flight
// recorders. It omits clients and servers that have ended in between.
func (d *DebugPage) Look(ctx context.Context) (Seen, error) {
	b := budget()
	var o struct {
		Clients []inspect.Client
		Servers []inspect.Server
	}
	if err := d.get(ctx, "?format=json", &o, b); err != nil {
		return Seen{}, err
	}
	seen := Seen{Clients: o.Clients, Servers: o.Servers}
	for i := range o.Clients[:min(maxInspect, len(o.Clients))] {
		c := &seen.Clients[i]
		if err := d.one(ctx, "client", c.Number, c, b); err != nil {
			return seen, err
		}
	}
	for i := range o.Servers[:min(maxInspect, len(o.Servers))] {
		s := &seen.Servers[i]
		if err := d.one(ctx, "server", s.Number, s, b); err != nil {
			return seen, err
		}
	}
	if len(o.Clients) > maxInspect || len(o.Servers) > maxInspect {
		return seen, fmt.Errorf("it has more than %d clients or servers; the flight recorders of the others were not read",
			maxInspect)
	}
	return seen, nil
}

func (d *DebugPage) one(ctx context.Context, kind string, number uint64, into any, b *weigh.Budget) error {
	err := d.get(ctx, "?format=json&"+kind+"="+strconv.FormatUint(number, 10), into, b)
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// TracePage is the trace page of another mcpotel process: of "mcpotel view", or of the option --web.
type TracePage struct{ *page }

// NewTracePage returns the trace page at a URL.
func NewTracePage(base string, remote bool) (*TracePage, error) {
	p, err := newPage(strings.TrimSuffix(base, "/"), remote)
	return &TracePage{p}, err
}

// Name returns the URL.
func (t *TracePage) Name() string { return t.base }

// Trace reads the spans of a trace.
func (t *TracePage) Trace(ctx context.Context, id string) (spans []explain.Span, _ error) {
	var trace struct {
		Spans []struct {
			SpanID   string         `json:"span_id"`
			ParentID string         `json:"parent_id"`
			Service  string         `json:"service"`
			Name     string         `json:"name"`
			Kind     string         `json:"kind"`
			Start    time.Time      `json:"start"`
			Took     time.Duration  `json:"duration_ns"`
			Status   string         `json:"status"`
			Message  string         `json:"status_message"`
			Attrs    map[string]any `json:"attributes"`
			Resource map[string]any `json:"resource"`
		} `json:"spans"`
		Records []struct {
			SpanID string         `json:"span_id"`
			Attrs  map[string]any `json:"attributes"`
		} `json:"records"`
	}
	err := t.get(ctx, "/trace/"+id+".json", &trace, budget())
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	texts := map[string]string{} // error texts of spans, from their log records
	for _, r := range trace.Records {
		if text, ok := r.Attrs[names.KeyExceptionMessage].(string); ok && texts[r.SpanID] == "" {
			texts[r.SpanID] = text
		}
	}
	for _, s := range trace.Spans {
		if s.Status == "ERROR" {
			s.Message = cmp.Or(s.Message, texts[s.SpanID])
		}
		spans = append(spans, explain.Span{ID: s.SpanID, Parent: s.ParentID, Service: s.Service, Name: s.Name, Kind: s.Kind,
			Process: explain.ProcessOf(Attributes(s.Resource)),
			Start:   s.Start, End: s.Start.Add(s.Took), Failed: s.Status == "ERROR", Message: s.Message,
			Attributes: Attributes(s.Attrs)})
	}
	return spans, err
}

// Recent returns the ids of matching traces on the page.
func (t *TracePage) Recent(ctx context.Context, q Query) (ids []string, _ error) {
	wanted := url.Values{}
	if q.Failed {
		wanted.Set("errors", "1")
	}
	for _, key := range slices.Sorted(maps.Keys(q.Attributes)) { // the page searches for one attribute only
		wanted.Set("q", key+"="+q.Attributes[key])
	}
	if q.Tool != "" {
		wanted.Set("q", names.KeyGenAIToolName+"="+q.Tool)
	}
	if q.Service != "" {
		wanted.Set("service", q.Service)
	}
	if q.AtLeast > 0 {
		wanted.Set("min", q.AtLeast.String())
	}
	var list struct {
		Traces []struct {
			TraceID string `json:"trace_id"`
		} `json:"traces"`
	}
	err := t.get(ctx, "/traces.json?"+wanted.Encode(), &list, budget())
	for _, s := range list.Traces {
		ids = append(ids, s.TraceID)
	}
	return ids, err
}

// Attributes converts the attributes of a span to text.
func Attributes(values map[string]any) map[string]string {
	all := make(map[string]string, len(values))
	for k, v := range values {
		switch v := v.(type) {
		case string:
			all[k] = v
		case float64:
			all[k] = strconv.FormatFloat(v, 'f', -1, 64)
		case nil, bool, int64:
			all[k] = fmt.Sprint(v)
		default:
			raw, err := json.Marshal(v)
			if err == nil { // omits a value that has no text form
				all[k] = string(raw)
			}
		}
	}
	return all
}
