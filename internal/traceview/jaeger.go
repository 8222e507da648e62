package traceview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// ErrNoTrace is returned by [Jaeger.Trace] for a trace that it does not have.
var ErrNoTrace = errors.New("no such trace")

// A Jaeger is a Jaeger's query service, by its API of version 3, which speaks OTLP.
type Jaeger struct {
	base   string
	client *http.Client
}

// NewJaeger is the Jaeger at a URL such as "http://127.0.0.1:16686", with its base path if it has one.
func NewJaeger(base string) (*Jaeger, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of a Jaeger, such as http://127.0.0.1:16686", base)
	}
	return &Jaeger{strings.TrimSuffix(u.String(), "/"), &http.Client{Timeout: 10 * time.Second}}, nil
}

// Check returns an error if no Jaeger answers there. It asks for the names of services, which every Jaeger has.
func (j *Jaeger) Check(ctx context.Context) error {
	answer, err := j.get(ctx, "/api/v3/services")
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return fmt.Errorf("no Jaeger answers at %s: %w", j.base, err)
	}
	defer answer.Body.Close()
	var services struct{ Services []string }
	err = json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&services)
	if answer.StatusCode != http.StatusOK || err != nil {
		return fmt.Errorf("%s is not a Jaeger with the API of version 3: it answers %s to /api/v3/services; want the URL of "+
			"its page, such as http://127.0.0.1:16686", j.base, answer.Status)
	}
	return nil
}

// get asks for a path, with its query.
func (j *Jaeger) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, j.base+path, nil)
	if err != nil {
		return nil, err
	}
	return j.client.Do(r)
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// Trace is the spans of a trace.
func (j *Jaeger) Trace(ctx context.Context, id string) ([]otlpsink.Span, error) {
	answer, err := j.get(ctx, "/api/v3/traces/"+url.PathEscape(id))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body := io.LimitReader(answer.Body, maxAnswer)
	switch answer.StatusCode {
	case http.StatusOK:
		return spansIn(body)
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", id, ErrNoTrace)
	}
	text, _ := io.ReadAll(io.LimitReader(body, 200)) // whatever can be read explains the status
	return nil, fmt.Errorf("%s answers %s: %s", j.base, answer.Status, strings.TrimSpace(string(text)))
}

// spansIn reads what Jaeger answers: one object after the other, each with a part of the trace.
func spansIn(body io.Reader) (all []otlpsink.Span, err error) {
	d := json.NewDecoder(body)
	for {
		var part struct {
			Result json.RawMessage `json:"result"`
		}
		switch err := d.Decode(&part); {
		case err == io.EOF && len(all) == 0:
			return nil, ErrNoTrace
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("answer of Jaeger: %w", err)
		}
		if len(part.Result) == 0 {
			continue
		}
		spans, err := otlpsink.ParseSpans(part.Result)
		if err != nil {
			return nil, fmt.Errorf("answer of Jaeger: %w", err)
		}
		all = append(all, spans...)
	}
}

// Tagged is the ids of traces of which a span of the service has all these attributes and began at since or later, as
// many as Jaeger gives by itself: what the search of its page finds, by the API that the page uses.
func (j *Jaeger) Tagged(ctx context.Context, service string, attributes map[string]string, since time.Time) ([]string,
	error) {
	tags, err := json.Marshal(attributes)
	if err != nil {
		return nil, err
	}
	query := url.Values{"service": {service}, "tags": {string(tags)}, "start": {strconv.FormatInt(since.UnixMicro(), 10)},
		"end": {strconv.FormatInt(time.Now().Add(time.Minute).UnixMicro(), 10)}}
	answer, err := j.get(ctx, "/api/traces?"+query.Encode())
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found struct {
		Data []struct {
			TraceID string `json:"traceID"`
		}
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&found); err != nil {
		return nil, fmt.Errorf("%s answers %s to a search: %w", j.base, answer.Status, err)
	}
	var ids []string
	for _, t := range found.Data {
		ids = append(ids, t.TraceID)
	}
	return ids, nil
}
