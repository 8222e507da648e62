package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// modelOp is an operation in progress, with the index of its entry in the model, or -1 if the entry was overwritten.
type modelOp struct {
	op    instrument.Op
	tool  string
	sent  time.Time
	entry int
}

// flightModel holds the expected entries and statistics.
type flightModel struct {
	entries []telemetry.FlightEntry // all entries ever added; the ring has the latest
	open    []*modelOp
	latency map[string][]time.Duration
	errors  map[string]map[string]uint64
	lastID  int64
}

func (m *flightModel) ring() []telemetry.FlightEntry {
	return m.entries[max(0, len(m.entries)-telemetry.FlightSize):]
}

// endings lists possible results of operations, with their error.type.
var endings = []struct {
	result instrument.Result
	word   string
}{
	{instrument.Result{}, ""},
	{instrument.Result{ToolError: true}, names.ErrorToolError},
	{instrument.Result{HasCode: true, Code: -32603}, "-32603"},
	{instrument.Result{ErrorType: names.ErrorTimeout}, names.ErrorTimeout},
	{instrument.Result{ErrorType: "503"}, "503"},
}

// For any sequence of requests, notifications and faults with any durations, recorder and statistics agree with a plain
// list of all of them.
func TestRecorderAndStatisticsMatchModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) { checkFlight(rt) })
	})
}

func checkFlight(t *rapid.T) {
	c := instrument.NewClient(telemetry.New(telemetry.WithToolNameLimit(3)), "x", pipe)
	defer c.Close()
	m := &flightModel{latency: map[string][]time.Duration{}, errors: map[string]map[string]uint64{}}
	var tools []string // with names within the limit
	t.Repeat(map[string]func(*rapid.T){
		"send": func(t *rapid.T) { m.send(t, c, &tools) },
		"end":  m.end,
		"wait": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(1, 36).Draw(t, "bits")).Draw(t, "ns")))
		},
		"many":   func(t *rapid.T) { m.many(t, c) },
		"accuse": func(t *rapid.T) { m.accuse(t, c) },
		"move":   func(t *rapid.T) { m.move(t, c) },
		"":       func(t *rapid.T) { m.compare(t, c) },
	})
}

func (m *flightModel) send(t *rapid.T, c *instrument.Client, tools *[]string) {
	tool := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "tool")
	_, op := c.StartRequest(context.Background(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
		Target: tool})
	if !slices.Contains(*tools, tool) && len(*tools) < 3 {
		*tools = append(*tools, tool)
	}
	if !slices.Contains(*tools, tool) {
		tool = "_OTHER"
	}
	m.lastID++
	op.Admit(nil, m.lastID)
	time.Sleep(time.Duration(rapid.IntRange(0, 1000).Draw(t, "queued"))) // time in the queue does not count
	m.open = append(m.open, &modelOp{op: op, tool: tool, sent: time.Now(), entry: len(m.entries)})
	at := m.open[len(m.open)-1]
	at.op.Sending()
	m.entries = append(m.entries, telemetry.FlightEntry{
		Time: time.Now(), Kind: "request", Direction: "sent", Method: "tools/call", Target: tool, ID: fmt.Sprint(m.lastID),
		CorrID: at.op.Corr().String(), Pending: true,
	})
}

