package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func oldInput() string { return oldState(mcp.TaskInputRequired, everySecondOld) }

// elicit sends a form that belongs to the task t1, and receives the answer.
func (c *conversation) elicit() frame {
	c.t.Helper()
	c.Send(strings.Replace(formRequest, `{"method":"elicitation/create","params":{`,
		`{"jsonrpc":"2.0","id":"e1","method":"elicitation/create",`+
			`"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}},`, 1))
	return c.Receive()
}

// told sends notifications/tasks/status.
func (c *conversation) told(state string) {
	c.t.Helper()
	c.Send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":` + state + `}`)
}

func TestLegacyTaskRequestsInputDuringTasksResult(t *testing.T) {
	o, shown := counting()
	o.RequestTimeout = 3 * time.Second
	oldTasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var heard []string
		a := callOld(t.Context(), c, mcpclient.WithTaskStatus(func(s mcp.Task) { heard = append(heard, string(s.Status)) }))
		v.oldBegin(oldWorking())
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		result := v.about(mcp.MethodTaskResult)
		answer := v.elicit()
		if !strings.Contains(answer.Raw, `"action":"accept"`) ||
			!strings.Contains(answer.Raw, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}`) {
			t.Errorf("answered %s, want the accepted form and the task's ID", answer.Raw)
		}
		for range 5 { // longer than the timeout of a request
			keptPace(t, elapsed(func() { v.Answer(v.about(mcp.MethodGetTask), oldWorking()) }), time.Second)
		}
		took := elapsed(func() {
			v.Answer(result, fmt.Sprintf(textResult, "ok"))
			if err := <-a.done; err != nil || text(a.result) != "ok" || *shown != 1 {
				t.Errorf("got %+v, %v with %d forms shown, want the result and one", a.result, err, *shown)
			}
		})
		if got, want := strings.Join(heard, " "), "working input_required working completed"; got != want || took != 0 {
			t.Errorf("got the states %q, the result after %v, want %q and at once", got, took, want)
		}
		v.silent()
	})
}

func TestAnswersOutsideTaskHaveNoTaskMetadata(t *testing.T) {
	o, _ := counting()
	oldTasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.Send(strings.Replace(formRequest, `{`, `{"jsonrpc":"2.0","id":"e1",`, 1))
		if f := v.Receive(); strings.Contains(f.Raw, "_meta") {
			t.Errorf("answered %s, want no metadata", f.Raw)
		}
	})
}

func TestAnswerMetaIncludesRelatedTask(t *testing.T) {
	const ofTask = `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`
	refusal := &mcp.Error{Code: 7, Message: "no"}
	for name, test := range map[string]struct {
		params string
		result any
		err    error
		want   string
	}{
		"with metadata": {ofTask, &mcp.ListRootsResult{Result: mcp.Result{Meta: mcp.Meta(`{"x":1}`)}, Roots: []*mcp.Root{}},
			nil, `"result":{"_meta":{"x":1,"io.modelcontextprotocol/related-task":{"taskId":"t1"}},"roots":[]}`},
		"without":            {ofTask, nil, nil, `"result":` + ofTask},
		"not encodable":      {ofTask, make(chan int), nil, `"code":-32603`},
		"a refusal":          {ofTask, nil, refusal, `"error":{"code":7,"message":"no"}`},
		"outside a task":     {`{}`, nil, refusal, `"error":{"code":7,"message":"no"}`},
		"no result, no task": {`{}`, nil, nil, `"result":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(context.Context, *mcpclient.Request) (any, error) { return test.result, test.err }
			o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest(mcp.MethodListRoots, answer)}}
			oldTasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				v.Send(`{"jsonrpc":"2.0","id":"r1","method":"roots/list","params":` + test.params + `}`)
				if f := v.Receive(); !strings.Contains(f.Raw, test.want) {
					t.Errorf("answered %s, want %s", f.Raw, test.want)
				}
			})
		})
	}
}

