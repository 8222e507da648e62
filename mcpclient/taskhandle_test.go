package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const acknowledged = `{"resultType":"complete"}`

// needs returns a task that requests forms with these keys.
func needs(keys ...string) string {
	requests := make([]string, len(keys))
	for i, key := range keys {
		requests[i] = fmt.Sprintf("%q:%s", key, formRequest)
	}
	return taskState("complete", mcp.TaskInputRequired, everySecond+`,"inputRequests":{`+strings.Join(requests, ",")+`}`)
}

// given receives a tasks/update, and returns the keys of its responses.
func (c *conversation) given() (frame, []string) {
	c.t.Helper()
	f := c.about(mcp.MethodUpdateTask)
	var p struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		c.t.Fatal(err)
	}
	var keys []string
	for key := range p.InputResponses {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return f, keys
}

// counting returns options of a client whose user accepts every form, and a counter of the shown forms.
func counting() (mcpclient.Options, *int) {
	shown := new(int)
	answer := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		*shown++
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}
	return mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleElicitation(answer)}}, shown
}

func TestTaskGetsEachInputOnce(t *testing.T) {
	o, shown := counting()
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskInputRequired, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a", "b"))
		f, keys := v.given()
		if got := strings.Join(keys, " "); got != "a b" ||
			!strings.Contains(f.Raw, `{"action":"accept","content":{"confirmed":true}}`) {
			t.Errorf("sent %s, want both forms accepted", f.Raw)
		}
		v.Answer(f, acknowledged)
		v.Answer(v.about(mcp.MethodGetTask), needs("a", "b", "c")) // the server has not handled the update yet
		f, keys = v.given()
		if got := strings.Join(keys, " "); got != "c" {
			t.Errorf("sent %s, want only the new input", f.Raw)
		}
		v.Answer(f, acknowledged)
		v.Answer(v.about(mcp.MethodGetTask), needs("a", "b", "c"))
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-a.done; err != nil || text(a.result) != "ok" || *shown != 3 {
			t.Errorf("got %+v, %v with %d forms shown, want the result and 3", a.result, err, *shown)
		}
	})
}

func TestLostTaskInputIsResentWithoutAskingAgain(t *testing.T) {
	o, shown := counting()
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a", "b"))
		v.given()
		v.Close()
		v = s.next(t).tasks()
		v.Answer(v.about(mcp.MethodGetTask), needs("b")) // the server has received the other input
		f, keys := v.given()
		if len(keys) != 1 || keys[0] != "b" || *shown != 2 {
			t.Errorf("sent %q with %d forms shown, want b again and 2", keys, *shown)
		}
		v.Answer(f, acknowledged)
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-a.done; err != nil {
			t.Error(err)
		}
	})
}

func TestRefusedInputUpdateIsErrorOnlyIfStillRequired(t *testing.T) {
	o, _ := counting()
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		f, _ := v.given()
		v.Refuse(f, mcp.CodeInvalidParams, "too late")
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-a.done; err != nil || text(a.result) != "ok" {
			t.Errorf("got %+v, %v, want the result", a.result, err)
		}
		a = callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		f, _ = v.given()
		v.Refuse(f, mcp.CodeInternalError, "no")
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		err := <-a.done
		if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Server == nil || e.Server.Message != "no" ||
			e.Op != mcp.MethodUpdateTask {
			t.Errorf("got %v, want the server's error for the update", err)
		}
		v.about(mcp.MethodCancelTask)
	})
}

func TestMissingTaskInputEndsTheCallAndCancelsTheTask(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		err := <-a.done
		if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.TaskID != "t1" ||
			!strings.Contains(err.Error(), "the task requires input first: the client has no handler for elicitation/create") {
			t.Errorf("got %v, want an error that names the missing input, for t1", err)
		}
		v.Answer(v.about(mcp.MethodCancelTask), acknowledged)
	})
}

