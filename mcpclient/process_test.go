//go:build unix

package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/best"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// server returns the transport to a child process with this role.
func server(t testing.TB, role string) transport.Stdio {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return transport.Stdio{Command: exe, Env: append(os.Environ(),
		roleEnv+"="+role,
		"GORACE=atexit_sleep_ms=0", // under the race detector, a process otherwise waits a second before it exits
	)}
}

// connect returns a client of a child process. The client is closed when the test ends.
func connect(t testing.TB, role string, o *mcpclient.Options) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), server(t, role), checked(t, o))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// pid calls a method whose result is a process ID, and returns it.
func pid(t *testing.T, c *mcpclient.Client, method string) int {
	t.Helper()
	var r struct {
		PID int `json:"pid"`
	}
	if err := c.Call(t.Context(), method, nil, &r); err != nil || r.PID == 0 {
		t.Fatalf("%s: want a process id, got %d, %v", method, r.PID, err)
	}
	return r.PID
}

// echoes fails the test unless the client gets the answer to its own call.
func echoes(t *testing.T, c *mcpclient.Client, n int) {
	t.Helper()
	var r struct{ N int }
	if err := c.Call(t.Context(), methodEcho, map[string]int{"N": n}, &r); err != nil || r.N != n {
		t.Errorf("want the answer to call %d, got %d, %v", n, r.N, err)
	}
}

