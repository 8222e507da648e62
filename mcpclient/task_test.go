package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

const taskCapable = `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],` +
	`"capabilities":{"tools":{},` +
	`"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`

// taskState returns the task t1. more contains further members.
func taskState(resultType string, status mcp.TaskStatus, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,"createdAt":"2026-08-01T10:00:00Z",`+
		`"lastUpdatedAt":"2026-08-01T10:00:00Z"%s}`,
		resultType, status, more)
}

const everySecond = `,"ttlMs":null,"pollIntervalMs":1000`

func working() string { return taskState("complete", mcp.TaskWorking, everySecond) }

func completed(text string) string {
	return taskState("complete", mcp.TaskCompleted, everySecond+`,"result":`+fmt.Sprintf(textResult, text))
}

// tasked runs f in a bubble with a ready client and a server, which both have declared tasks.
func tasked(t *testing.T, o *mcpclient.TaskOptions, more mcpclient.Options, f func(t *testing.T, s *script,
	v *conversation, c *mcpclient.Client)) {
	t.Helper()
	more.Features = append(more.Features, mcpclient.UseTasks(o))
	bubble(t, &more, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).tasks()
		await(t, c)
		f(t, s, v, c)
	})
}

func (c *conversation) tasks() *conversation {
	c.t.Helper()
	c.Answer(c.Expect(mcp.MethodDiscover), taskCapable)
	return c
}

// begin answers a tool call with a task in this state, and returns the request.
func (c *conversation) begin(status mcp.TaskStatus, more string) frame {
	c.t.Helper()
	f := c.Expect(mcp.MethodCallTool)
	c.Answer(f, taskState("task", status, more))
	return f
}

// about receives the client's next frame, which must have this method and concern the task t1.
func (c *conversation) about(method string) frame {
	c.t.Helper()
	f := c.Expect(method)
	var p mcp.TaskParams
	if err := json.Unmarshal(f.Params, &p); err != nil || p.TaskID != "t1" {
		c.t.Fatalf("want %s for the task t1, got %s, %v", method, f.Raw, err)
	}
	return f
}

// silent fails the test if the client sends anything within a minute.
func (c *conversation) silent() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	if raw, err := c.Peer().Receive(ctx); err == nil {
		c.t.Errorf("want nothing more from the client, got %s", raw)
	}
}

// called is a tool call in the background.
type called struct {
	result *mcp.CallToolResult
	done   <-chan error
}

func callInBackground(ctx context.Context, c *mcpclient.Client, options ...mcpclient.CallOption) *called {
	var a called
	a.done = background(func() (err error) {
		a.result, err = c.CallTool(ctx, "x", nil, options...)
		return err
	})
	return &a
}

// keptPace fails the test unless took is between d and d plus a tenth.
func keptPace(t *testing.T, took, d time.Duration) {
	t.Helper()
	if took < d || took > d+d/10 {
		t.Errorf("it took %v, want %v plus at most a tenth", took, d)
	}
}

func TestACallWaitsForItsTask(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var heard []string
		a := callInBackground(t.Context(), c, mcpclient.WithTaskStatus(func(s mcp.Task) {
			heard = append(heard, fmt.Sprintf("%s %s %s", s.TaskID, s.Status, s.StatusMessage))
		}))
		first := v.begin(mcp.TaskWorking, everySecond)
		if !strings.Contains(first.Raw, `"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
			t.Errorf("sent %s, want a declaration of tasks", first.Raw)
		}
		keptPace(t, elapsed(func() { v.Answer(v.about(mcp.MethodGetTask), working()) }), time.Second)
		keptPace(t, elapsed(func() {
			v.Answer(v.about(mcp.MethodGetTask), taskState("complete", mcp.TaskWorking,
				`,"statusMessage":"half","ttlMs":null,"pollIntervalMs":5000`))
		}), time.Second)
		keptPace(t, elapsed(func() { v.Answer(v.about(mcp.MethodGetTask), completed("done")) }), 5*time.Second)
		if err := <-a.done; err != nil || text(a.result) != "done" || a.result.ResultType != "" {
			t.Errorf("got %+v, %v, want only the result of the task", a.result, err)
		}
		if got, want := strings.Join(heard, ", "), "t1 working , t1 working half, t1 completed "; got != want {
			t.Errorf("got the states %q, want %q", got, want)
		}
		a = callInBackground(t.Context(), c)
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "at once")) // a server need not make a task of a call
		if err := <-a.done; err != nil || text(a.result) != "at once" {
			t.Errorf("got %+v, %v, want the result of the call", a.result, err)
		}
		v.silent()
	})
}

