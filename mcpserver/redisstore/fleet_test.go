package redisstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// who returns the name of the process that answers.
func (f *fleet) who(c *mcpclient.Client) string {
	f.t.Helper()
	r, err := c.CallTool(f.t.Context(), "who", nil)
	if err != nil {
		f.t.Fatalf("who: want an answer, got %v", err)
	}
	return r.Text()
}

// oneSession checks that the test has used only one session.
func (f *fleet) oneSession() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) != 1 {
		f.t.Errorf("want one session all the time, got %d", len(f.sessions))
	}
}

func TestTwoProcessesServeOneSession(t *testing.T) {
	f := launch(t, 2)
	c := f.connect()
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range 4 {
		all.Go(func() {
			for range 10 {
				who := f.who(c)
				mu.Lock()
				answers[who]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if answers["A"] == 0 || answers["B"] == 0 {
		t.Errorf("want both processes to answer, got %v", answers)
	}
	f.oneSession()
}

func TestChangeNotificationCrossesProcesses(t *testing.T) {
	f := launch(t, 2)
	f.to(func(r *http.Request, _ []byte) int { // the stream reaches A, and all other requests reach B
		if r.Method == http.MethodGet {
			return 0
		}
		return 1
	})
	changed := make(chan struct{}, 10)
	c := f.connect(mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		func(context.Context, *mcpclient.Notification) {
			changed <- struct{}{}
		}))
	if _, err := c.CallTool(t.Context(), "change", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(patience):
		t.Fatal("the client got no notification of the change")
	}
	if a, b := f.got(http.MethodGet, 0), f.got(http.MethodPost, 1); a == 0 || b == 0 || f.got(http.MethodPost, 0) > 0 {
		t.Errorf("the requests did not go where this test wants them: %d streams in A, %d messages in B", a, b)
	}
}

func TestCancellationReachesProcessOfItsRequest(t *testing.T) {
	f := launch(t, 2)
	c := f.connect()
	f.to(only(0))
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, "steps", step{"work"}, mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
		result <- err
	}()
	f.did("work", "begun by A")
	f.to(only(1))
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("want the call cancelled, got %v", err)
	}
	v, err := f.redis.BLPop(t.Context(), patience, f.prefix+"work-done").Result()
	if err != nil || !strings.HasPrefix(v[1], "ended: cancelled by the client") {
		t.Errorf("want the handler's context ended by the client, got %q, %v", v, err)
	}
}

func TestResponseReachesRequestingProcess(t *testing.T) {
	f := launch(t, 2)
	f.to(func(_ *http.Request, body []byte) int { // the call reaches A, and all other requests reach B
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			return 0
		}
		return 1
	})
	c := f.connect(mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}))
	r, err := c.CallTool(t.Context(), "ask", nil)
	if err != nil || r.Text() != "decline asked by A" {
		t.Errorf("want the answer of the client, got %v, %v", r, err)
	}
	f.oneSession()
}

// modern sends a request of a modern client that supports tasks, and returns the result.
func (f *fleet) modern(method, name, params string) json.RawMessage {
	f.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, params)
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method":           method, "Mcp-Name": name,
	} {
		r.Header.Set(key, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || m.Result == nil {
		f.t.Fatalf("%s: want a result, got status %d, error %s, %v", method, resp.StatusCode, m.Error, err)
	}
	return m.Result
}

// begin starts a task in A and returns its id.
func (f *fleet) begin(name string) (id string) {
	f.t.Helper()
	f.to(only(0))
	var created struct{ TaskID string }
	raw := f.modern("tools/call", "task", fmt.Sprintf(`"name":"task","arguments":{"name":%q}`, name))
	if err := json.Unmarshal(raw, &created); err != nil || created.TaskID == "" {
		f.t.Fatalf("want a task, got %s, %v", raw, err)
	}
	f.did(name, "begun by A")
	f.to(only(1))
	return created.TaskID
}

// becomes polls a task in B until the task has the status, and returns the task.
func (f *fleet) becomes(id, status string) string {
	f.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; <-tick.C {
		raw := f.modern("tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
		var task struct{ Status string }
		if err := json.Unmarshal(raw, &task); err != nil {
			f.t.Fatal(err)
		}
		if task.Status == status {
			return string(raw)
		}
		if time.Since(start) > patience {
			f.t.Fatalf("want the task to become %s, it is %s", status, raw)
		}
	}
}

func TestTaskIsSharedBetweenProcesses(t *testing.T) {
	f := launch(t, 2)
	id := f.begin("work")
	f.becomes(id, "working")
	f.step("work", "go")
	if got := f.becomes(id, "completed"); !strings.Contains(got, "done by A") {
		t.Errorf("want the result, got %s", got)
	}
	f.procs[0].kill()
	if got := f.becomes(id, "completed"); !strings.Contains(got, "done by A") {
		t.Errorf("want the result kept, got %s", got)
	}
}

func TestATaskOfAKilledProcessFails(t *testing.T) {
	f := launch(t, 2)
	id := f.begin("work")
	f.procs[0].kill()
	f.becomes(id, "failed")
}

// heard records the progress notifications of a client.
type heard struct {
	mu    sync.Mutex
	all   []string
	first chan struct{}
}

func (h *heard) hear(p *mcp.ProgressParams) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, p.Message)
	if len(h.all) == 1 {
		close(h.first)
	}
}