func (m *flightModel) end(t *rapid.T) {
	if len(m.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
	o := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	how := rapid.SampledFrom(endings).Draw(t, "how")
	bytes := rapid.IntRange(1, 1<<20).Draw(t, "bytes")
	o.op.Sent(10)
	o.op.Received(bytes)
	o.op.End(how.result)

	if o.entry < len(m.entries)-telemetry.FlightSize {
		m.entries = append(m.entries, m.entries[o.entry])
		o.entry = len(m.entries) - 1
	}
	e := &m.entries[o.entry]
	e.Pending, e.Failed, e.Reason = false, how.word != "", how.word
	e.Elapsed, e.BytesSent, e.BytesReceived = time.Since(o.sent), 10, bytes
	m.latency[o.tool] = append(m.latency[o.tool], e.Elapsed)
	if how.word != "" {
		if m.errors[o.tool] == nil {
			m.errors[o.tool] = map[string]uint64{}
		}
		m.errors[o.tool][how.word]++
	}
}

// many adds up to twice as many entries as the ring can hold.
func (m *flightModel) many(t *rapid.T, c *instrument.Client) {
	for range rapid.IntRange(1, 2*telemetry.FlightSize).Draw(t, "entries") {
		c.Backoff(time.Second, 3)
		m.entries = append(m.entries, telemetry.FlightEntry{Time: time.Now(), Kind: "backoff", Elapsed: time.Second,
			Attempt: 3})
	}
}

// accuse records violations. Equal violations in a row share one entry.
func (m *flightModel) accuse(t *rapid.T, c *instrument.Client) {
	v := instrument.Violation{
		Reason: rapid.SampledFrom([]string{"batch", "invalid_json"}).Draw(t, "reason"), Size: rapid.IntRange(1, 9).Draw(t,
			"size"),
		Direction: telemetry.DirectionReceived,
	}
	c.Violation(v)
	e := telemetry.FlightEntry{
		Time: time.Now(), Kind: "violation", Direction: "received", Failed: true, Reason: v.Reason, Size: int64(v.Size),
	}
	if n := len(m.entries); n > 0 && m.entries[n-1].Kind == "violation" && m.entries[n-1].Reason == v.Reason {
		e.Count = max(1, m.entries[n-1].Count) + 1
		m.entries[n-1] = e
		return
	}
	m.entries = append(m.entries, e)
}

func (m *flightModel) move(t *rapid.T, c *instrument.Client) {
	tr := connstate.Transition{
		From: rapid.SampledFrom(connstate.States()).Draw(t, "from"), To: rapid.SampledFrom(connstate.States()).Draw(t, "to"),
		Reason: connstate.ReasonTransportDown, Epoch: 3, Attempt: 1, Duration: time.Minute,
	}
	c.Transition(instrument.Transition{Transition: tr})
	m.entries = append(m.entries, telemetry.FlightEntry{
		Time: time.Now(), Kind: "transition", From: tr.From.String(), To: tr.To.String(), Reason: "transport_down",
		Epoch: 3, Attempt: 1,
		Elapsed: time.Minute,
	})
}

func (m *flightModel) compare(t *rapid.T, c *instrument.Client) {
	want := slices.Clone(m.ring())
	slices.SortStableFunc(want, func(a, b telemetry.FlightEntry) int { return a.Time.Compare(b.Time) })
	if got := c.FlightRecord(); !slices.EqualFunc(got, want, sameEntry) {
		t.Fatalf("flight recorder (-want +got):\n%s", cmp.Diff(want, got))
	}
	got := c.Operations()
	if len(got) != len(m.latency) {
		t.Fatalf("operations: got %d, want %d", len(got), len(m.latency))
	}
	for _, o := range got {
		all := slices.Sorted(slices.Values(m.latency[o.Target]))
		failed := uint64(0)
		for _, n := range m.errors[o.Target] {
			failed += n
		}
		if o.Count != uint64(len(all)) || o.Failed != failed || o.Max != all[len(all)-1] {
			t.Fatalf("%s: got %+v, want %d with %d failures, and at most %v", o.Target, o, len(all), failed, all[len(all)-1])
		}
		if diff := cmp.Diff(m.errors[o.Target], o.Errors, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("errors of %s (-want +got):\n%s", o.Target, diff)
		}
		for part, d := range map[float64]time.Duration{0.50: o.P50, 0.95: o.P95, 0.99: o.P99} {
			exact := all[int(part*float64(len(all)))]
			if off := math.Abs(float64(d - exact)); off > max(0.0625*float64(exact), float64(time.Microsecond)) {
				t.Fatalf("%s: quantile %v of %d: got %v, want %v, at most 6.25 %% or 1 µs off", o.Target, part, len(all), d,
					exact)
			}
		}
	}
}

func sameEntry(a, b telemetry.FlightEntry) bool {
	same := a.Time.Equal(b.Time)
	a.Time = b.Time
	return same && a == b
}

// Sixty-four callers write while a goroutine reads. The statistics lose nothing, and no entry mixes two requests.
func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	const callers, calls = 64, 100
	c := instrument.NewClient(telemetry.New(), "x", pipe)
	defer c.Close()
	over := make(chan struct{})
	var looking, calling sync.WaitGroup
	looking.Go(func() {
		for {
			for _, e := range c.FlightRecord() {
				switch whole := e.Kind == "request" && e.Target == "t"+e.ID || e.Kind == "violation" && e.Target == ""; {
				case !whole, e.Kind == "request" && e.Failed != (e.Reason != ""), e.Pending && e.Elapsed != 0:
					t.Errorf("an entry mixes two requests: %+v", e)
					return
				}
			}
			c.Operations()
			select {
			case <-over:
				return
			default:
			}
		}
	})
	for n := range callers {
		calling.Go(func() {
			for i := range calls {
				_, op := c.StartRequest(t.Context(), instrument.Request{
					Method: "tools/call", TargetKind: instrument.Tool, Target: fmt.Sprint("t", n+1),
				})
				op.Admit(nil, int64(n+1))
				op.Sent(100)
				op.End(endings[i%len(endings)].result)
				if i%10 == 0 {
					c.Violation(instrument.Violation{Reason: "batch"})
				}
			}
		})
	}
	calling.Wait()
	close(over)
	looking.Wait()
	var count, failed uint64
	for _, o := range c.Operations() {
		count, failed = count+o.Count, failed+o.Failed
	}
	if count != callers*calls || failed != count/5*4 {
		t.Errorf("requests: got %d with %d failures, want %d and %d", count, failed, callers*calls, callers*calls/5*4)
	}
	if n := len(c.FlightRecord()); n != telemetry.FlightSize {
		t.Errorf("entries: got %d, want %d", n, telemetry.FlightSize)
	}
}

