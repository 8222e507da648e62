package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// kept is a sink that keeps its messages. It fails while failing is set.
type kept struct {
	name string
	mu   sync.Mutex
	fail error      // guarded by mu
	all  []*Message // guarded by mu
}

func (k *kept) Name() string { return k.name }

func (k *kept) Deliver(_ context.Context, m *Message) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	k.all = append(k.all, m)
	return nil
}

func (k *kept) failing(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = err
}

func (k *kept) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

// plainly explains each alert without evidence.
func plainly(_ context.Context, a *Alert) *Message { return newMessage(a).bounded() }

func receives(t *testing.T, o Options) *Receiver {
	t.Helper()
	if o.Explain == nil {
		o.Explain = plainly
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// posted posts a payload and returns the answer.
func posted(r http.Handler, body string, headers ...string) (int, string) {
	req := httptest.NewRequest(http.MethodPost, "/alerts", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

var start = time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)

// payload returns the payload with n alerts.
func payload(t *testing.T, status string, n int) string {
	t.Helper()
	p := Notification(status, nil, nil, start)
	p.Alerts = nil
	for i := range n {
		labels := map[string]string{"alertname": "MCPToolLoop", "job": "shop", "n": fmt.Sprint(i)}
		p.Alerts = append(p.Alerts, Notification(status, labels, nil, start).Alerts...)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnAlertIsDeliveredOnceToEachSinkWhileItFires(t *testing.T) {
	one, other := &kept{name: "one"}, &kept{name: "other"}
	r := receives(t, Options{Sinks: []Sink{one, other}})
	for _, step := range []struct {
		name          string
		body          string
		fail          error // of other
		status        int
		answer        string
		inOne, inBoth int
	}{
		{"a sink fails", payload(t, Firing, 2), errors.New("HTTP 500"), 502, "other: HTTP 500", 2, 0},
		{"Alertmanager repeats the request", payload(t, Firing, 2), nil, 200, "2 of 2 alerts delivered", 2, 2},
		{"the alert still fires", payload(t, Firing, 2), nil, 200, "0 of 2 alerts delivered", 2, 2},
		{"the group has a new alert", payload(t, Firing, 3), nil, 200, "1 of 3 alerts delivered", 3, 3},
		{"one alert is over", payload(t, Resolved, 1), nil, 200, "1 of 1 alerts delivered", 4, 4},
		{"repeated", payload(t, Resolved, 1), nil, 200, "0 of 1 alerts delivered", 4, 4},
		{"it fires again", strings.ReplaceAll(payload(t, Firing, 1), "T20:00", "T21:00"), nil, 200, "1 of 1", 5, 5},
	} {
		other.failing(step.fail)
		status, answer := posted(r, step.body)
		if status != step.status || !strings.Contains(answer, step.answer) {
			t.Errorf("%s: want %d and %q, got %d: %s", step.name, step.status, step.answer, status, answer)
		}
		if one.count() != step.inOne || other.count() != step.inBoth {
			t.Errorf("%s: want %d and %d messages, got %d and %d", step.name, step.inOne, step.inBoth, one.count(),
				other.count())
		}
	}
}

func TestConcurrentNotificationsOfOneAlertAreDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &kept{name: "one"}
		r := receives(t, Options{Sinks: []Sink{sink}, Explain: func(ctx context.Context, a *Alert) *Message {
			time.Sleep(time.Second)
			return plainly(ctx, a)
		}})
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if status, answer := posted(r, payload(t, Firing, 1)); status != http.StatusOK {
					t.Errorf("want 200, got %d: %s", status, answer)
				}
			})
		}
		group.Wait()
		if n := sink.count(); n != 1 {
			t.Errorf("want 1 message, got %d", n)
		}
	})
}

func TestSearchesAreBoundedAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, late := 0, 0, 0
		sink := &kept{}
		r := receives(t, Options{Sinks: []Sink{sink}, Timeout: time.Second,
			Explain: func(ctx context.Context, a *Alert) *Message {
				if ctx.Err() != nil { // the time of the request is over: no search
					mu.Lock()
					defer mu.Unlock()
					late++
					return plainly(ctx, a)
				}
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				<-ctx.Done() // no evidence is found
				mu.Lock()
				defer mu.Unlock()
				now--
				return plainly(ctx, a)
			}})
		var group sync.WaitGroup
		began := time.Now()
		for i := range 2 * maxRequests {
			group.Go(func() {
				body := strings.ReplaceAll(payload(t, Firing, 10), "shop", fmt.Sprint("shop", i))
				body = strings.ReplaceAll(body, `"fingerprint":"`, `"fingerprint":"x`) // not valid: computed
				if status, answer := posted(r, body); status != http.StatusOK {
					t.Errorf("want 200, got %d: %s", status, answer)
				}
			})
		}
		group.Wait()
		// The requests are answered in two groups. In each, 16 of 40 alerts are searched for, 4 at a time for a second. A
		// search may also begin in the last instant.
		if took := time.Since(began); took != 2*rounds*time.Second || most != maxSearches || late == 0 || late > 48 {
			t.Errorf("want %d searches at a time, up to 48 alerts without a search, and 8s, got %d, %d and %v", maxSearches, most,
				late, took)
		}
		if n := sink.count(); n != 80 {
			t.Errorf("want all 80 alerts delivered, got %d", n)
		}
	})
}