func (h *heard) is(want ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.all, want) {
		return fmt.Errorf("want progress %q, got %q", want, h.all)
	}
	return nil
}

// interrupted starts a call in A and cuts the stream of the call after the first event. The client cannot open a
// stream until the test calls resume. In this time, A sends two more events.
func (f *fleet) interrupted(c *mcpclient.Client) (progress *heard, result chan string, resume func()) {
	f.t.Helper()
	progress, result = &heard{first: make(chan struct{})}, make(chan string, 1)
	f.to(only(0))
	go func() {
		r, err := c.CallTool(f.t.Context(), "steps", step{"work"}, mcpclient.WithProgress(progress.hear))
		if err != nil {
			result <- err.Error()
		} else {
			result <- r.Text()
		}
	}()
	f.did("work", "begun by A")
	f.step("work", "one")
	f.did("work", "one")
	<-progress.first
	resume = f.held(http.MethodGet)
	f.cut()
	for _, s := range []string{"two", "three"} {
		f.step("work", s)
		f.did("work", s)
	}
	return progress, result, resume
}

func TestStreamResumesInAnotherProcess(t *testing.T) {
	f := launch(t, 2)
	c := f.connect()
	progress, result, resume := f.interrupted(c)
	f.to(only(1))
	resume()
	f.step("work", "four")
	f.did("work", "four")
	f.step("work", "last")
	if got := <-result; got != "done by A" {
		t.Errorf("want the answer, got %q", got)
	}
	if err := progress.is("one", "two", "three", "four"); err != nil {
		t.Error(err)
	}
	if f.got(http.MethodGet, 1) == 0 {
		t.Error("want the stream read in B, it was not")
	}
	f.oneSession()
}

func TestKilledProcessLosesNoSentMessages(t *testing.T) {
	f := launch(t, 2)
	c := f.connect()
	progress, result, resume := f.interrupted(c)
	f.procs[0].kill()
	f.to(nil)
	resume()
	start := time.Now()
	got := <-result
	if !strings.Contains(got, "has ended") {
		t.Errorf("want an error with the reason, got %q", got)
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("want it soon after the lease of %v, it took %v", lease, took)
	}
	if err := progress.is("one", "two", "three"); err != nil {
		t.Error(err)
	}
	if who := f.who(c); who != "B" {
		t.Errorf("want the session served by B, got %s", who)
	}
	f.oneSession()
}

func TestCallWithoutStreamFailsWhenItsProcessIsKilled(t *testing.T) {
	f := launch(t, 2)
	c := f.connect()
	f.to(only(0))
	result := make(chan error, 1)
	go func() {
		_, err := c.CallTool(t.Context(), "steps", step{"work"})
		result <- err
	}()
	f.did("work", "begun by A")
	f.procs[0].kill()
	if err := <-result; err == nil || mcpclient.SafeToRetry(err) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("want an error at once, and not that it may be repeated, got %v", err)
	}
	if who := f.who(c); who != "B" {
		t.Errorf("want the session served by B, got %s", who)
	}
	f.oneSession()
}

// TestClientsSurviveKilledProcess kills a process while many clients send calls.
func TestClientsSurviveKilledProcess(t *testing.T) {
	f := launch(t, 3)
	const clients = 8
	kill := make(chan struct{})
	var begun, all sync.WaitGroup
	begun.Add(clients)
	for range clients {
		c := f.connect()
		all.Go(func() {
			failed := 0
			for n := range 60 {
				if n == 10 {
					begun.Done()
					<-kill
				}
				if _, err := c.CallTool(t.Context(), "who", nil); err != nil {
					failed++
				}
			}
			if failed > 2 {
				t.Errorf("want at most the calls to fail that were on their way, got %d failures", failed)
			}
		})
	}
	begun.Wait()
	close(kill)
	f.procs[1].kill()
	all.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) != clients {
		t.Errorf("want %d sessions all the time, got %d", clients, len(f.sessions))
	}
}
