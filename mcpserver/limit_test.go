package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// crew counts the requests that it handles. Each request takes a second.
type crew struct {
	mu            sync.Mutex
	running, most int
}

// seen returns the number of requests that the crew handles now, and the highest number so far.
func (c *crew) seen() (running, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running, c.most
}

func (c *crew) work(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	c.mu.Lock()
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	time.Sleep(time.Second)
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	return nil, nil
}

// answered returns the numbers of results and errors among frames.
func answered(t *testing.T, frames []string) (results, busy int) {
	t.Helper()
	for _, f := range frames {
		switch m := decoded(t, f); {
		case m.Result != nil:
			results++
		case m.Error != nil && m.Error.Code == mcp.CodeInternalError && m.Error.Message == "too many requests at once":
			busy++
		default:
			t.Errorf("the server sent %s, want a result or that it is busy", f)
		}
	}
	return results, busy
}

func TestTotalLimitBoundsAllConnectionsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(crew)
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 10}}, "tool", c.work)
		var all []*wire
		for range 15 {
			all = append(all, opened(t, t.Context(), s))
		}
		for _, w := range all {
			w.send(callOf(1, "tool", "{}"), pingRequest) // a ping does not count
		}
		if running, _ := c.seen(); running != 10 {
			t.Errorf("%d requests are handled at once, want 10", running)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		results, busy := 0, 0
		for _, w := range all {
			r, b := answered(t, w.taken())
			results, busy = results+r-1, busy+b // r includes the answer to the ping
			w.send(callOf(2, "tool", "{}"))
			time.Sleep(2 * time.Second)
			if r, _ := answered(t, w.taken()); r != 1 {
				t.Error("a single request got no result, want all places free again")
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
		if results != 10 || busy != 5 {
			t.Errorf("%d results and %d refusals, want 10 and 5", results, busy)
		}
	})
}

func TestSingleConnectionMayUseAllPlacesAndQueueMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(crew)
		w := opened(t, t.Context(), withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 4}}, "tool", c.work))
		start := time.Now()
		for id := range 20 {
			w.in <- received{frame: []byte(callOf(id+1, "tool", "{}"))}
		}
		time.Sleep(4500 * time.Millisecond)
		synctest.Wait()
		_, most := c.seen()
		if results, busy := answered(t, w.taken()); results != 16 || busy != 0 || most != 4 {
			t.Errorf("after %v: %d results, %d refusals, %d at once; want 16, none, 4", time.Since(start), results, busy, most)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestFreedPlaceIsReservedForRefusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(crew)
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 4}}, "tool", c.work)
		hog, other := opened(t, t.Context(), s), opened(t, t.Context(), s)
		for id := range 100 {
			hog.in <- received{frame: []byte(callOf(id+1, "tool", "{}"))}
		}
		synctest.Wait()
		other.send(callOf(1, "tool", "{}"))
		if _, busy := answered(t, other.taken()); busy != 1 {
			t.Error("the request that found no place was not refused")
		}
		time.Sleep(1500 * time.Millisecond) // in this time, the server answers the hog's first requests
		other.send(callOf(2, "tool", "{}"), callOf(3, "tool", "{}"))
		time.Sleep(2200 * time.Millisecond) // one place is reserved for a third client
		if results, busy := answered(t, other.taken()); results != 2 || busy != 0 {
			t.Errorf("the other one got %d results and %d refusals, want 2 and none: its share", results, busy)
		}
		hog.taken()
		time.Sleep(10 * time.Second) // after this time, places are no longer scarce
		hog.taken()
		time.Sleep(time.Second)
		if results, _ := answered(t, hog.taken()); results != 4 {
			t.Errorf("the hog gets %d results a second, want that it has all 4 places again", results)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, w := range []*wire{hog, other} {
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
		if _, most := c.seen(); most != 4 {
			t.Errorf("%d requests were handled at once, want 4 at most", most)
		}
	})
}

func TestQueuedRequestsStartInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []string
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 2}}, "tool",
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				mu.Lock()
				begun = append(begun, r.ID.String())
				first := len(begun) == 1
				mu.Unlock()
				if !first {
					time.Sleep(10 * time.Second)
				}
				time.Sleep(time.Second)
				return nil, nil
			})
		hog, other := opened(t, t.Context(), s), opened(t, t.Context(), s)
		for id := range 3 {
			hog.send(callOf(id+1, "tool", "{}"))
		}
		other.send(callOf(9, "tool", "{}")) // refused, so that the hog has to release a place
		time.Sleep(3 * time.Second)         // in this time, the other client does not claim the place
		hog.send(callOf(4, "tool", "{}"))
		time.Sleep(time.Minute)
		for _, w := range []*wire{hog, other} {
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
		if want := []string{"1", "2", "3", "4"}; !slices.Equal(begun, want) {
			t.Errorf("the requests were begun in the order %v, want %v", begun, want)
		}
	})
}

func TestTotalLimitOverHTTPReturns503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(crew)
		w := serveWeb(t, withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 3}}, "tool", c.work), nil)
		session := w.open("2025-11-25")
		listen := w.stream("POST", listenFor(5, toolsFilter), modernHeaders("subscriptions/listen", "")...)
		if m := listen.message(); m.Method != mcp.NotificationSubscriptionsAcknowledged {
			t.Fatalf("the subscription got %+v", m)
		}
		synctest.Wait() // the request has released its place
		body, headers := askedCall(1, "tool", "{}")
		first := make(chan page, 3) // three calls run at once, because the subscription takes no place
		go func() { first <- w.post(body, headers...) }()
		go func() { first <- w.post(body, headers...) }()
		go func() { first <- w.post(callOf(1, "tool", "{}"), "Mcp-Session-Id", session) }()
		synctest.Wait()
		other := w.open("2025-11-25")
		for era, p := range map[string]page{"modern": w.post(body, headers...),
			"legacy": w.post(callOf(1, "tool", "{}"), "Mcp-Session-Id", other)} {
			if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" ||
				!strings.Contains(p.body, "-32603") {
				t.Errorf("the %s request too many got %d, %v, %s; want 503 and when to come back", era, p.status, p.header, p.body)
			}
		}
		for range 3 {
			if p := <-first; p.status != http.StatusOK {
				t.Errorf("a request within the bound got %d with %s, want its answer", p.status, p.body)
			}
		}
		if p := w.post(body, headers...); p.status != http.StatusOK {
			t.Errorf("a request afterwards got %d with %s, want its answer", p.status, p.body)
		}
	})
}

func TestFreedPlaceStartsQueuedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 3}}, "tool",
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				d, err := time.ParseDuration(r.ID.String())
				time.Sleep(d)
				return nil, err
			})
		named := func(d string) string { return strings.Replace(callOf(0, "tool", "{}"), `"id":0`, `"id":"`+d+`"`, 1) }
		long, short := opened(t, t.Context(), s), opened(t, t.Context(), s)
		short.send(named("3s"), named("4s"))
		long.send(named("1h"), named("1s"), named("1ms"))
		var done []string
		for range 3 {
			time.Sleep(2500 * time.Millisecond)
			synctest.Wait()
			done = append(done, fmt.Sprint(len(long.taken())))
		}
		if got := strings.Join(done, " "); got != "0 2 0" {
			t.Errorf("waiting requests were answered %s at a time, want 0 2 0: as soon as a place became free", got)
		}
		time.Sleep(time.Hour)
		for _, w := range []*wire{long, short} {
			must(t, w.finish())
		}
	})
}

func TestReservedPlaceStartsQueuedRequestAfterTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Total: 2}}, "tool",
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				d, err := time.ParseDuration(r.ID.String())
				time.Sleep(d)
				return nil, err
			})
		named := func(d string) string { return strings.Replace(callOf(0, "tool", "{}"), `"id":0`, `"id":"`+d+`"`, 1) }
		long, other := opened(t, t.Context(), s), opened(t, t.Context(), s)
		long.send(named("1h"), named("1s"), named("1ms"))
		other.send(named("1ns")) // refused
		if _, busy := answered(t, other.taken()); busy != 1 {
			t.Error("the request that found no place was not refused")
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if got := len(long.taken()); got != 1 {
			t.Errorf("%d requests were answered while a place was reserved for another client, want 1", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(long.taken()); got != 1 {
			t.Errorf("%d requests were answered then, want 1", got)
		}
		time.Sleep(time.Hour)
		for _, w := range []*wire{long, other} {
			must(t, w.finish())
		}
	})
}