func TestOutcomesOfTaskOf20251125(t *testing.T) {
	answer := func(result string) func(*conversation) {
		return func(v *conversation) { v.Answer(v.about(mcp.MethodTaskResult), result) }
	}
	refuse := func(code int, message string) func(*conversation) {
		return func(v *conversation) { v.Refuse(v.about(mcp.MethodTaskResult), code, message) }
	}
	for _, test := range []struct {
		name, state string
		then        func(*conversation)
		is          error
		kind        mcpclient.ErrorKind // empty for a result
		text        string
		cancels     bool
	}{
		{"completed", oldState(mcp.TaskCompleted, everySecondOld), answer(fmt.Sprintf(textResult, "ok")), nil, "", "ok",
			false},
		{"completed with another result", oldState(mcp.TaskCompleted, everySecondOld), answer(`{"content":7}`), nil,
			mcpclient.KindProtocol, "content", false},
		{"completed and forgotten", oldState(mcp.TaskCompleted, everySecondOld), refuse(mcp.CodeInvalidParams, "?"),
			mcpclient.ErrTaskUnknown, mcpclient.KindJSONRPC, "tasks/result: server error", false},
		{"completed, and the result lost", oldState(mcp.TaskCompleted, everySecondOld), refuse(mcp.CodeInternalError, "oh"),
			nil, mcpclient.KindJSONRPC, "tasks/result: server error -32603: oh", true},
		{"failed", oldState(mcp.TaskFailed, everySecondOld), refuse(mcp.CodeInternalError, "disk full"),
			mcpclient.ErrTaskFailed,
			mcpclient.KindJSONRPC, "tools/call: server error -32603: disk full", false},
		{"failed for its arguments", oldState(mcp.TaskFailed, everySecondOld), refuse(mcp.CodeInvalidParams, "no topic"),
			mcpclient.ErrTaskFailed, mcpclient.KindJSONRPC, "tools/call: server error -32602: no topic", false},
		{"failed by the tool's own account", oldState(mcp.TaskFailed, everySecondOld),
			answer(`{"content":[{"type":"text","text":"sorry"}],"isError":true}`), nil, "", "sorry", false},
		{"failed and expired", oldState(mcp.TaskFailed, `,"ttl":900,"pollInterval":1000`), refuse(mcp.CodeInvalidParams, "?"),
			mcpclient.ErrTaskExpired, mcpclient.KindJSONRPC, "-32602: ?", false},
		{"cancelled", oldState(mcp.TaskCancelled, everySecondOld+`,"statusMessage":"maintenance"`), func(*conversation) {},
			mcpclient.ErrTaskCancelled, mcpclient.KindCancelled, "task cancelled: maintenance", false},
		{"of another id", strings.Replace(oldWorking(), "t1", "t2", 1), func(*conversation) {}, nil, mcpclient.KindProtocol,
			"another task", true},
		{"with an unknown status", oldState("paused", everySecondOld), func(*conversation) {}, nil, mcpclient.KindProtocol,
			`unknown task status "paused"`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				a := callOld(t.Context(), c)
				v.oldBegin(oldWorking())
				v.Answer(v.about(mcp.MethodGetTask), test.state)
				test.then(v)
				err := <-a.done
				switch e, _ := errors.AsType[*mcpclient.Error](err); {
				case test.kind == "":
					if err != nil || text(a.result) != test.text || a.result.IsError != (test.text == "sorry") {
						t.Errorf("got %+v, %v, want %q", a.result, err, test.text)
					}
				case e == nil || e.Kind != test.kind || e.TaskID != "t1" || !strings.Contains(err.Error(), test.text) ||
					mcpclient.SafeToRetry(err):
					t.Errorf("got %#v, want kind %s for t1 with %q in it, not safe to retry", err, test.kind, test.text)
				case test.is != nil && !errors.Is(err, test.is) || test.is == mcpclient.ErrTaskFailed &&
					errors.Is(err, mcpclient.ErrTaskUnknown):
					t.Errorf("got %v, want %v in it", err, test.is)
				}
				if test.cancels {
					v.Answer(v.about(mcp.MethodCancelTask), oldState(mcp.TaskCancelled, everySecondOld))
				}
				v.silent()
			})
		})
	}
}