// mustCall makes a call without params and result.
func mustCall(t *testing.T, c *mcpclient.Client, method string) {
	t.Helper()
	if err := c.Call(t.Context(), method, nil, nil); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// The test kills the server repeatedly, after the server has answered half of the calls.
func TestServerKilledDuringFiftyCalls(t *testing.T) {
	const rounds, calls, backoff = 5, 50, 50 * time.Millisecond
	before := inventory(t)
	held := make(chan struct{}, rounds*calls)
	var mu sync.Mutex
	var waits []time.Duration // times in backoff
	c := connect(t, roleServer, &mcpclient.Options{
		Backoff: mcpclient.Backoff{Min: backoff},
		Features: []mcpclient.Feature{
			mcpclient.HandleNotification(methodHold, func(context.Context, *mcpclient.Notification) { held <- struct{}{} }),
		},
		OnTransition: func(tr connstate.Transition) {
			mu.Lock()
			defer mu.Unlock()
			if tr.From == connstate.Backoff {
				waits = append(waits, tr.Duration)
			}
		},
	})
	var pids []int
	for round := range rounds {
		server := pid(t, c, methodPID)
		if slices.Contains(pids, server) {
			t.Errorf("round %d: want a new process, got %d again", round, server)
		}
		pids = append(pids, server)
		killMidway(t, c, server, calls, held)
		if err := c.WaitForReady(t.Context()); err != nil {
			t.Fatalf("round %d: want the client ready again, got %v", round, err)
		}
		echoes(t, c, round)
	}
	if err := c.Close(); err != nil {
		t.Errorf("stop: %v", err)
	}
	mustDie(t, pids...)
	before.unchanged(t)
	mu.Lock()
	defer mu.Unlock()
	// The machine may be busy, so the best of the rounds shows the time of the timer.
	if len(waits) != rounds || slices.Min(waits) < backoff/2 || slices.Min(waits) > backoff*3/2+10*time.Millisecond {
		t.Errorf("want one backoff of %v ± 50 %% each round, got %v", backoff, waits)
	}
}

// killMidway makes calls, and kills the server when it has answered some calls and others certainly wait. It checks
// that each call has exactly one outcome: its own answer or a lost connection.
func killMidway(t *testing.T, c *mcpclient.Client, server, calls int, held <-chan struct{}) {
	t.Helper()
	type outcome struct {
		call, answer int
		err          error
	}
	outcomes := make(chan outcome, 2*calls)
	answered := make(chan struct{}, calls)
	for i := range calls {
		method := methodEcho
		if i%2 == 1 {
			method = methodHold
		}
		go func() {
			var r struct{ N int }
			err := c.Call(t.Context(), method, map[string]int{"N": i}, &r)
			outcomes <- outcome{i, r.N, err}
			if err == nil {
				answered <- struct{}{}
			}
		}()
	}
	for range 5 {
		<-answered
		<-held
	}
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for range calls {
		o := <-outcomes
		seen[o.call]++
		e, _ := errors.AsType[*mcpclient.Error](o.err)
		switch {
		case o.err == nil && o.call%2 == 0 && o.answer == o.call:
		case errors.Is(o.err, mcpclient.ErrConnectionLost):
			exit, ok := errors.AsType[*transport.ExitError](o.err)
			if !ok || exit.Signal != "SIGKILL" || exit.PID != server {
				t.Errorf("call %d: want an error with the end of the server, got %v", o.call, o.err)
			}
		case errors.Is(o.err, mcpclient.ErrNotReady) && e.Unsent:
		default:
			t.Errorf("call %d: want its answer or the connection lost, got %d, %v", o.call, o.answer, o.err)
		}
	}
	for call, n := range seen {
		if n != 1 {
			t.Errorf("call %d: want one outcome, got %d", call, n)
		}
	}
}

func TestCloseLeavesNoGoroutineProcessOrDescriptor(t *testing.T) {
	before := inventory(t)
	c := connect(t, roleServer, nil)
	parent, child := pid(t, c, methodPID), pid(t, c, methodFork)
	if dead(parent) || dead(child) {
		t.Fatal("want both processes to run")
	}
	if err := c.Close(); err != nil {
		t.Errorf("stop: %v", err)
	}
	mustDie(t, parent, child)
	before.unchanged(t)
}

func TestCloseOfUnresponsiveServerTakes150Milliseconds(t *testing.T) {
	const want = 150 * time.Millisecond
	took := best.Of(want, func() time.Duration {
		c := connect(t, roleServer, nil)
		server := pid(t, c, methodPID)
		mustCall(t, c, methodResist)
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
		took := time.Since(begun)
		mustDie(t, server)
		return took
	})
	t.Logf("Close took %v", took)
	if took > want {
		t.Errorf("want Close within %v, the best run took %v", want, took)
	}
}

// limit is the size of the largest frame that the client accepts by default.
const limit = 16_777_216

func size(n int) map[string]int { return map[string]int{"size": n} }

func TestFrameOneByteOverTheLimitEndsTheConnection(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := connect(t, roleServer, &mcpclient.Options{Telemetry: rec.Telemetry(),
		Backoff: mcpclient.Backoff{Min: 10 * time.Millisecond}})
	var result json.RawMessage
	if err := c.Call(t.Context(), methodFrame, size(limit), &result); err != nil {
		t.Fatalf("want a frame of %d bytes accepted, got %v", limit, err)
	}
	if n := bytes.Count(result, []byte("x")); n < limit-100 {
		t.Errorf("want the whole result, got %d bytes of it", n)
	}
	err := c.Call(t.Context(), methodFrame, size(limit+1), nil)
	tooLarge, ok := errors.AsType[*transport.FrameTooLargeError](err)
	if e, _ := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindProtocol || tooLarge.Limit != limit {
		t.Fatalf("want an error of kind protocol with the limit, got %v", err)
	}
	if err := c.WaitForReady(t.Context()); err != nil {
		t.Fatalf("want the client to recover, got %v", err)
	}
	echoes(t, c, 1)
	if got := c.Status().Epoch; got != 2 {
		t.Errorf("want the second connection, got epoch %d", got)
	}
	violation := rec.Log("mcp_client.protocol.violation")
	for key, want := range map[string]string{
		"mcp_client.violation.reason": "frame_too_large",
		"mcp_client.frame.size":       fmt.Sprint(limit + 1),
		"mcp_client.frame.limit":      fmt.Sprint(limit),
		"mcp_client.direction":        "received",
	} {
		if got := violation.Text(key); got != want {
			t.Errorf("violation: want %s = %s, got %s", key, want, got)
		}
	}
	if n := rec.Value("mcp_client.protocol.violations", "mcp_client.violation.reason", "frame_too_large"); n != 1 {
		t.Errorf("want one violation counted, got %d", n)
	}
	_ = c.Close() // the recorder then checks for open spans
}

func TestSkippedOversizeFrameFailsOnlyItsCall(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	held := make(chan struct{}, 1)
	c := connect(t, roleServer, &mcpclient.Options{
		Telemetry: rec.Telemetry(), Limits: mcpclient.Limits{SkipOversize: true},
		Features: []mcpclient.Feature{
			mcpclient.HandleNotification(methodHold, func(context.Context, *mcpclient.Notification) { held <- struct{}{} }),
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	other := make(chan error, 1)
	go func() { other <- c.Call(ctx, methodHold, nil, nil) }()
	<-held
	err := c.Call(t.Context(), methodFrame, size(limit+1), nil)
	if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindProtocol {
		t.Errorf("want the call with the frame to fail with kind protocol, got %v", err)
	}
	echoes(t, c, 1)
	select {
	case err := <-other:
		t.Errorf("want the other call to keep waiting, got %v", err)
	default:
	}
	if got := c.Status(); got.Epoch != 1 || got.State != connstate.Ready {
		t.Errorf("want the first connection ready, got %s, epoch %d", got.State, got.Epoch)
	}
	if got := rec.Log("mcp_client.protocol.violation").Text("mcp_client.frame.size"); got != fmt.Sprint(limit+1) {
		t.Errorf("want the whole frame's size in the violation, got %s", got)
	}
	cancel()
	<-other
	_ = c.Close()
}

func TestServerThatNeverReadsDelaysNeitherCallsNorClose(t *testing.T) {
	const most = time.Second // maximum delay of a call after its deadline, and maximum duration of Close
	if late := best.Of(most, func() time.Duration { return latestBesideAServerThatNeverReads(t) }); late > most {
		t.Errorf("want calls to return at their deadlines and Close at once; the best run was %v late", late)
	}
}

// latestBesideAServerThatNeverReads returns the longest delay of a call after its deadline, or the duration of Close if
// that is longer.
func latestBesideAServerThatNeverReads(t *testing.T) (late time.Duration) {
	const deadline = 200 * time.Millisecond
	c := connect(t, roleServer, &mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 1 << 20}})
	mustCall(t, c, methodDeafen)
	large := json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
	var wg sync.WaitGroup
	var timeouts, busy int
	var mu sync.Mutex
	for range 8 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			begun := time.Now()
			err := c.Call(ctx, methodEcho, large, nil)
			took := time.Since(begun)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, mcpclient.ErrTimeout):
				timeouts++
			case errors.Is(err, mcpclient.ErrBackpressure):
				busy++
			default:
				t.Errorf("want a timeout or backpressure, got %v", err)
			}
			late = max(late, took-deadline)
		})
	}
	wg.Wait()
	if timeouts == 0 || timeouts+busy != 8 {
		t.Errorf("want a timeout of the accepted call and refusals of the others, got %d and %d", timeouts, busy)
	}
	begun := time.Now()
	_ = c.Close()
	return max(late, time.Since(begun))
}