func TestPollIntervalIsBounded(t *testing.T) {
	for _, test := range []struct {
		name    string
		options *mcpclient.TaskOptions
		more    string
		want    time.Duration
	}{
		{"none suggested", nil, `,"ttlMs":null`, time.Second},
		{"none suggested, one configured", &mcpclient.TaskOptions{PollInterval: 3 * time.Second}, `,"ttlMs":null`,
			3 * time.Second},
		{"zero", nil, `,"ttlMs":null,"pollIntervalMs":0`, 100 * time.Millisecond},
		{"negative", nil, `,"ttlMs":null,"pollIntervalMs":-9223372036854775808`, 100 * time.Millisecond},
		{"for ever, with a bound", &mcpclient.TaskOptions{PollMax: time.Minute},
			`,"ttlMs":null,"pollIntervalMs":9223372036854775807`,
			time.Minute},
		{"half an hour", nil, `,"ttlMs":null,"pollIntervalMs":1800000`, 30 * time.Minute},
		{"with the largest bound", &mcpclient.TaskOptions{PollMax: math.MaxInt64}, `,"ttlMs":null,"pollIntervalMs":1800000`,
			30 * time.Minute},
		{"configured", &mcpclient.TaskOptions{PollMin: 2 * time.Second, PollMax: 2 * time.Second}, everySecond,
			2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasked(t, test.options, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				a := callInBackground(t.Context(), c)
				v.begin(mcp.TaskWorking, test.more)
				keptPace(t, elapsed(func() { v.Answer(v.about(mcp.MethodGetTask), completed("ok")) }), test.want)
				if err := <-a.done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestInvalidTaskOptionsAreRefused(t *testing.T) {
	for _, o := range []mcpclient.TaskOptions{
		{PollInterval: -1}, {PollMin: -1}, {PollMax: -1}, {PollMin: 2 * time.Second, PollMax: time.Second},
	} {
		if _, err := mcpclient.New(newScript(t),
			&mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(&o)}}); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

func TestCompletedTaskIsPolledAtOnce(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var raw json.RawMessage
		done := background(func() error {
			return c.Call(t.Context(), mcp.MethodCallTool, &mcp.CallToolParams{Name: "x"}, &raw)
		})
		took := elapsed(func() {
			v.begin(mcp.TaskCompleted, everySecond)
			v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		})
		if err := <-done; err != nil || string(raw) != fmt.Sprintf(textResult, "ok") || took != 0 {
			t.Errorf("got %s, %v after %v, want the result at once", raw, err, took)
		}
	})
}

func TestTimeoutAppliesToTaskRequestsButNotToTask(t *testing.T) {
	tasked(t, nil, mcpclient.Options{RequestTimeout: 2 * time.Second}, func(t *testing.T, s *script, v *conversation,
		c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		for range 5 {
			v.Answer(v.about(mcp.MethodGetTask), working())
		}
		took := elapsed(func() {
			v.about(mcp.MethodGetTask) // the server does not answer
			v.Expect(mcp.NotificationCancelled)
			v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		})
		if err := <-a.done; err != nil {
			t.Errorf("got %v, want the unanswered poll repeated", err)
		}
		if took < 5*time.Second { // one interval, the timeout, and two intervals
			t.Errorf("the poll was repeated after %v in total, want a doubled interval after the failure", took)
		}
	})
	t.Run("the context bounds everything", func(t *testing.T) {
		tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
			defer cancel()
			a := callInBackground(ctx, c)
			v.begin(mcp.TaskWorking, everySecond)
			for range 3 {
				v.Answer(v.about(mcp.MethodGetTask), working())
			}
			if err := <-a.done; !errors.Is(err, mcpclient.ErrTimeout) {
				t.Errorf("got %v, want ErrTimeout", err)
			}
			v.about(mcp.MethodCancelTask)
		})
	})
}

