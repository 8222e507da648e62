package scrape_test

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/promname"
	"github.com/mcpotel/mcpotel/internal/scrape"
)

// newReader returns a reader with its provider.
func newReader(t *testing.T) (*scrape.Reader, *sdkmetric.MeterProvider) {
	t.Helper()
	r, err := scrape.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	return r, sdkmetric.NewMeterProvider(sdkmetric.WithReader(r))
}

// scraped returns the answer to a scrape.
func scraped(t *testing.T, r *scrape.Reader, accept string) *httptest.ResponseRecorder {
	t.Helper()
	w, q := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, scrape.Path, nil)
	q.Header.Set("Accept", accept)
	r.Handler().ServeHTTP(w, q)
	return w
}

// emit records one measurement of a metric with all its attributes.
func emit(t *testing.T, meter metric.Meter, m schema.Metric) {
	t.Helper()
	var attrs []attribute.KeyValue
	for _, use := range m.Attrs {
		attrs = append(attrs, attribute.String(use.Key, "x"))
	}
	with := metric.WithAttributes(attrs...)
	var err error
	switch m.Instrument {
	case schema.Counter:
		var c metric.Int64Counter
		c, err = meter.Int64Counter(m.Name, metric.WithUnit(m.Unit))
		c.Add(t.Context(), 1, with)
	case schema.UpDownCounter:
		var c metric.Int64UpDownCounter
		c, err = meter.Int64UpDownCounter(m.Name, metric.WithUnit(m.Unit))
		c.Add(t.Context(), 1, with)
	case schema.Histogram:
		var h metric.Float64Histogram
		h, err = meter.Float64Histogram(m.Name, metric.WithUnit(m.Unit))
		h.Record(t.Context(), 1, with)
	default:
		f := func(_ context.Context, o metric.Float64Observer) error { o.Observe(1, with); return nil }
		switch m.Instrument {
		case schema.ObservableCounter:
			_, err = meter.Float64ObservableCounter(m.Name, metric.WithUnit(m.Unit), metric.WithFloat64Callback(f))
		case schema.ObservableGauge:
			_, err = meter.Float64ObservableGauge(m.Name, metric.WithUnit(m.Unit), metric.WithFloat64Callback(f))
		case schema.ObservableUpDownCounter:
			_, err = meter.Float64ObservableUpDownCounter(m.Name, metric.WithUnit(m.Unit), metric.WithFloat64Callback(f))
		default:
			t.Fatalf("unknown instrument %s", m.Instrument)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sample matches a sample of the text format: its name, and its labels without values.
var sample = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? [0-9.e+-]+$`)

var label = regexp.MustCompile(`([a-z_]+)="`)

// TestScrapeHasTheNamesOfTheDashboards compares the names of all metrics and labels of the schema in a scrape with the
// names of package promname. The dashboards, rules and alerts use the latter.
func TestScrapeHasTheNamesOfTheDashboards(t *testing.T) {
	r, provider := newReader(t)
	meter := provider.Meter("test")
	want := map[string]map[string]bool{}
	for _, m := range schema.Current.Metrics {
		emit(t, meter, m)
		labels := map[string]bool{}
		for _, use := range m.Attrs {
			labels[promname.Label(use.Key)] = true
		}
		for _, series := range promname.Metric(m) {
			want[series] = labels
		}
	}
	w := scraped(t, r, "text/plain")
	if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK ||
		!strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("got %d and the type %q, want 200 and the text format", w.Code, got)
	}
	got := map[string]map[string]bool{}
	for _, line := range sample.FindAllStringSubmatch(w.Body.String(), -1) {
		name, labels := line[1], map[string]bool{}
		if name == "target_info" || strings.HasPrefix(name, "promhttp_") {
			continue
		}
		for _, l := range label.FindAllStringSubmatch(line[2], -1) {
			if !strings.HasPrefix(l[1], "otel_scope_") && l[1] != "le" {
				labels[l[1]] = true
			}
		}
		got[name] = labels
	}
	for name := range want {
		if !maps.Equal(got[name], want[name]) {
			t.Errorf("labels of %s: got %v, want %v", name, slices.Sorted(maps.Keys(got[name])),
				slices.Sorted(maps.Keys(want[name])))
		}
	}
	if len(got) != len(want) {
		t.Errorf("the scrape has %d series, want %d: %v", len(got), len(want), slices.Sorted(maps.Keys(got)))
	}
}

func TestOpenMetricsHasExemplars(t *testing.T) {
	r, provider := newReader(t)
	h, err := provider.Meter("test").Float64Histogram("wait", metric.WithUnit("s"))
	if err != nil {
		t.Fatal(err)
	}
	h.Record(trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	})), 1)
	w := scraped(t, r, "application/openmetrics-text; version=1.0.0")
	text := w.Body.String()
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0") ||
		!strings.Contains(text, `trace_id="01000000000000000000000000000000"`) || !strings.HasSuffix(text, "# EOF\n") {
		t.Errorf("got the type %q, want OpenMetrics with an exemplar:\n%s", got, text)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w = scraped(t, r, ""); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "wait_seconds") {
		t.Errorf("after the shutdown: got %d, want 200 without metrics:\n%s", w.Code, w.Body)
	}
}

// slowReader is a client that does not read the answer until release is closed.
type slowReader struct {
	*httptest.ResponseRecorder
	writing, release chan struct{}
	once             *sync.Once
}

func (s slowReader) Write(p []byte) (int, error) {
	s.once.Do(func() { s.writing <- struct{}{} })
	<-s.release
	return s.ResponseRecorder.Write(p)
}

func TestConcurrentScrapesAreBounded(t *testing.T) {
	const limit = 10
	r, _ := newReader(t)
	h := r.Handler()
	get := func(w http.ResponseWriter) { h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, scrape.Path, nil)) }
	writing, release := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	for range limit {
		w := slowReader{httptest.NewRecorder(), writing, release, new(sync.Once)}
		slow.Go(func() { get(w) })
		<-writing
	}
	w := httptest.NewRecorder()
	if get(w); w.Code != http.StatusServiceUnavailable {
		t.Errorf("scrape %d: got %d, want 503", limit+1, w.Code)
	}
	close(release)
	slow.Wait()
	w = httptest.NewRecorder()
	if get(w); w.Code != http.StatusOK {
		t.Errorf("after the others: got %d, want 200", w.Code)
	}
}

// oneConn is a listener with one connection, in memory.
type oneConn struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}
func (l *oneConn) Close() error   { l.once.Do(func() { close(l.ended) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func TestShutdownCutsScrapeAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &oneConn{conns: make(chan net.Conn), ended: make(chan struct{})}
		asked := make(chan struct{})
		s := scrape.Serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
		}), func(err error) { t.Errorf("serving failed: %v", err) })
		near, far := net.Pipe()
		l.conns <- far
		go func() { _, _ = near.Write([]byte("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")) }()
		<-asked
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("Shutdown = %v after %v, want the deadline after 1s", err, time.Since(begin))
		}
		if _, err := bufio.NewReader(near).ReadByte(); err == nil {
			t.Error("the connection is still open")
		}
		near.Close()
	})
}
