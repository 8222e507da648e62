package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A restarted server may be another version, and cannot have reported that its list has changed.
func TestReconnectClearsOutputSchemas(t *testing.T) {
	const list = `{"tools":[{"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object",` +
		`"properties":{"celsius":{"type":"integer","maximum":%d}}}}]}`
	const warm = `{"content":[],"structuredContent":{"celsius":50}}`
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		call := func(maximum int) error {
			done := background(func() error {
				_, err := mcpclient.CallToolAs[struct{}](t.Context(), c, "weather",
					nil)
				return err
			})
			v.Answer(v.Expect(mcp.MethodListTools), fmt.Sprintf(list, maximum))
			v.Answer(v.Expect(mcp.MethodCallTool), warm)
			return <-done
		}
		if err := call(60); err != nil {
			t.Fatal(err)
		}
		v.Close()
		v = s.next(t).modern()
		await(t, c)
		if e, ok := errors.AsType[*mcpclient.Error](call(40)); !ok || e.Kind != mcpclient.KindProtocol {
			t.Errorf("want the output checked against the new server's schema, got %v", e)
		}
	})
}

// A sweep removes expired tombstones of calls. If a sweep is due while the client is closing, there is nothing to do,
// and the client must not set the timer again and again.
func TestSweepDueWhileClosingIsNotRearmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(stubborn{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := s.next(t).modern()
		await(t, c)
		if err := c.Call(t.Context(), "lost", nil, nil, mcpclient.WithTimeout(time.Millisecond)); !errors.Is(err,
			mcpclient.ErrTimeout) {
			t.Fatal(err)
		}
		v.Expect("lost")
		sweep := mcpclient.ProbeOf(c).Figures().NextSweep
		if sweep.IsZero() {
			t.Fatal("want a sweep to be due")
		}
		time.Sleep(time.Until(sweep) - 50*time.Millisecond)
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited > 125*time.Millisecond {
			t.Errorf("want Close within 125 ms, got %v", waited)
		}
	})
}

func TestLegacySessionDurationHasErrorType(t *testing.T) {
	for want, end := range map[string]func(t *testing.T, v *conversation, c *mcpclient.Client){
		"": func(t *testing.T, v *conversation, c *mcpclient.Client) { _ = c.Close() },
		"connection_lost": func(_ *testing.T, v *conversation, _ *mcpclient.Client) {
			v.Close()
		},
		"protocol_violation": func(_ *testing.T, v *conversation, _ *mcpclient.Client) {
			for range conn.InvalidStreak {
				v.Send("garbage")
			}
		},
	} {
		t.Run(want, func(t *testing.T) {
			observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
				rec *telemetrytest.Recording) {
				v := s.next(t).legacy(mcp.Version20251125)
				await(t, c)
				time.Sleep(time.Minute)
				end(t, v, c)
				synctest.Wait()
				r := rec.Log("mcp_client.session.end")
				if got := r.Text("error.type"); got != want {
					t.Errorf("want error.type %q, got %q", want, got)
				}
				if got := r.Attrs["mcp_client.duration"].Float64(); got != 60 {
					t.Errorf("want a session of 60 s, got %v s", got)
				}
			})
		})
	}
}

func TestTheBackoffDoublesUntilACallIsAnswered(t *testing.T) {
	failures := 7
	rig := &rigged{dial: func(context.Context) (error, bool) {
		failures--
		return errLunch, failures >= 0
	}}
	var delays []time.Duration
	o := mcpclient.Options{Backoff: mcpclient.Backoff{Max: 8 * time.Second}, OnTransition: func(tr connstate.Transition) {
		if tr.From == connstate.Backoff {
			delays = append(delays, tr.Duration)
		}
	}}
	observed(t, o, rig, func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		v.Close() // close after the handshake
		v = s.next(t).modern()
		await(t, c)
		v.exchange(c)
		v.Close()
		s.next(t).modern()
		await(t, c)
		synctest.Wait()
		want := []time.Duration{1, 2, 4, 8, 8, 8, 8, 8, 1} // seconds; the last delay follows the call
		if len(delays) != len(want) {
			t.Fatalf("want %d delays, got %v", len(want), delays)
		}
		for i, got := range delays {
			if d := want[i] * time.Second; got < d/2 || got > d*3/2 {
				t.Errorf("delay %d: want %v ± 50 %%, got %v", i+1, d, got)
			}
		}
	})
}

