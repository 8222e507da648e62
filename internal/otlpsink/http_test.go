package otlpsink

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

func startHTTP(t *testing.T) *Sink {
	t.Helper()
	s := start(t, defaultLimit)
	if err := s.ListenHTTP(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s
}

// post sends a body and returns the status and the body of the response.
func post(t *testing.T, s *Sink, path, contentType string, body io.Reader, change ...func(*http.Request)) (int,
	string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.HTTPEndpoint()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	for _, c := range change {
		c(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

func zipped(t *testing.T, raw []byte) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func encoding(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Content-Encoding", name) }
}

func TestHTTPAcceptsProtobuf(t *testing.T) {
	s := startHTTP(t)
	raw, err := proto.Marshal(request("plain"))
	if err != nil {
		t.Fatal(err)
	}
	if code, answer := post(t, s, "/v1/traces", "application/x-protobuf", bytes.NewReader(raw)); code != 200 ||
		answer != "" {
		t.Errorf("want 200 and an empty message, got %d %q", code, answer)
	}
	raw, _ = proto.Marshal(request("zipped"))
	if code, answer := post(t, s, "/v1/traces", "application/x-protobuf", zipped(t, raw), encoding("gzip")); code != 200 {
		t.Errorf("compressed: want 200, got %d %q", code, answer)
	}
	if now := s.Snapshot(); len(now.SpansNamed("plain")) != 1 || len(now.SpansNamed("zipped")) != 1 {
		t.Errorf("want both spans, got %v", now.Spans)
	}
}

func TestHTTPAcceptsJSONWithHexadecimalIDs(t *testing.T) {
	s := startHTTP(t)
	const resource = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]}`
	for path, body := range map[string]string{
		"/v1/traces": `{"resourceSpans":[{` + resource + `,"scopeSpans":[{"spans":[{
			"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","parentSpanId":"EEE19B7EC3C1B173","name":"order","kind":2,
			"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":1544712661000000000,"status":{"code":2},
			"links":[{"traceId":"5b8efff798038103d269b633813fc60d","spanId":"eee19b7ec3c1b175"}],
			"attributes":[{"key":"n","value":{"intValue":"7"}}],"somethingNew":1}]}]}]}`,
		"/v1/metrics": `{"resourceMetrics":[{` + resource + `,"scopeMetrics":[{"metrics":[
			{"name":"sum","sum":{"isMonotonic":true,"dataPoints":[{"asInt":"3","exemplars":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","asDouble":1}]}]}},
			{"name":"gauge","gauge":{"dataPoints":[{"asDouble":3}]}},{"name":"histogram","histogram":{"dataPoints":[{"count":"1"}]}},
			{"name":"exponential","exponentialHistogram":{"dataPoints":[{"count":1}]}}]}]}]}`,
		"/v1/logs": `{"resourceLogs":[{` + resource +
			`,"scopeLogs":[{"logRecords":[{"severityNumber":13,"body":{"stringValue":"late"},
			"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}]}]}]}`,
	} {
		if code, answer := post(t, s, path, "application/json; charset=utf-8", strings.NewReader(body)); code != 200 ||
			answer != "{}" {
			t.Errorf("%s: want 200 {}, got %d %q", path, code, answer)
		}
	}
	const traceID, spanID = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
	now := s.Snapshot()
	if len(now.Spans) != 1 || len(now.Points) != 4 || len(now.Records) != 1 {
		t.Fatalf("want one span, four points and one record, got %+v", now)
	}
	sp := now.Spans[0]
	got := []string{sp.TraceID, sp.SpanID, sp.ParentID, sp.Links[0].TraceID, sp.Links[0].SpanID, sp.Kind, sp.Status,
		sp.Service()}
	want := []string{traceID, spanID, "eee19b7ec3c1b173", "5b8efff798038103d269b633813fc60d", "eee19b7ec3c1b175", "SERVER",
		"ERROR", "shop"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("span (-want +got):\n%s", diff)
	}
	if sp.Attributes["n"] != int64(7) || sp.End.Sub(sp.Start).Seconds() != 1 {
		t.Errorf("want n=7 and one second, got %v and %v", sp.Attributes, sp.End.Sub(sp.Start))
	}
	if r := now.Records[0]; r.TraceID != traceID || r.SpanID != spanID {
		t.Errorf("record: want its ids, got %+v", r)
	}
	if e := now.PointsOf("sum")[0].Exemplars; len(e) != 1 || e[0].TraceID != traceID || e[0].SpanID != spanID {
		t.Errorf("exemplar: want its ids, got %+v", e)
	}
}

func TestHTTPRefusesInvalidRequests(t *testing.T) {
	s := startHTTP(t)
	foreign := func(r *http.Request) { r.Host = "evil.example" }
	bomb := zipped(t, make([]byte, maxMessage+1))
	for name, tc := range map[string]struct {
		path, contentType string
		body              io.Reader
		change            []func(*http.Request)
		want              int
	}{
		"another path": {"/v1/profiles", "application/x-protobuf", nil, nil, 404},
		"another type": {"/v1/traces", "text/plain", strings.NewReader("{}"), nil, 415},
		"no type":      {"/v1/traces", "", strings.NewReader("{}"), nil, 415},
		"another encoding": {"/v1/traces", "application/json", strings.NewReader("{}"), []func(*http.Request){encoding("br")},
			415},
		"no gzip": {"/v1/traces", "application/json", strings.NewReader("{}"), []func(*http.Request){encoding("gzip")},
			400},
		"not protobuf": {"/v1/metrics", "application/x-protobuf", strings.NewReader("\xff\xff"), nil, 400},
		"not JSON":     {"/v1/logs", "application/json", strings.NewReader("{"), nil, 400},
		"too large":    {"/v1/traces", "application/x-protobuf", io.LimitReader(zeroes{}, maxMessage+1), nil, 413},
		"a bomb":       {"/v1/traces", "application/x-protobuf", bomb, []func(*http.Request){encoding("gzip")}, 413},
		"empty spans": {"/v1/traces", "application/x-protobuf", zipped(t, emptySpans(2<<20)),
			[]func(*http.Request){encoding("gzip")}, 413},
		"empty in JSON": {"/v1/traces", "application/json", strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"spans":[` +
			strings.Repeat("{},", 1<<20) + "{}]}]}]}"),
			nil, 413},
		"nested values": {"/v1/logs", "application/x-protobuf", bytes.NewReader(nestedValue(100)), nil, 400},
		"another host":  {"/v1/traces", "application/json", strings.NewReader("{}"), []func(*http.Request){foreign}, 421},
	} {
		t.Run(name, func(t *testing.T) {
			if code, answer := post(t, s, tc.path, tc.contentType, tc.body, tc.change...); code != tc.want {
				t.Errorf("want %d, got %d %.100q", tc.want, code, answer)
			}
		})
	}
	if now := s.Snapshot(); len(now.Spans)+len(now.Points)+len(now.Records) > 0 {
		t.Errorf("want nothing kept, got %+v", now)
	}
}

// emptySpans returns an export request with n empty spans of two bytes each.
func emptySpans(n int) []byte {
	spans := bytes.Repeat([]byte{2<<3 | 2, 0}, n)
	inScope := append(protowire.AppendVarint([]byte{2<<3 | 2}, uint64(len(spans))), spans...)
	return append(protowire.AppendVarint([]byte{1<<3 | 2}, uint64(len(inScope))), inScope...)
}

// nestedValue returns an export request for a log record whose body is n nested lists.
func nestedValue(n int) []byte {
	var raw []byte
	wrap := func(field byte) {
		raw = append(protowire.AppendVarint([]byte{field<<3 | 2}, uint64(len(raw))), raw...)
	}
	for range n {
		wrap(1) // values
		wrap(5) // arrayValue
	}
	for _, field := range []byte{5, 2, 2, 1} { // body, logRecords, scopeLogs, resourceLogs
		wrap(field)
	}
	return raw
}

func TestDecompressionIsBounded(t *testing.T) {
	s := startHTTP(t)
	small := zipped(t, emptySpans(2<<20))
	if small.Len() > 64<<10 {
		t.Fatalf("the bomb has %d bytes", small.Len())
	}
	var code int
	allocated := heap.Allocated(func() {
		code, _ = post(t, s, "/v1/traces", "application/x-protobuf", small, encoding("gzip"))
	})
	if code != 413 || allocated > 32<<20 {
		t.Errorf("a bomb of 4 MiB: want 413 and less than 32 MiB allocated, got %d and %d bytes", code, allocated)
	}
	connection, err := grpc.NewClient(s.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	var request coltrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(emptySpans(1<<18), &request); err != nil {
		t.Fatal(err)
	}
	if _, err = coltrace.NewTraceServiceClient(connection).Export(t.Context(), &request); err == nil ||
		!strings.Contains(err.Error(), "when decoded") {
		t.Errorf("over gRPC: want an error that says what is wrong, got %v", err)
	}
	if got := len(s.Snapshot().Spans); got != 0 {
		t.Errorf("want nothing kept, got %d spans", got)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCloseEndsHTTPRequests(t *testing.T) {
	s := startHTTP(t)
	// A body that never ends keeps a handler busy.
	r, w := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.HTTPEndpoint()+"/v1/traces", r)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	over := make(chan error)
	go func() {
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			answer.Body.Close()
		}
		over <- err
	}()
	if _, err := w.Write([]byte("x")); err != nil { // the handler is reading the body
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err != context.Canceled {
		t.Errorf("Close = %v, want context.Canceled", err)
	}
	w.Close() // otherwise the client would wait for the end of the body
	if err := <-over; err == nil {
		t.Error("want the request cut, got an answer")
	}
	awaitNone(t, "http.(*conn).serve")
}

func FuzzHTTPNeverPanics(f *testing.F) {
	raw, _ := proto.Marshal(request("x"))
	f.Add(raw, true)
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C"}]}]}]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, binary bool) {
		c := codecs["application/json"]
		if binary {
			c = codecs["application/x-protobuf"]
		}
		var req coltrace.ExportTraceServiceRequest
		if c.unmarshal(body, &req) == nil {
			fixSpanIDs(&req)
			newStore(defaultLimit).takeSpans(&req)
		}
	})
}
