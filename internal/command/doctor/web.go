package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxAnswers bounds the distinct kinds of responses.
const maxAnswers = 20

// web is an http.RoundTripper that records the progress of requests and their responses.
type web struct {
	next *http.Transport

	mu        sync.Mutex
	hosts     int           // guarded by mu; number of addresses of the name
	resolved  time.Duration // guarded by mu; duration of the lookup
	dnsErr    error         // guarded by mu
	connected string        // guarded by mu; address of the first network connection
	tcpErr    error         // guarded by mu
	secured   *secured      // guarded by mu; nil for plain text
	tlsErr    error         // guarded by mu
	// guarded by mu; number of responses, by kind such as "POST 200 application/json"
	answers   map[string]int
	challenge string           // guarded by mu; WWW-Authenticate of the first 401 or 403
	refusals  int              // guarded by mu; number of responses with 401 or 403
	moved     string           // guarded by mu; target of the first redirect, without its query
	clock     *clock           // guarded by mu; offset of the server's clock; nil until a response has a Date
	streams   map[*stream]bool // guarded by mu; open event streams
	silent    time.Duration    // guarded by mu; longest time in which an event stream sent nothing
}

// secured describes a TLS connection.
type secured struct {
	version string
	expires time.Time
	subject string
}

// clock is the offset of the server's clock. Positive means that the server is ahead; off is the uncertainty.
type clock struct{ ahead, off time.Duration }

func newWeb() *web {
	next := http.DefaultTransport.(*http.Transport).Clone()
	return &web{next: next, answers: map[string]int{}, streams: map[*stream]bool{}}
}

// close closes idle network connections.
func (w *web) close() { w.next.CloseIdleConnections() }

// RoundTrip sends a request and records its response.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	resp, err := w.next.RoundTrip(r.WithContext(w.watch(r.Context())))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(r, resp, sent, time.Now())
	if kind := mediaType(resp); kind == "text/event-stream" {
		s := &stream{ReadCloser: resp.Body, web: w, opened: time.Now(), answers: r.Method == http.MethodPost}
		w.streams[s] = true
		resp.Body = s
	}
	return resp, nil
}

// watch returns ctx with hooks for the network connection.
func (w *web) watch(ctx context.Context) context.Context {
	var asked time.Time // needs no lock: the hooks of one lookup run one after the other
	locked := func(change func()) {
		w.mu.Lock()
		defer w.mu.Unlock()
		change()
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { locked(func() { asked = time.Now() }) },
		DNSDone: func(i httptrace.DNSDoneInfo) {
			locked(func() { w.hosts, w.resolved, w.dnsErr = len(i.Addrs), time.Since(asked), i.Err })
		},
		ConnectDone: func(_, addr string, err error) {
			locked(func() {
				if err == nil {
					w.connected = cmp.Or(w.connected, addr)
				} else if w.connected == "" {
					w.tcpErr = err
				}
			})
		},
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			locked(func() {
				switch w.tlsErr = err; {
				case err == nil && w.secured == nil && len(s.PeerCertificates) > 0:
					w.secured = newSecured(s.Version, s.PeerCertificates[0])
				}
			})
		},
	})
}

func newSecured(version uint16, c *x509.Certificate) *secured {
	return &secured{tls.VersionName(version), c.NotAfter, cmp.Or(strings.Join(c.DNSNames, ", "), c.Subject.CommonName)}
}

// note records a response. The caller holds mu.
func (w *web) note(r *http.Request, resp *http.Response, sent, came time.Time) {
	what := strings.TrimSpace(fmt.Sprintf("%s %d %s", r.Method, resp.StatusCode, mediaType(resp)))
	if _, known := w.answers[what]; known || len(w.answers) < maxAnswers {
		w.answers[what]++
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		w.refusals++
		w.challenge = cmp.Or(w.challenge, resp.Header.Get("WWW-Authenticate"))
	case resp.StatusCode >= 300 && resp.StatusCode < 400 && w.moved == "":
		if to, err := resp.Location(); err == nil {
			w.moved = to.Scheme + "://" + to.Host + to.EscapedPath()
		}
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || w.clock != nil || resp.Header.Get("Age") != "" {
		return
	}
	const half = time.Second / 2 // the header has whole seconds
	w.clock = &clock{date.Add(half).Sub(sent.Add(came.Sub(sent) / 2)), half + came.Sub(sent)/2}
}

// responses returns the kinds of responses with their numbers.
func (w *web) responses() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, what := range slices.Sorted(maps.Keys(w.answers)) {
		if n := w.answers[what]; n > 1 {
			what += fmt.Sprintf(" ×%d", n)
		}
		all = append(all, what)
	}
	return strings.Join(all, ", ")
}

// mediaType returns the media type of a response's body, or the empty string.
func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// stream is the body of a response that is an event stream.
type stream struct {
	io.ReadCloser
	web     *web
	opened  time.Time
	answers bool // the stream answers a request, so it must send a message
	sent    bool // guarded by web.mu; the stream has sent bytes
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.web.mu.Lock()
	defer s.web.mu.Unlock()
	if n > 0 && !s.sent {
		s.sent = true
	}
	if err != nil {
		s.ended()
	}
	return n, err
}

func (s *stream) Close() error {
	s.web.mu.Lock()
	s.ended()
	s.web.mu.Unlock()
	return s.ReadCloser.Close()
}

// ended removes the stream from web.streams and records how long it sent nothing. The caller holds web.mu.
func (s *stream) ended() {
	if s.web.streams[s] && s.answers && !s.sent {
		s.web.silent = max(s.web.silent, time.Since(s.opened))
	}
	delete(s.web.streams, s)
}

// proxied returns the proxy that the environment names for the URL, or the empty string.
func (w *web) proxied(r *http.Request) string {
	if u, err := w.next.Proxy(r); err == nil && u != nil {
		return u.Host
	}
	return ""
}