// Each server in this test does something other than answering a call, and dies. The client waits longer and longer
// before it reconnects.
func TestServerThatDiesAfterEachHandshakeIncreasesBackoff(t *testing.T) {
	const withLogging = `{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},"serverInfo":{"name":"legacy",` +
		`"version":"1"}}`
	for name, tt := range map[string]struct {
		version mcp.Version
		live    func(v *conversation)
	}{
		"modern": {mcp.Version20260728, func(v *conversation) { v.modern() }},
		"legacy": {mcp.Version20251125, func(v *conversation) { v.initialize(mcp.Version20251125) }},
		"restored": {mcp.Version20251125, func(v *conversation) {
			v.Answer(v.Expect(mcp.MethodInitialize), withLogging)
			v.Expect(mcp.NotificationInitialized)
			v.Answer(v.Expect(mcp.MethodSetLevel), "{}") // first for the call, later to restore the level
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &mcpclient.Options{Versions: []mcp.Version{tt.version}}
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
				if name == "restored" {
					go func() { _ = c.SetLogLevel(context.Background(), mcp.LevelWarning, mcpclient.WaitForReady()) }()
				}
				n := 0
				for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); n++ {
					v := s.next(t)
					tt.live(v)
					v.Close()
				}
				if n < 20 || n > 31 { // 5 in the first half minute, then at least one in 24 s
					t.Errorf("the server was started %d times in 10 min, want 20 to 31", n)
				}
			})
		})
	}
}

func TestClosedClientIsRemovedFromMetrics(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		if err := c.Call(t.Context(), "lost", nil, nil, mcpclient.WithTimeout(time.Second)); !errors.Is(err,
			mcpclient.ErrTimeout) {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := rec.Value("mcp_client.connection.state", "mcp_client.connection.state", "ready"); n != 1 {
			t.Errorf("want a ready client in the metrics, got %d", n)
		}
		if n := rec.Value("mcp_client.server.info", "mcp_client.server.name", "modern", "mcp_client.server.version", "1",
			"mcp.protocol.version", string(mcp.Version20260728)); n != 1 {
			t.Errorf("want its server in the metrics, got %v", rec.Points("mcp_client.server.info"))
		}
		if points := rec.Points("mcp_client.send.queue.length"); len(points) != 1 || points[0].Value != 2 {
			t.Errorf("want a call and its cancellation in the queue, got %v", points)
		}
		if n := rec.Value("mcp_client.tombstone.kept"); n != 1 {
			t.Errorf("want a tombstone, got %d", n)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if points := rec.Points("mcp_client.connection.state"); len(points) != 0 {
			t.Errorf("want no state of a closed client, got %v", points)
		}
		if points := rec.Points("mcp_client.server.info"); len(points) != 0 {
			t.Errorf("want no server of a closed client, got %v", points)
		}
		if n := rec.Value("mcp_client.tombstone.kept"); n != 0 {
			t.Errorf("want no tombstone, got %d", n)
		}
	})
}

func TestAPanicOfOnTransitionIsIsolated(t *testing.T) {
	o := mcpclient.Options{OnTransition: func(connstate.Transition) { panic("oops") }}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		synctest.Wait()
		records := rec.Logs("mcp_client.handler.panic")
		if len(records) != 2 || records[0].Text("exception.message") != "oops" {
			t.Errorf("want the panics of both transitions logged, got %v", records)
		}
	})
}

// A connection that is lost repeatedly does not fill the log. The next record contains the number of suppressed
// records.
func TestFlightRecordIsLoggedAtMostOncePerMinute(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for _, pause := range []time.Duration{0, 2 * time.Minute, 0} {
			v.Close()
			v = s.next(t).modern()
			await(t, c)
			time.Sleep(pause)
		}
		records := rec.Logs("mcp_client.connection.flight_record")
		if len(records) != 2 {
			t.Fatalf("three losses, two of them at once: got %d records, want 2", len(records))
		}
		if got := records[1].Text("mcp_client.suppressed"); got != "1" {
			t.Errorf("records suppressed before the second: got %q, want 1", got)
		}
	})
}

func TestAConnectionThatDoesNotCloseIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		release := make(chan struct{})
		stuck := transport.InMemory(func(context.Context, *transport.Peer) { <-release })
		c, err := mcpclient.New(stuck, checked(t, &mcpclient.Options{Telemetry: rec.Telemetry()}))
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, c, connstate.Initializing)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := c.Status().Reason; got != connstate.ReasonCloseTimeout && got != connstate.ReasonTransportClosed {
			t.Errorf("want the client ended, got %s", got)
		}
		if n := len(rec.Logs("mcp_client.connection.close_failed")); n != 1 {
			t.Errorf("want one record of the open connection, got %d", n)
		}
		close(release)
	})
}

func TestCloseWaitsQuarterOfTimeoutForHandlers(t *testing.T) {
	release := make(chan struct{})
	o := &mcpclient.Options{Timeouts: mcpclient.Timeouts{Close: 10 * time.Second},
		Features: []mcpclient.Feature{mcpclient.HandleNotification("",
			func(context.Context, *mcpclient.Notification) { <-release })}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		release = make(chan struct{})
		v.Send(`{"jsonrpc":"2.0","method":"note"}`)
		synctest.Wait()
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("want the client stopped, got %v", err)
		}
		if waited := time.Since(begun); waited != 5700*time.Millisecond { // includes 3.2 s for the connection
			t.Errorf("want 2.5 s for the handler, got %v in all", waited)
		}
		close(release)
	})
}