func TestCancelDuringInputCancelsTheTask(t *testing.T) {
	waiting := mcpclient.HandleElicitation(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	tasked(t, nil, mcpclient.Options{Features: []mcpclient.Feature{waiting}}, func(t *testing.T, s *script,
		v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		a := callInBackground(ctx, c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		synctest.Wait()
		cancel()
		if e, _ := errors.AsType[*mcpclient.Error](<-a.done); e == nil || e.Kind != mcpclient.KindCancelled {
			t.Errorf("got %v, want the caller's cancellation", e)
		}
		v.about(mcp.MethodCancelTask)
	})
}

// started begins a task.
func started(t *testing.T, v *conversation, c *mcpclient.Client, options ...mcpclient.CallOption) *mcpclient.Task {
	t.Helper()
	var task *mcpclient.Task
	done := background(func() (err error) {
		task, err = c.StartTool(t.Context(), "x", nil, options...)
		return err
	})
	v.begin(mcp.TaskWorking, everySecond)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return task
}

func TestStartToolReturnsTaskWithoutPolling(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var heard int
		task := started(t, v, c, mcpclient.WithTaskStatus(func(mcp.Task) { heard++ }))
		if task.ID() != "t1" || task.Status().Status != mcp.TaskWorking || heard != 1 {
			t.Errorf("got %+v, heard %d, want a working task t1 and one state", task.Status(), heard)
		}
		v.silent() // no caller waits
		var d *mcp.DetailedTask
		polled := background(func() (err error) { d, err = task.Poll(t.Context()); return err })
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		if err := <-polled; err != nil || d.Status != mcp.TaskInputRequired ||
			d.InputRequests["a"].Method != mcp.MethodElicit {
			t.Fatalf("got %+v, %v, want the requested input", d, err)
		}
		updated := background(func() error {
			return task.Update(t.Context(), mcp.InputResponses{"a": json.RawMessage(`{"action":"decline"}`)})
		})
		f, _ := v.given()
		v.Answer(f, acknowledged)
		if err := <-updated; err != nil {
			t.Fatal(err)
		}
		var r *mcp.CallToolResult
		waited := background(func() (err error) { r, err = task.Wait(t.Context()); return err })
		v.Answer(v.about(mcp.MethodGetTask), needs("a")) // the server has that input, so the client does not ask the user
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-waited; err != nil || text(r) != "ok" || heard != 3 {
			t.Errorf("got %+v, %v, heard %d, want the result, and 3 states", r, err, heard)
		}
		again, err := task.Wait(t.Context())
		if d, _ = task.Poll(t.Context()); err != nil || again != r || d.Status != mcp.TaskCompleted {
			t.Errorf("got %p, %v, %+v, want the same result %p, and a completed task", again, err, d, r)
		}
		v.silent() // the client does not ask about an ended task
	})
}

func TestCancelledWaitDoesNotCancelTheTask(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := started(t, v, c)
		ctx, cancel := context.WithCancel(t.Context())
		waited := background(func() error { _, err := task.Wait(ctx); return err })
		v.Answer(v.about(mcp.MethodGetTask), working())
		synctest.Wait()
		cancel()
		if e, _ := errors.AsType[*mcpclient.Error](<-waited); e == nil || e.Kind != mcpclient.KindCancelled ||
			e.TaskID != "t1" {
			t.Errorf("got %v, want the caller's cancellation, for t1", e)
		}
		v.silent()
		cancelled := background(func() error { return task.Cancel(t.Context()) })
		v.Answer(v.about(mcp.MethodCancelTask), acknowledged)
		if err := <-cancelled; err != nil {
			t.Error(err)
		}
		waited = background(func() error { _, err := task.Wait(t.Context()); return err })
		v.Answer(v.about(mcp.MethodGetTask), taskState("complete", mcp.TaskCancelled, everySecond))
		if err := <-waited; !errors.Is(err, mcpclient.ErrTaskCancelled) {
			t.Errorf("got %v, want ErrTaskCancelled", err)
		}
		if err := task.Cancel(t.Context()); err != nil {
			t.Errorf("cancel an ended task: %v", err)
		}
		v.silent()
	})
}

func TestConcurrentWaitsShareOnePoll(t *testing.T) {
	o, shown := counting()
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := started(t, v, c)
		ctx, leave := context.WithCancel(t.Context())
		first := background(func() error { _, err := task.Wait(ctx); return err })
		synctest.Wait()
		var waits []<-chan error
		for range 3 {
			waits = append(waits, background(func() error { _, err := task.Wait(t.Context()); return err }))
		}
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		f, _ := v.given()
		v.Answer(f, acknowledged)
		synctest.Wait()
		leave()
		if err := <-first; err == nil {
			t.Error("want an error for the caller that left")
		}
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		for _, w := range waits {
			if err := <-w; err != nil {
				t.Error(err)
			}
		}
		if *shown != 1 {
			t.Errorf("%d forms were shown, want 1", *shown)
		}
		v.silent()
	})
}

