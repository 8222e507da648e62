package shop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Report is the outcome of a load.
type Report struct {
	Requests  int             // without notifications and ends of sessions, which the benchmark does not count
	Sent      int             // Requests, and those before the measurement
	Took      time.Duration   // of the measured time
	Latencies []time.Duration // of the tool calls, in ascending order
}

// Rate returns the number of requests in a second.
func (r *Report) Rate() float64 { return float64(r.Requests) / r.Took.Seconds() }

// Load sends the load of the benchmark: each client calls the three tools and lists the tools again and again, each
// time in a new session of revision 2024-11-05. It measures after warm. A wrong answer is an error, and so is a
// measurement without a call.
func Load(ctx context.Context, url string, clients int, warm, measured time.Duration) (*Report, error) {
	web := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer web.CloseIdleConnections()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begin := time.Now().Add(warm)
	end := begin.Add(measured)
	report := &Report{Took: measured}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			c := &client{ctx: ctx, web: web, url: url, begin: begin, end: end, tasks: tasksOf(userID(n + 1))}
			if err := c.run(); err != nil {
				stop(err)
			}
			mu.Lock()
			defer mu.Unlock()
			report.Requests += c.requests
			report.Sent += c.sent
			report.Latencies = append(report.Latencies, c.latencies...)
		})
	}
	wg.Wait()
	slices.Sort(report.Latencies)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(report.Latencies) == 0 {
		return nil, fmt.Errorf("no call within %v", measured)
	}
	return report, nil
}

// task is a request in a session of its own, with a check of its result.
type task struct {
	method, params string
	right          func(text string) bool // gets the text of a tool's result, or the whole result
	tool           bool
}

// tasksOf returns the requests of a user, with the checks of the contract.
func tasksOf(user string) []task {
	return []task{
		call("search_products", `{"category":"Electronics","min_price":50,"max_price":500,"limit":10}`, func(r *Found) bool {
			return r.Total == 2251 && len(r.Products) == 10 && len(r.Top10) == 10
		}),
		call("get_user_cart", `{"user_id":"`+user+`"}`, func(r *UserCart) bool {
			return r.UserID == user && len(r.Cart.Items) > 0 && len(r.History) == 5
		}),
		call("checkout", `{"user_id":"`+user+`","items":[{"product_id":42,"quantity":2},{"product_id":1337,"quantity":1}]}`,
			func(r *Confirmed) bool { return r.Status == "confirmed" && r.Total > 0 && r.Count == 2 }),
		{method: "tools/list", params: "{}", right: func(text string) bool {
			return strings.Count(text, `"inputSchema"`) == 3
		}},
	}
}

func call[R any](tool, arguments string, right func(*R) bool) task {
	return task{"tools/call", `{"name":"` + tool + `","arguments":` + arguments + `}`, func(text string) bool {
		var r R
		return json.Unmarshal([]byte(text), &r) == nil && right(&r)
	}, true}
}

// client is one client of the load.
type client struct {
	ctx        context.Context
	web        *http.Client
	url        string
	begin, end time.Time
	tasks      []task
	requests   int // as in Report
	sent       int // as in Report
	latencies  []time.Duration
}

func (c *client) run() error {
	for {
		for _, t := range c.tasks {
			if !time.Now().Before(c.end) || c.ctx.Err() != nil {
				return nil
			}
			if err := c.session(t); err != nil && c.ctx.Err() == nil {
				return fmt.Errorf("%s %s: %w", t.method, t.params, err)
			}
		}
	}
}

// session initializes a session, makes one request in it, and ends it.
func (c *client) session(t task) error {
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05",` +
		`"capabilities":{},"clientInfo":{"name":"shop","version":"1.0"}}}`
	_, id, err := c.send(http.MethodPost, initialize, "")
	if err != nil {
		return err
	}
	if _, _, err := c.send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, id); err != nil {
		return err
	}
	began := time.Now()
	text, _, err := c.send(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"`+t.method+`","params":`+t.params+`}`, id)
	took := time.Since(began)
	if err != nil {
		return err
	}
	if err := t.check(text); err != nil {
		return err
	}
	c.sent += 2
	if began.After(c.begin) {
		if c.requests += 2; t.tool {
			c.latencies = append(c.latencies, took)
		}
	}
	if id == "" {
		return nil
	}
	_, _, err = c.send(http.MethodDelete, "", id)
	return err
}

// check returns an error unless the response is right. The response is JSON, or an event with JSON.
func (t *task) check(response []byte) error {
	if i := bytes.Index(response, []byte("data: ")); i >= 0 && response[0] != '{' {
		response, _, _ = bytes.Cut(response[i+len("data: "):], []byte("\n"))
	}
	var m struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(response, &m); err != nil {
		return err
	}
	text := string(response)
	if len(m.Result.Content) > 0 {
		text = m.Result.Content[0].Text
	}
	if !t.right(text) {
		return fmt.Errorf("wrong response %.300q", response)
	}
	return nil
}

func (c *client) send(method, body, session string) (response []byte, sessionID string, err error) {
	r, err := http.NewRequestWithContext(c.ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := c.web.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %.300q", resp.Status, text)
	}
	return text, cmp.Or(resp.Header.Get("Mcp-Session-Id"), session), err
}