func TestAnAlertIsNotDeliveredAfterAlertmanagerHasGivenUp(t *testing.T) {
	sink := &kept{}
	ctx, cancel := context.WithCancel(t.Context())
	r := receives(t, Options{Sinks: []Sink{sink}, Explain: func(ctx context.Context, a *Alert) *Message {
		cancel()
		return plainly(ctx, a)
	}})
	p, err := Parse(strings.NewReader(payload(t, Firing, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Receive(ctx, p); !errors.Is(err, context.Canceled) || sink.count() != 0 {
		t.Errorf("want no message and the error of the context, got %d and %v", sink.count(), err)
	}
	if n, err := r.Receive(t.Context(), p); n != 1 || err != nil || sink.count() != 1 {
		t.Errorf("repeated: want it delivered, got %d, %v and %d messages", n, err, sink.count())
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	valid := payload(t, Firing, 1)
	var said bytes.Buffer
	r := receives(t, Options{Sinks: []Sink{&kept{}}, Token: "let-me-in", Say: func(text string) { said.WriteString(text) }})
	with := []string{"Authorization", "Bearer let-me-in"}
	for _, tc := range []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"valid", valid, with, 200, "1 of 1 alerts"},
		{"lower case", valid, []string{"Authorization", "bearer let-me-in"}, 200, "0 of 1"},
		{"without a token", valid, nil, 401, "bearer token is missing or wrong"},
		{"another token", valid, []string{"Authorization", "Bearer let-me-in-too"}, 401, "missing or wrong"},
		{"basic", valid, []string{"Authorization", "Basic let-me-in"}, 401, "missing or wrong"},
		{"not JSON", "{", with, 400, "not the JSON of Alertmanager's webhook"},
		{"another type", `[]`, with, 400, "not the JSON"},
		{"version 3", strings.Replace(valid, `"4"`, `"3"`, 1), with, 400, `has the version 3; want version "4"`},
		{"no version", `{"alerts":[]}`, with, 400, `want version "4"`},
		{"status", strings.ReplaceAll(valid, "firing", "suppressed"), with, 400, "alert 1 has the status suppressed"},
		{"10 MB", strings.Replace(valid, "shop", strings.Repeat("x", 10<<20), 1), with, 413, "set max_alerts"},
		{"10,000 alerts", strings.Replace(valid, `"alerts":[`, `"alerts":[`+strings.Repeat(`{"status":"firing"},`, 9999),
			1), with, 413, "10000 alerts; set max_alerts in Alertmanager's webhook_configs to at most 1000"},
		{"a million values", `{"version":"4","alerts":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`, with, 413, "set max_alerts"},
	} {
		if status, answer := posted(r, tc.body, tc.headers...); status != tc.status || !strings.Contains(answer, tc.want) {
			t.Errorf("%s: want %d and %q, got %d: %.300s", tc.name, tc.status, tc.want, status, answer)
		}
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/alerts", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET: want 405 with Allow, got %d", w.Code)
	}
	if strings.Contains(said.String(), "let-me-in") || !strings.Contains(said.String(), "answered Alertmanager with 413") {
		t.Errorf("want lines about the refusals without the token, got %s", said.String())
	}
}

func TestUnknownFieldsAndMissingFingerprintsAreAccepted(t *testing.T) {
	sink := &kept{}
	r := receives(t, Options{Sinks: []Sink{sink}})
	body := `{"version":"4","notification_reason":"new","future":{"a":[1]},"truncatedAlerts":7,"alerts":[{"status":"firing",
"labels":{"alertname":"MCPToolLoop","job":"shop"},"startsAt":"2026-11-30T20:00:00Z","fingerprint":"../../x","more":1}]}`
	if status, answer := posted(r, body); status != http.StatusOK {
		t.Fatalf("want 200, got %d: %s", status, answer)
	}
	m, want := sink.all[0], fingerprint(map[string]string{"alertname": "MCPToolLoop", "job": "shop"})
	if m.Fingerprint != want || len(m.Missing) != 1 || !strings.HasPrefix(m.Missing[0], "7 other alerts") {
		t.Errorf("want the computed fingerprint %s and the note about 7 alerts, got %+v", want, m)
	}
}

func TestManyAlertsAreRemembered(t *testing.T) {
	var d deliveries
	for i := range maxDeliveries + 10 {
		one, err := d.begin(t.Context(), alertKey{fingerprint: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		one.sent = 1
		if i != 3 { // the delivery 3 stays in use
			d.end(one)
		}
	}
	if len(d.known) != maxDeliveries || d.order.Len() != maxDeliveries {
		t.Errorf("want %d alerts in memory, got %d and %d", maxDeliveries, len(d.known), d.order.Len())
	}
	for i, want := range map[uint64]bool{0: false, 3: true, 9: false, 10: false, 11: true, maxDeliveries + 9: true} {
		if got := d.known[alertKey{fingerprint: i}] != nil; got != want {
			t.Errorf("alert %d in memory: want %v, got %v", i, want, got)
		}
	}
}

func TestSinksAreRequired(t *testing.T) {
	for _, n := range []int{0, 65} {
		if _, err := New(Options{Sinks: make([]Sink, n)}); err == nil {
			t.Errorf("%d sinks: want an error", n)
		}
	}
}