func TestATaskIsResumedByItsID(t *testing.T) {
	o, _ := counting()
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := c.ResumeTask("t1", mcpclient.WithMeta(mcp.Meta(`{"example.com/tenant":"acme"}`)))
		if got := task.Status(); got.TaskID != "t1" || got.Status != "" {
			t.Errorf("got %+v, want an unknown status of t1", got)
		}
		v.Close() // the task waits for the connection
		synctest.Wait()
		var r *mcp.CallToolResult
		took := elapsed(func() {
			waited := background(func() (err error) { r, err = task.Wait(t.Context()); return err })
			v = s.next(t).tasks()
			f := v.about(mcp.MethodGetTask)
			if !strings.Contains(f.Raw, `"example.com/tenant":"acme"`) {
				t.Errorf("sent %s, want the metadata in it", f.Raw)
			}
			v.Answer(f, needs("a"))
			f, _ = v.given()
			v.Answer(f, acknowledged)
			v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
			if err := <-waited; err != nil || text(r) != "ok" {
				t.Errorf("got %+v, %v, want the result", r, err)
			}
		})
		if took > 3*time.Second { // the time to reconnect and one interval
			t.Errorf("it took %v, want the first poll at once", took)
		}
		unknown := background(func() error { _, err := c.ResumeTask("t1").Poll(t.Context()); return err })
		v.Refuse(v.about(mcp.MethodGetTask), mcp.CodeInvalidParams, "?")
		if err := <-unknown; !errors.Is(err, mcpclient.ErrTaskUnknown) {
			t.Errorf("got %v, want ErrTaskUnknown", err)
		}
		if _, err := c.ResumeTask("").Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "the task has no ID") {
			t.Errorf("got %v, want an error that the task has no ID", err)
		}
	})
}

func TestTasksWithoutServerSupportFailLocally(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		task := c.ResumeTask("t1")
		_, waited := task.Wait(t.Context())
		_, polled := task.Poll(t.Context())
		for _, err := range []error{waited, polled, task.Cancel(t.Context()), task.Update(t.Context(), nil)} {
			if !errors.Is(err, mcpclient.ErrUnsupported) || !mcpclient.SafeToRetry(err) {
				t.Errorf("got %v, want ErrUnsupported, unsent", err)
			}
		}
		v.silent()
	})
}

func TestRefusedCancellationIsAnError(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := started(t, v, c)
		for code, want := range map[int]error{mcp.CodeInvalidParams: mcpclient.ErrTaskUnknown, mcp.CodeInternalError: nil} {
			done := background(func() error { return task.Cancel(t.Context()) })
			v.Refuse(v.about(mcp.MethodCancelTask), code, "no")
			err := <-done
			if e, _ := errors.AsType[*mcp.Error](err); e == nil || e.Code != int64(code) ||
				errors.Is(err, mcpclient.ErrTaskUnknown) != (want != nil) {
				t.Errorf("code %d: got %v, want the error with %v", code, err, want)
			}
		}
	})
}

// All requests about a task belong to one logical call and link to the request that began it, even if another process
// sends them.
func TestTaskRequestsShareOneLogicalCall(t *testing.T) {
	o, _ := counting()
	o.Features = append(o.Features, mcpclient.UseTasks(nil))
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).tasks()
		await(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		a := callInBackground(ctx, c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), needs("a"))
		f, _ := v.given()
		v.Answer(f, acknowledged)
		v.Answer(v.about(mcp.MethodGetTask), working())
		synctest.Wait()
		cancel()
		<-a.done
		v.Answer(v.about(mcp.MethodCancelTask), acknowledged)
		synctest.Wait()
		requestsOfOneCall(t, rec, "tools/call x", "tasks/get", "tasks/update", "tasks/get",
			"tools/call x", // this span has the caller's error
			"tasks/cancel")

		resumed := background(func() error { _, err := c.ResumeTask("t1").Wait(t.Context()); return err })
		v.Answer(v.about(mcp.MethodGetTask), working())
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-resumed; err != nil {
			t.Error(err)
		}
		requestsOfOneCall(t, rec, "tasks/get", "tasks/get")
	})
}

// requestsOfOneCall fails the test unless the last spans have these names, one correlation ID, and links to the first
// span.
func requestsOfOneCall(t *testing.T, rec *telemetrytest.Recording, names ...string) {
	t.Helper()
	var got []string
	spans := rec.Spans()
	spans = slices.DeleteFunc(spans, func(s sdktrace.ReadOnlySpan) bool {
		return !strings.HasPrefix(s.Name(), "tasks/") && s.Name() != "tools/call x"
	})
	spans = spans[max(0, len(spans)-len(names)):]
	corr := map[string]bool{}
	for i, s := range spans {
		got = append(got, s.Name())
		for _, a := range s.Attributes() {
			if a.Key == "mcp_client.corr_id" {
				corr[a.Value.AsString()] = true
			}
			if strings.Contains(a.Value.AsString(), "t1") {
				t.Errorf("%s has the task's id in %s", s.Name(), a.Key)
			}
		}
		if i > 0 && (len(s.Links()) != 1 || s.Links()[0].SpanContext.SpanID() != spans[0].SpanContext().SpanID()) {
			t.Errorf("%s has the links %v, want one to the first request", s.Name(), s.Links())
		}
	}
	if !slices.Equal(got, names) || len(corr) != 1 {
		t.Errorf("got the spans %q with the ids %v, want %q with one id", got, corr, names)
	}
}