// The statistics distinguish names and error types that a peer has chosen up to their limits.
func TestStatisticsAreBounded(t *testing.T) {
	s := instrument.NewServer(telemetry.New(telemetry.WithToolNameLimit(5)), "x", pipe)
	defer s.Close()
	for i := range 10_000 {
		_, op := s.StartHandler(t.Context(), instrument.Incoming{
			Method: fmt.Sprint("m", i), TargetKind: instrument.Tool, Target: fmt.Sprint("t", i), ID: strings.Repeat("9", i),
			TargetKnown: true,
		})
		op.End(instrument.Result{HasCode: true, Code: int64(i)})
	}
	all := s.Operations()
	if len(all) != 1 || all[0].Method != "_OTHER" || all[0].Target != "_OTHER" || all[0].Count != 10_000 {
		t.Fatalf("operations: got %+v, want one of 10,000 requests", all)
	}
	if n := len(all[0].Errors); n > 20 || all[0].Errors["_OTHER"] < 9000 {
		t.Errorf("error types: got %d, want few, including _OTHER", n)
	}
	for _, e := range s.FlightRecord() {
		if len(e.ID) > 16 || e.Method != "_OTHER" {
			t.Fatalf("got %+v, want a name from a limited set and 16 bytes of an id", e)
		}
	}
}

// A failed connection logs the latest events once.
func TestFailedConnectionLogsFlightRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		p := c.Peer(stdio, "")
		const event = "mcp_client.connection.flight_record"
		fail := func() { c.Transition(instrument.Transition{Transition: loss, Err: lost{}}) }

		ask(t.Context(), c, p, "read", instrument.Result{})
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
			Target: "crash"})
		op.Admit(p, 42)
		op.Sent(203)
		time.Sleep(302 * time.Millisecond)
		c.ProcessExit(instrument.ProcessExit{PID: 17, Code: -1, Signal: "SIGKILL"})
		fail()
		op.End(instrument.Result{Err: lost{}})

		first := rec.Log(event)
		trace := op.Ref().TraceID()
		want := []string{
			"-0.302s request tools/call read id=7 sent=100",
			"-0.302s request tools/call crash pending id=42 trace=" + trace,
			"0.000s exit failed: SIGKILL pid=17 code=-1",
			"0.000s transition ready to backoff: transport_down after 1m0s epoch=3",
		}
		got := strings.Split(first.Text("mcp_client.flight_record.text"), "\n")
		got[0], _, _ = strings.Cut(got[0], " trace=")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("text of the record (-want +got):\n%s", diff)
		}

		fail() // too early for another record
		if n := len(rec.Logs(event)); n != 1 {
			t.Errorf("records within a minute: got %d, want 1", n)
		}
		time.Sleep(time.Minute)
		fail()
		second := rec.Logs(event)[1].Text("mcp_client.flight_record.text")
		if strings.Count(second, "\n") != 1 || strings.Contains(second, "tools/call") {
			t.Errorf("want two transitions in the next record, got:\n%s", second)
		}
	})
}

// The text is bounded. From peers it contains only names and the first bytes of ids.
func TestLoggedFlightRecordIsBounded(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	for i := range 1000 {
		_, op := s.StartHandler(t.Context(), instrument.Incoming{
			Method: "tools/call", TargetKind: instrument.Tool, Target: "secret", ID: fmt.Sprintf("%08d-secret", i), Known: true,
			URI: "file:///secret",
		})
		op.End(instrument.Result{HasCode: true, Code: -32603, Message: "secret", Err: errors.New("secret")})
		if err := s.Flush(t.Context()); err != nil { // the queue holds 1,024 records
			t.Fatal(err)
		}
	}
	s.ConnectionFailed(names.ErrorConnectionLost)
	text := rec.Log("mcp_server.connection.flight_record").Text("mcp_server.flight_record.text")
	if len(text) > 16<<10 || len(text) < 15<<10 {
		t.Errorf("text: got %d bytes, want nearly 16 KiB", len(text))
	}
	if !strings.Contains(text, "00000999-secret") || strings.Contains(strings.ReplaceAll(text, "-secret", ""), "secret") {
		t.Errorf("want the latest requests and no content, got:\n%.400s", text)
	}
}
