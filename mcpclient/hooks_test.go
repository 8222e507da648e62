package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// gapWeb is an HTTP server in memory. A test writes its streams.
type gapWeb struct {
	mu      sync.Mutex
	streams []*gapStream // streams that clients have opened; guarded by mu
	refuse  string       // value of Last-Event-ID that the server refuses; guarded by mu
}

// gapStream is the response to a GET or to a subscriptions/listen.
type gapStream struct {
	w      *io.PipeWriter
	id     json.RawMessage // ID of the request; nil for a GET
	behind string          // value of Last-Event-ID
}

const changingAll = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}}`

func (g *gapWeb) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: -1, Body: http.NoBody}
	if r.Method == http.MethodGet {
		return g.stream(r, resp, nil), nil
	}
	if r.Method != http.MethodPost {
		return resp, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	f := parseFrame(body)
	result := `{}`
	switch {
	case f.ID == nil:
		resp.StatusCode = http.StatusAccepted
		return resp, nil
	case f.Method == mcp.MethodSubscriptionsListen:
		return g.stream(r, resp, f.ID), nil
	case f.Method == mcp.MethodDiscover:
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + changingAll +
			`,"ttlMs":0,"cacheScope":"private"}`
	case f.Method == mcp.MethodInitialize:
		resp.Header.Set("Mcp-Session-Id", "s")
		result = `{"protocolVersion":"2025-11-25","capabilities":` + changingAll +
			`,"serverInfo":{"name":"gaps","version":"1"}}`
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, result)))
	return resp, nil
}

func (g *gapWeb) stream(r *http.Request, resp *http.Response, id json.RawMessage) *http.Response {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &gapStream{id: id, behind: r.Header.Get("Last-Event-ID")}
	g.streams = append(g.streams, s)
	if s.behind != "" && s.behind == g.refuse {
		resp.StatusCode = http.StatusBadRequest
		return resp
	}
	resp.Header.Set("Content-Type", "text/event-stream")
	resp.Body, s.w = io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = s.w.CloseWithError(context.Cause(r.Context())) })
	return resp
}

// latest returns the stream that was opened last, and the number of streams so far.
func (g *gapWeb) latest() (*gapStream, int) {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.streams[len(g.streams)-1], len(g.streams)
}

// send writes an event. It reports whether the client still reads the stream.
func (s *gapStream) send(event, method, params string) bool {
	if s.id != nil {
		params = strings.Replace("{"+ofSubscription(string(s.id))+","+params[1:], ",}", "}", 1)
	}
	_, err := fmt.Fprintf(s.w, "%sdata: {\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":%s}\n\n", event, method, params)
	synctest.Wait()
	return err == nil
}

func (s *gapStream) updates(uri string) bool {
	return s.send("", mcp.NotificationResourceUpdated, fmt.Sprintf(`{"uri":%q}`, uri))
}

// onGapWeb runs f in a bubble with a client of g. The client's handlers write to j.
func onGapWeb(t *testing.T, v mcp.Version,
	f func(t *testing.T, g *gapWeb, c *mcpclient.Client, j *journal, rec *telemetrytest.Recording)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, j, rec := &gapWeb{}, &journal{}, telemetrytest.Recorder(t)
		c, err := mcpclient.New(&transport.HTTP{URL: "http://localhost/mcp", Client: &http.Client{Transport: g}},
			&mcpclient.Options{Versions: []mcp.Version{v}, Telemetry: rec.Telemetry(), Features: []mcpclient.Feature{
				mcpclient.HandleResourceUpdated(j.updated)}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		await(t, c)
		f(t, g, c, j, rec)
	})
}

// watch subscribes to a resource of a modern server. uris are all URIs that the subscription then covers. It returns
// the stream.
func (g *gapWeb) watch(t *testing.T, c *mcpclient.Client, uri string, uris ...string) *gapStream {
	t.Helper()
	done := background(func() error { return c.SubscribeResource(t.Context(), uri) })
	s, _ := g.latest()
	s.send("", mcp.NotificationSubscriptionsAcknowledged, `{"notifications":`+about(uris...)+`}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return s
}

func TestUpdateOnReplacedSubscriptionIsDelivered(t *testing.T) {
	onGapWeb(t, mcp.Version20260728, func(t *testing.T, g *gapWeb, c *mcpclient.Client, j *journal,
		rec *telemetrytest.Recording) {
		first := g.watch(t, c, motd, motd)
		second := g.watch(t, c, news, motd, news)
		first.updates(motd) // sent before the second acknowledgement, but arrives later
		j.wants(t, "updated "+motd)
		second.updates(motd)
		first.updates(motd)
		j.wants(t, "updated "+motd) // the handler gets this update only once
		if err := c.UnsubscribeResource(t.Context(), motd); err != nil {
			t.Error(err)
		}
		third, _ := g.latest()
		third.send("", mcp.NotificationSubscriptionsAcknowledged, `{"notifications":`+about(news)+`}`)
		second.updates(motd)
		j.wants(t) // the user no longer wants the resource
		time.Sleep(10 * time.Second)
		if first.updates(news) || second.updates(news) || !third.updates(news) {
			t.Error("want the client to read only the latest subscription")
		}
		j.wants(t, "updated "+news)
		if got := rec.Value(names.MetricMCPClientChangeGap); got != 0 {
			t.Errorf("got %d gaps, want none", got)
		}
	})
}