// The result, or an error instead of it, may arrive before a poll reports how the task has ended.
func TestEarlyTaskResultDeterminesOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		then  func(v *conversation, result frame)
		check func(r *mcp.CallToolResult, err error) bool
		last  mcp.TaskStatus
	}{
		"with a failure of the tool": {
			func(v *conversation, result frame) { v.Answer(result, `{"content":[],"isError":true}`) },
			func(r *mcp.CallToolResult, err error) bool { return err == nil && r.IsError }, mcp.TaskFailed,
		},
		"with an error": {
			func(v *conversation, result frame) {
				v.Refuse(result, mcp.CodeInvalidParams, "no topic")
				v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskFailed, everySecondOld))
			},
			func(_ *mcp.CallToolResult, err error) bool {
				return errors.Is(err, mcpclient.ErrTaskFailed) && !errors.Is(err, mcpclient.ErrTaskUnknown)
			}, mcp.TaskFailed,
		},
		"cancelled": {
			func(v *conversation, result frame) {
				v.Refuse(result, mcp.CodeInternalError, "no result")
				v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCancelled, everySecondOld))
			},
			func(_ *mcp.CallToolResult, err error) bool { return errors.Is(err, mcpclient.ErrTaskCancelled) }, mcp.TaskCancelled,
		},
		"forgotten": {
			func(v *conversation, result frame) {
				v.Refuse(result, mcp.CodeInvalidParams, "?")
				v.Refuse(v.about(mcp.MethodGetTask), mcp.CodeInvalidParams, "?")
			},
			func(_ *mcp.CallToolResult, err error) bool {
				return errors.Is(err,
					mcpclient.ErrTaskUnknown)
			}, mcp.TaskInputRequired + ", which?",
		},
		"refused": {
			func(v *conversation, result frame) {
				v.Refuse(result, mcp.CodeInternalError, "oh")
				v.Answer(v.about(mcp.MethodGetTask), oldWorking())
				v.about(mcp.MethodCancelTask)
			},
			func(_ *mcp.CallToolResult, err error) bool {
				e, _ := errors.AsType[*mcpclient.Error](err)
				return e != nil && e.Op == mcp.MethodTaskResult && e.Server.Message == "oh"
			}, mcp.TaskWorking,
		},
		"late": {
			func(v *conversation, result frame) {
				v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCompleted, everySecondOld))
				keptPace(v.t, elapsed(func() { v.Expect(mcp.NotificationCancelled) }), 30*time.Second)
				v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
			},
			func(r *mcp.CallToolResult, err error) bool { return err == nil && text(r) == "ok" }, mcp.TaskCompleted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				var last mcp.TaskStatus
				a := callOld(t.Context(), c, mcpclient.WithTaskStatus(func(s mcp.Task) {
					last = s.Status +
						mcp.TaskStatus(s.StatusMessage)
				}))
				v.oldBegin(oldInput())
				v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskInputRequired, everySecondOld+`,"statusMessage":", which?"`))
				test.then(v, v.about(mcp.MethodTaskResult))
				if err := <-a.done; !test.check(a.result, err) || last != test.last {
					t.Errorf("got %+v, %v, last state %q, want %q", a.result, err, last, test.last)
				}
			})
		})
	}
}

func TestCancelledCallCancelsTheTaskOf20251125(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		a := callOld(ctx, c)
		v.oldBegin(oldInput())
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		v.about(mcp.MethodTaskResult)
		synctest.Wait()
		cancel()
		if e, _ := errors.AsType[*mcpclient.Error](<-a.done); e == nil || e.Kind != mcpclient.KindCancelled ||
			e.TaskID != "t1" ||
			errors.Is(e, mcpclient.ErrTaskCancelled) {
			t.Errorf("got %v, want the caller's cancellation, for t1", e)
		}
		v.Expect(mcp.NotificationCancelled) // cancels the request for the result
		v.Answer(v.about(mcp.MethodCancelTask), oldState(mcp.TaskCancelled, everySecondOld))
		v.silent()
	})
	t.Run("with a server that cannot cancel", func(t *testing.T) {
		bubble(t, &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Versions: legacyOnly},
			func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.oldSession(uncancellable)
				await(t, c)
				ctx, cancel := context.WithCancel(t.Context())
				a := callOld(ctx, c)
				v.Answer(v.Expect(mcp.MethodListTools), oldTools)
				v.oldBegin(oldWorking())
				synctest.Wait()
				cancel()
				if err := <-a.done; err == nil {
					t.Error("want the caller's cancellation")
				}
				if err := c.ResumeTask("t1").Cancel(t.Context()); !errors.Is(err, mcpclient.ErrUnsupported) {
					t.Errorf("got %v, want ErrUnsupported", err)
				}
				v.silent()
			})
	})
}

