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

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/weigh"
)

// ErrNoTrace is the error of [Jaeger.Trace] for an unknown trace.
var ErrNoTrace = errors.New("no such trace")

// A Jaeger is the query service of a Jaeger. It uses version 3 of the API, which returns OTLP.
type Jaeger struct{ at *backend.Client }

// NewJaeger returns a Jaeger that sends its requests with at, a client with a URL such as "http://127.0.0.1:16686".
func NewJaeger(at *backend.Client) *Jaeger { return &Jaeger{at} }

// String returns the URL of the Jaeger.
func (j *Jaeger) String() string { return j.at.String() }

// Check returns an error if no Jaeger answers. It requests the names of services.
func (j *Jaeger) Check(ctx context.Context) error {
	_, err := j.Services(ctx)
	return err
}

// Services returns the names of the services with spans.
func (j *Jaeger) Services(ctx context.Context) ([]string, error) {
	answer, err := j.at.Get(ctx, "/api/v3/services", nil)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("no Jaeger answers at %s: %w", j, err)
	}
	defer answer.Body.Close()
	var services struct{ Services []string }
	err = answerBudget().Read(answer.Body, &services)
	if answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a Jaeger with the API of version 3: /api/v3/services: %w; want the URL of "+
			"Jaeger's page, such as http://127.0.0.1:16686", j, err)
	}
	return services.Services, nil
}

// Bounds of a response, in bytes.
const (
	maxAnswer = 64 << 20
	maxValues = 64 << 20 // in memory, without strings, which are no larger than the response
)

func answerBudget() *weigh.Budget { return &weigh.Budget{Text: maxAnswer, Values: maxValues} }

// Trace returns the spans of a trace.
func (j *Jaeger) Trace(ctx context.Context, id string) ([]otlpsink.Span, error) {
	answer, err := j.at.Get(ctx, "/api/v3/traces/"+url.PathEscape(id), nil)
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
	text, _ := io.ReadAll(io.LimitReader(body, 200)) // the beginning of the body explains the status
	return nil, fmt.Errorf("%s answers %s: %s", j, answer.Status, strings.TrimSpace(string(text)))
}

// spansIn decodes the response of Jaeger: a sequence of objects, each with a part of the trace.
func spansIn(body io.Reader) (all []otlpsink.Span, err error) {
	d := json.NewDecoder(body)
	left := answerBudget()
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
		spans, err := otlpsink.ParseSpans(part.Result, left)
		if err != nil {
			return nil, fmt.Errorf("answer of Jaeger: %w", err)
		}
		all = append(all, spans...)
	}
}

// Tagged returns the ids of the traces, not older than since, in which a span of the service has all these attributes.
// It uses the API of Jaeger's search page, with the default limit of Jaeger.
func (j *Jaeger) Tagged(ctx context.Context, service string, attributes map[string]string, since time.Time) ([]string,
	error) {
	return j.Search(ctx, service, attributes, since, 0)
}

// Search is like Tagged, for spans of at least this duration.
func (j *Jaeger) Search(ctx context.Context, service string, attributes map[string]string, since time.Time,
	atLeast time.Duration) ([]string, error) {
	tags, err := json.Marshal(attributes)
	if err != nil {
		return nil, err
	}
	query := url.Values{"service": {service}, "tags": {string(tags)}, "start": {strconv.FormatInt(since.UnixMicro(), 10)},
		"end": {strconv.FormatInt(time.Now().Add(time.Minute).UnixMicro(), 10)}}
	if atLeast > 0 {
		query.Set("minDuration", atLeast.String())
	}
	answer, err := j.at.Get(ctx, "/api/traces", query)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found struct {
		Data []struct {
			TraceID string `json:"traceID"`
		}
	}
	if err := answerBudget().Read(answer.Body, &found); err != nil {
		return nil, fmt.Errorf("%s answers %s to a search: %w", j, answer.Status, err)
	}
	var ids []string
	for _, t := range found.Data {
		ids = append(ids, t.TraceID)
	}
	return ids, nil
}