func TestLosingReplacedSubscriptionCausesChangeGap(t *testing.T) {
	onGapWeb(t, mcp.Version20260728, func(t *testing.T, g *gapWeb, c *mcpclient.Client, j *journal,
		rec *telemetrytest.Recording) {
		first := g.watch(t, c, motd, motd)
		g.watch(t, c, news, motd, news)
		_ = first.w.CloseWithError(io.ErrUnexpectedEOF)
		j.wants(t, "updated "+motd, "updated "+news)
		if got := rec.Value(names.MetricMCPClientChangeGap, names.KeyMCPClientGapCause, names.GapReplacement); got != 1 {
			t.Errorf("got %d gaps, want 1", got)
		}
	})
}

func TestReplacedSubscriptionsAreBounded(t *testing.T) {
	onGapWeb(t, mcp.Version20260728, func(t *testing.T, g *gapWeb, c *mcpclient.Client, j *journal,
		rec *telemetrytest.Recording) {
		const bound = 4 // limit of replaced subscriptions
		var uris []string
		var streams []*gapStream
		for i := range bound + 2 {
			uris = append(uris, fmt.Sprint("test://", i))
			streams = append(streams, g.watch(t, c, uris[i], uris...))
		}
		if len(j.lines) != len(uris) {
			t.Errorf("heard %q, want each resource once", j.lines)
		}
		if got := rec.Value(names.MetricMCPClientChangeGap); got != 1 {
			t.Errorf("got %d gaps, want 1", got)
		}
		for i, s := range streams {
			if reads := s.updates(uris[0]); reads != (i > 0) {
				t.Errorf("the client reads subscription %d: %v, want all but the first read", i, reads)
			}
		}
	})
}

func TestReopenedStreamReportsGapUnlessReplayed(t *testing.T) {
	for name, test := range map[string]struct {
		event, refuse, cause string
		streams              int
	}{
		"no event id":               {"", "", names.GapStream, 2},
		"an event id":               {"id: e1\n", "", "", 2},
		"an unknown event id":       {"id: e1\n", "e1", names.GapReplay, 3},
		"an event with no id":       {"id\n", "", names.GapStream, 2},
		"another stream's event id": {"id: e2\n", "e1", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			onGapWeb(t, mcp.Version20251125, func(t *testing.T, g *gapWeb, c *mcpclient.Client, j *journal,
				rec *telemetrytest.Recording) {
				if err := c.SubscribeResource(t.Context(), motd); err != nil {
					t.Fatal(err)
				}
				s, _ := g.latest()
				s.send(test.event, mcp.NotificationToolListChanged, `{}`)
				g.mu.Lock()
				g.refuse = test.refuse
				g.mu.Unlock()
				_ = s.w.Close()
				time.Sleep(time.Minute)
				if s, n := g.latest(); n != test.streams || s.w == nil {
					t.Errorf("the client opened %d streams, want %d", n, test.streams)
				}
				if test.cause == "" {
					j.wants(t)
					return
				}
				j.wants(t, "updated "+motd)
				if got := rec.Value(names.MetricMCPClientChangeGap, names.KeyMCPClientGapCause, test.cause); got != 1 {
					t.Errorf("got %d gaps with cause %s, want 1", got, test.cause)
				}
			})
		})
	}
}

func TestRestoredSubscriptionSurvivesBadGateway(t *testing.T) {
	j := &journal{}
	o := &mcpclient.Options{Versions: legacyOnly,
		Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated)}}
	streamed(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		r := &revision{v: mcp.Version20251125, s: s, c: c, conversation: s.next(t).greet(mcp.Version20251125, all)}
		await(t, c)
		r.subscribe(motd)
		r.reconnect(all)
		for range 3 {
			r.fail(r.Expect(mcp.MethodSubscribe), transport.RequestError{Reason: transport.ReasonLost, Status: 502})
			j.wants(t)
		}
		r.Refuse(r.Expect(mcp.MethodSubscribe), mcp.CodeInternalError, "the member of the gateway is away")
		r.subscribed(motd)
		j.wants(t, "updated "+motd)
		time.Sleep(time.Hour)
		r.silent()
	})
}