func TestGarbageOnStandardOutputNeverEndsTheSession(t *testing.T) {
	c := connect(t, roleChatty, nil)
	for i := range 3 {
		mustCall(t, c, methodGarbage)
		echoes(t, c, i)
	}
	if got := c.Status(); got.State != connstate.Ready || got.Epoch != 1 {
		t.Errorf("want the first connection ready, got %s, epoch %d", got.State, got.Epoch)
	}
}

func TestAServerThatExitsOnTheProbeIsRestartedWithoutBackoff(t *testing.T) {
	var mu sync.Mutex
	var reasons []connstate.Reason
	c := connect(t, roleLegacy, &mcpclient.Options{
		Backoff: mcpclient.Backoff{Min: time.Hour}, // long, so that the test would notice a backoff
		OnTransition: func(tr connstate.Transition) {
			mu.Lock()
			defer mu.Unlock()
			reasons = append(reasons, tr.Reason)
		},
	})
	if got := c.ProtocolVersion(); got != mcp.Version20251125 {
		t.Errorf("want version 2025-11-25, got %s", got)
	}
	echoes(t, c, 1)
	_ = c.Close()
	mu.Lock()
	defer mu.Unlock()
	want := []connstate.Reason{connstate.ReasonTransportUp, connstate.ReasonProbeLost, connstate.ReasonTransportUp,
		connstate.ReasonNegotiated}
	if !slices.Equal(reasons[:len(want)], want) {
		t.Errorf("want the reasons %v first, got %v", want, reasons)
	}
}

// The client may notice the end of the server before or after it has written. In both cases, the error contains how the
// server ended.
func TestErrorIncludesExitStatusAndStderr(t *testing.T) {
	before := inventory(t)
	for range 20 {
		_, err := mcpclient.Connect(t.Context(), server(t, roleExits),
			checked(t, &mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}}))
		exit, ok := errors.AsType[*transport.ExitError](err)
		if !ok || exit.Code != 3 || !slices.Contains(exit.Stderr, lastWords) {
			t.Fatalf("want the exit status and the last lines of standard error, got %v", err)
		}
		for _, want := range []string{"status 3", lastWords} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("want %q in the error, got %v", want, err)
			}
		}
	}
	before.unchanged(t)
}

func TestACommandThatIsNotFoundIsAnErrorAtOnce(t *testing.T) {
	for _, command := range []string{"mcpotel-test-no-such-command", "/no/such/file", t.TempDir()} {
		took := best.Of(time.Second, func() time.Duration {
			begun := time.Now()
			_, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: command},
				&mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Hour}})
			if !errors.Is(err, mcpclient.ErrShutdown) || !transport.Permanent(err) || !strings.Contains(err.Error(), command) {
				t.Errorf("%s: want a permanent error that names the command, got %v", command, err)
			}
			return time.Since(begun)
		})
		if took > time.Second {
			t.Errorf("%s: want the error at once, the best run took %v", command, took)
		}
	}
	_, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: "/no/such/file"}, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want %v in the chain, got %v", fs.ErrNotExist, err)
	}
}

func TestClientsOfOneTransportHaveSeparateServers(t *testing.T) {
	s := server(t, roleServer)
	clients := make([]*mcpclient.Client, 2)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c, err := mcpclient.Connect(t.Context(), s, nil)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			clients[i] = c
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	if a, b := pid(t, clients[0], methodPID), pid(t, clients[1], methodPID); a == b {
		t.Errorf("want two processes, got only process %d", a)
	}
	if err := clients[0].Close(); err != nil {
		t.Errorf("stop: %v", err)
	}
	echoes(t, clients[1], 1)
}