func TestLegacyTaskHandlePollsButRejectsUpdates(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := oldStarted(t, v, c)
		if got := task.Status(); got.TaskID != "t1" || got.Status != mcp.TaskWorking || *got.PollIntervalMs != 1000 {
			t.Errorf("got %+v, want the working task t1, every second", got)
		}
		v.silent()
		var d *mcp.DetailedTask
		poll := func() <-chan error {
			return background(func() (err error) { d, err = task.Poll(t.Context()); return err })
		}
		done := poll()
		v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskInputRequired, `,"statusMessage":"which?","ttl":60000`))
		if err := <-done; err != nil || d.Status != mcp.TaskInputRequired || d.StatusMessage != "which?" ||
			*d.TTLMs != 60000 {
			t.Errorf("got %+v, %v, want the server's state", d, err)
		}
		if err := task.Update(t.Context(), nil); !errors.Is(err, mcpclient.ErrUnsupported) || !mcpclient.SafeToRetry(err) ||
			!strings.Contains(err.Error(), "accepts no updates") {
			t.Errorf("got %v, want ErrUnsupported, unsent", err)
		}
		done = poll()
		v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCompleted, everySecondOld))
		if err := errors.Join(<-done, task.Cancel(t.Context()), <-poll()); err != nil || d.Status != mcp.TaskCompleted {
			t.Errorf("got %+v, %v, want a completed task, and no request", d, err)
		}
		var r *mcp.CallToolResult
		wait := func() <-chan error {
			return background(func() (err error) { r, err = task.Wait(t.Context()); return err })
		}
		done = wait()
		v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || text(r) != "ok" {
			t.Errorf("got %+v, %v, want the result", r, err)
		}
		if err := <-wait(); err != nil || text(r) != "ok" {
			t.Errorf("got %+v, %v, want the same result", r, err)
		}
		v.silent()
	})
}

func TestCancelOfTaskOf20251125(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		task := oldStarted(t, v, c)
		done := background(func() error { return task.Cancel(t.Context()) })
		// after this, the server may forget the task
		v.Answer(v.about(mcp.MethodCancelTask), oldState(mcp.TaskCancelled, everySecondOld))
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := task.Wait(t.Context()); !errors.Is(err, mcpclient.ErrTaskCancelled) {
			t.Errorf("got %v, want ErrTaskCancelled, and no request", err)
		}
		for name, test := range map[string]struct {
			poll string // empty for an unknown task
			want error
		}{
			"ended":   {oldState(mcp.TaskCompleted, everySecondOld), nil},
			"working": {oldWorking(), mcpclient.ErrTaskUnknown},
			"unknown": {"", mcpclient.ErrTaskUnknown},
		} {
			task := c.ResumeTask("t1")
			done := background(func() error { return task.Cancel(t.Context()) })
			v.Refuse(v.about(mcp.MethodCancelTask), mcp.CodeInvalidParams, "no")
			if f := v.about(mcp.MethodGetTask); test.poll != "" {
				v.Answer(f, test.poll)
			} else {
				v.Refuse(f, mcp.CodeInvalidParams, "?")
			}
			if err := <-done; !errors.Is(err, test.want) {
				t.Errorf("%s: got %v, want %v", name, err, test.want)
			}
		}
		done = background(func() error { return c.ResumeTask("t1").Cancel(t.Context()) })
		v.Refuse(v.about(mcp.MethodCancelTask), mcp.CodeInternalError, "oh")
		if err := <-done; err == nil || !strings.Contains(err.Error(), "oh") {
			t.Errorf("got %v, want the server's error", err)
		}
	})
}

func TestATaskOf20251125IsResumedByItsID(t *testing.T) {
	o, shown := counting()
	oldTasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.Close() // the task waits for the connection, which determines the kind of the task
		synctest.Wait()
		var r *mcp.CallToolResult
		done := background(func() (err error) { r, err = c.ResumeTask("t1").Wait(t.Context()); return err })
		v = s.next(t)
		v.oldSession(allTasks)
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		result := v.about(mcp.MethodTaskResult)
		v.elicit()
		v.Answer(result, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || text(r) != "ok" || *shown != 1 {
			t.Errorf("got %+v, %v, want the result and a form", r, err)
		}
		v.Close()
		synctest.Wait()
		if _, err := c.ResumeTask("").Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "the task has no ID") {
			t.Errorf("got %v, want an error that the task has no ID", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := c.ResumeTask("t1").Poll(ctx)
		if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.TaskID != "t1" || e.Kind != mcpclient.KindTimeout {
			t.Errorf("got %v, want a timeout of the wait for a connection, for t1", err)
		}
	})
}

func TestATaskOf20251125SurvivesItsConnection(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callOld(t.Context(), c)
		v.oldBegin(oldWorking())
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		v.about(mcp.MethodTaskResult)
		v.Close()
		v = s.next(t)
		v.oldSession(allTasks)
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		v.about(mcp.MethodTaskResult)
		v.Close()
		v = s.next(t)
		v.oldSession(allTasks)
		v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCompleted, everySecondOld))
		v.about(mcp.MethodTaskResult)
		v.Close()
		v = s.next(t)
		v.oldSession(allTasks)
		v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
		if err := <-a.done; err != nil || text(a.result) != "ok" {
			t.Errorf("got %+v, %v, want the result", a.result, err)
		}
	})
}