func TestATaskSurvivesItsConnection(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.about(mcp.MethodGetTask)
		v.Close()
		v = s.next(t).tasks()
		v.Answer(v.about(mcp.MethodGetTask), working())
		v.Close()
		v = s.next(t).tasks()
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-a.done; err != nil || text(a.result) != "ok" {
			t.Errorf("got %+v, %v, want the result", a.result, err)
		}
	})
}

func TestLegacyServerGetsNoTaskCapability(t *testing.T) {
	o := pinnedLegacy()
	o.Features = []mcpclient.Feature{mcpclient.UseTasks(nil)}
	o.Capabilities.Extensions = map[string]mcp.Object{"example.com/x": {}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		f := v.Expect(mcp.MethodInitialize)
		if strings.Contains(f.Raw, mcp.ExtensionTasks) || !strings.Contains(f.Raw, "example.com/x") {
			t.Errorf("sent %s, want the user's extension and no tasks", f.Raw)
		}
		v.Answer(f, fmt.Sprintf(initialized, mcp.Version20251125))
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
		done := background(func() error {
			task, err := c.StartTool(t.Context(), "x", nil)
			if err != nil {
				return err
			}
			r, err := task.Wait(t.Context())
			if err == nil && (task.ID() != "" || text(r) != "ok" || task.Status().Status != mcp.TaskCompleted) {
				err = fmt.Errorf("got %+v of task %q, want the result without one", r, task.ID())
			}
			return errors.Join(err, task.Cancel(t.Context()))
		})
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := c.ResumeTask("t1").Poll(t.Context()); !errors.Is(err, mcpclient.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
	})
	if len(o.Capabilities.Extensions) != 1 {
		t.Errorf("the user's extensions were changed to %v", o.Capabilities.Extensions)
	}
}

func TestTaskRequestsHaveTheLogLevelOfTheCall(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(taskCapable, `"tools":{}`, `"tools":{},"logging":{}`, 1))
		await(t, c)
		if err := c.SetLogLevel(t.Context(), mcp.LevelWarning); err != nil {
			t.Fatal(err)
		}
		for want, options := range map[string][]mcpclient.CallOption{`"warning"`: nil,
			`"debug"`: {mcpclient.WithLogLevel(mcp.LevelDebug)}} {
			a := callInBackground(t.Context(), c, options...)
			f := v.begin(mcp.TaskWorking, everySecond)
			poll := v.about(mcp.MethodGetTask)
			v.Answer(poll, completed("ok"))
			if got := metaOf(t, f, mcp.MetaLogLevel); got != want {
				t.Errorf("the call has the level %s, want %s", got, want)
			}
			if got := metaOf(t, poll, mcp.MetaLogLevel); got != want {
				t.Errorf("the poll has the level %s, want %s", got, want)
			}
			if err := <-a.done; err != nil {
				t.Error(err)
			}
			task := c.ResumeTask("t1", options...)
			done := background(func() error { _, err := task.Poll(t.Context()); return err })
			poll = v.about(mcp.MethodGetTask)
			v.Answer(poll, completed("ok"))
			if got := metaOf(t, poll, mcp.MetaLogLevel); got != want {
				t.Errorf("the poll of a resumed task has the level %s, want %s", got, want)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
