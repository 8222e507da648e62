package otlpsink

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcpotel/mcpotel/internal/grow"
)

// headerTimeout bounds the time for a client to send the headers of a request.
const headerTimeout = 10 * time.Second

// bodyTimeout bounds the time for a client to send the whole request.
const bodyTimeout = time.Minute

// handler receives OTLP/HTTP: a path for each signal, in protobuf or JSON.
func (s *store) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/traces", taking(s.takeSpans, fixSpanIDs, &coltrace.ExportTraceServiceResponse{}))
	mux.Handle("POST /v1/metrics", taking(s.takePoints, fixPointIDs, &colmetrics.ExportMetricsServiceResponse{}))
	mux.Handle("POST /v1/logs", taking(s.takeRecords, fixRecordIDs, &collogs.ExportLogsServiceResponse{}))
	return inLine(mux)
}

// inLine limits requests to atOnce at a time; others wait.
func inLine(next http.Handler) http.Handler {
	places := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// pointer is *M, which must be a message.
type pointer[M any] interface {
	*M
	proto.Message
}

// taking returns a handler for one signal. fix repairs the ids that protojson decodes wrongly.
func taking[M any, P pointer[M]](take, fix func(P), taken proto.Message) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := codecs[contentType(r)]
		if c.unmarshal == nil {
			http.Error(w, "want application/x-protobuf or application/json", http.StatusUnsupportedMediaType)
			return
		}
		body, code, err := bodyOf(w, r)
		if err != nil {
			c.answer(w, code, refusal(err))
			return
		}
		req := P(new(M))
		if err := c.unmarshal(body, req); err != nil {
			code := http.StatusBadRequest
			if errors.Is(err, errUnpacked) {
				code = http.StatusRequestEntityTooLarge
			}
			c.answer(w, code, refusal(err))
			return
		}
		if c.isJSON {
			fix(req)
		}
		take(req)
		c.answer(w, http.StatusOK, taken)
	})
}

// A codec is one of the two encodings of OTLP over HTTP.
type codec struct {
	contentType string
	isJSON      bool
	unmarshal   func([]byte, proto.Message) error
	marshal     func(proto.Message) ([]byte, error)
}

var codecs = map[string]codec{
	"application/x-protobuf": {"application/x-protobuf", false, unmarshal, proto.Marshal},
	"application/json":       {"application/json", true, unmarshalJSON, protojson.Marshal},
}

func contentType(r *http.Request) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func (c codec) answer(w http.ResponseWriter, code int, m proto.Message) {
	raw, err := c.marshal(m)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", c.contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // an exporter that has disconnected needs no response
}

// refusal returns the body that OTLP requires for an error.
func refusal(err error) proto.Message { return status.New(codes.InvalidArgument, err.Error()).Proto() }

var errTooLarge = fmt.Errorf("larger than %d bytes", maxMessage)

// bodyOf reads the body and decompresses it. On an error it returns the status code for the response.
func bodyOf(w http.ResponseWriter, r *http.Request) (body []byte, code int, err error) {
	var from io.Reader = http.MaxBytesReader(w, r.Body, maxMessage)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		if from, err = gzip.NewReader(from); err != nil {
			return nil, http.StatusBadRequest, err
		}
	default:
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("unknown content encoding %q", encoding)
	}
	body, err = (&grow.Body{Announced: -1, Limit: maxMessage}).Read(from)
	if _, large := errors.AsType[*http.MaxBytesError](err); large || errors.Is(err, grow.ErrLimit) {
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	}
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	return body, http.StatusOK, nil
}