func TestTaskOf20251125EndsInSessionWithoutTasks(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callOld(t.Context(), c)
		v.oldBegin(oldWorking())
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), initializedWith(mcp.Version20250618, ""))
		v.Expect(mcp.NotificationInitialized)
		if err := <-a.done; !errors.Is(err, mcpclient.ErrUnsupported) || mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, want ErrUnsupported, not safe to retry, because the tool was called", err)
		}
		v.silent()
	})
}

func TestTaskStatusNotificationsAreHandled(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var heard []string
		a := callOld(t.Context(), c,
			mcpclient.WithTaskStatus(func(s mcp.Task) { heard = append(heard, string(s.Status)+s.StatusMessage) }))
		v.oldBegin(oldWorking())
		took := elapsed(func() {
			synctest.Wait()
			v.told(strings.Replace(oldState(mcp.TaskCompleted, everySecondOld), "t1", "t2", 1))
			v.told(oldState("paused", everySecondOld))
			synctest.Wait()
			v.told(oldState(mcp.TaskWorking, `,"statusMessage":" hard","ttl":null,"pollInterval":1000`))
			synctest.Wait()
			v.told(oldInput())
			result := v.about(mcp.MethodTaskResult)
			v.told(oldState(mcp.TaskCompleted, everySecondOld))
			synctest.Wait()
			v.told(oldWorking()) // a late notification
			synctest.Wait()
			v.Answer(result, fmt.Sprintf(textResult, "ok"))
			if err := <-a.done; err != nil || text(a.result) != "ok" {
				t.Errorf("got %+v, %v, want the result", a.result, err)
			}
		})
		if got, want := strings.Join(heard, ", "), "working, working hard, input_required, completed"; got != want ||
			took != 0 {
			t.Errorf("got the states %q in %v, want %q and no poll", got, took, want)
		}
		told := len(heard)
		v.told(oldWorking())
		synctest.Wait()
		if len(heard) != told {
			t.Errorf("got the state %q, want none after the end of the call", heard)
		}
		a = callOld(t.Context(), c)
		v.oldBegin(oldWorking())
		synctest.Wait()
		v.told(oldState(mcp.TaskCompleted, everySecondOld))
		v.about(mcp.MethodTaskResult)
		v.told(oldWorking())
		synctest.Wait()
		v.Close() // the client then requests the result again, without a poll
		v = s.next(t)
		v.oldSession(allTasks)
		v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
		if err := <-a.done; err != nil {
			t.Error(err)
		}
	})
}

// The user's code may panic in a goroutine of the client. The panic must reach the caller.
func TestMiddlewarePanicDuringTasksResultReachesTheCaller(t *testing.T) {
	bad := func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			if method == mcp.MethodTaskResult {
				panic("boo")
			}
			return next(ctx, method, params, result, options...)
		}
	}
	oldTasked(t, nil, mcpclient.Options{Middleware: []mcpclient.Middleware{bad}}, func(t *testing.T, s *script,
		v *conversation, c *mcpclient.Client) {
		task := oldStarted(t, v, c)
		done := background(func() (err error) {
			defer func() { err = fmt.Errorf("%v", recover()) }()
			_, err = task.Wait(t.Context())
			return err
		})
		v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCompleted, everySecondOld))
		if err := <-done; err.Error() != "boo" {
			t.Errorf("got %v, want the panic", err)
		}
	})
}

func TestTaskRequestsOf20251125ShareOneLogicalCall(t *testing.T) {
	o, _ := counting()
	o.Features, o.Versions = append(o.Features, mcpclient.UseTasks(nil)), legacyOnly
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t)
		v.oldSession(allTasks)
		await(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		a := background(func() error { _, err := c.CallTool(ctx, "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodListTools), strings.Replace(oldTools, `"must"`, `"x"`, 1))
		v.oldBegin(oldWorking())
		v.Answer(v.about(mcp.MethodGetTask), oldInput())
		v.about(mcp.MethodTaskResult)
		v.Answer(v.about(mcp.MethodGetTask), oldWorking())
		synctest.Wait()
		cancel()
		<-a
		v.Expect(mcp.NotificationCancelled)
		v.Answer(v.about(mcp.MethodCancelTask), oldState(mcp.TaskCancelled, everySecondOld))
		synctest.Wait()
		requestsOfOneCall(t, rec, "tools/call x", "tasks/get", "tasks/get", "tasks/result",
			"tools/call x", // this span has the caller's error
			"tasks/cancel")
	})
}
