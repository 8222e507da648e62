package mcpclient_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func TestTaskOutcomes(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		is           error
		kind         mcpclient.ErrorKind
		text         string
	}{
		{"failed", taskState("complete", mcp.TaskFailed, everySecond+`,"error":{"code":-32603,"message":"disk full"}`),
			mcpclient.ErrTaskFailed, mcpclient.KindJSONRPC, "tools/call: server error -32603: disk full"},
		{"failed, as the examples have it", taskState("task", mcp.TaskFailed,
			everySecond+`,"error":{"code":-32603,"message":"disk full"}`), mcpclient.ErrTaskFailed, mcpclient.KindJSONRPC,
			"disk full"},
		{"failed without an error", taskState("complete", mcp.TaskFailed, everySecond), mcpclient.ErrTaskFailed,
			mcpclient.KindProtocol,
			"task failed"},
		{"cancelled", taskState("complete", mcp.TaskCancelled, everySecond+`,"statusMessage":"maintenance"`),
			mcpclient.ErrTaskCancelled, mcpclient.KindCancelled, "task cancelled: maintenance"},
		{"completed without a result", taskState("complete", mcp.TaskCompleted, everySecond), nil, mcpclient.KindProtocol,
			"without a result"},
		{"completed with another result", taskState("complete", mcp.TaskCompleted, everySecond+`,"result":{"content":7}`),
			nil, mcpclient.KindProtocol, "content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				a := callInBackground(t.Context(), c)
				v.begin(mcp.TaskWorking, everySecond)
				v.Answer(v.about(mcp.MethodGetTask), test.answer)
				err := <-a.done
				e, _ := errors.AsType[*mcpclient.Error](err)
				if e == nil || e.Kind != test.kind || e.TaskID != "t1" || !strings.Contains(err.Error(), test.text) ||
					mcpclient.SafeToRetry(err) {
					t.Errorf("got %#v, want kind %s for t1 with %q in it, not safe to retry", err, test.kind, test.text)
				}
				if test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("got %v, want %v in it", err, test.is)
				}
				if strings.Contains(err.Error(), "t1") {
					t.Errorf("the error is %q, want no task id in it", err)
				}
				v.silent()
			})
		})
	}
}

func TestToolErrorOfATaskIsAResult(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodGetTask), taskState("complete", mcp.TaskCompleted,
			everySecond+`,"result":{"content":[],"isError":true}`))
		if err := <-a.done; err != nil || !a.result.IsError {
			t.Errorf("got %+v, %v, want a result with IsError", a.result, err)
		}
	})
}

func TestUnexpectedTaskResultIsProtocolError(t *testing.T) {
	t.Run("not declared", func(t *testing.T) {
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			a := callInBackground(t.Context(), c)
			v.begin(mcp.TaskWorking, everySecond)
			err := <-a.done
			if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindProtocol ||
				!strings.Contains(err.Error(), "not negotiated") {
				t.Errorf("got %v, want a protocol error", err)
			}
			_, err = c.ResumeTask("t1").Wait(t.Context())
			if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindInvalid ||
				!strings.Contains(err.Error(), "UseTasks") {
				t.Errorf("got %v, want an error that names UseTasks", err)
			}
		})
	})
	t.Run("for another method", func(t *testing.T) {
		tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), mcp.MethodGetPrompt, nil, nil) })
			v.Answer(v.Expect(mcp.MethodGetPrompt), taskState("task", mcp.TaskWorking, everySecond))
			err := <-done
			if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindProtocol {
				t.Errorf("got %v, want a protocol error", err)
			}
		})
	})
	for name, answer := range map[string]string{
		"without an id":          `{"resultType":"task","status":"working"}`,
		"with an unknown status": taskState("task", "paused", everySecond),
	} {
		t.Run(name, func(t *testing.T) {
			tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				a := callInBackground(t.Context(), c)
				v.Answer(v.Expect(mcp.MethodCallTool), answer)
				if e, _ := errors.AsType[*mcpclient.Error](<-a.done); e == nil || e.Kind != mcpclient.KindProtocol {
					t.Errorf("got %v, want a protocol error", e)
				}
			})
		})
	}
}

func TestInvalidPollAnswersEndTheCallAndCancelTheTask(t *testing.T) {
	for name, answer := range map[string]string{
		"another task":   strings.Replace(working(), "t1", "t2", 1),
		"unknown status": taskState("complete", "paused", everySecond),
		"no status":      `{"resultType":"complete","taskId":"t1"}`,
		"input required": inputRequired(`{}`, `"s"`),
	} {
		t.Run(name, func(t *testing.T) {
			tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				a := callInBackground(t.Context(), c)
				v.begin(mcp.TaskWorking, everySecond)
				v.Answer(v.about(mcp.MethodGetTask), answer)
				if e, _ := errors.AsType[*mcpclient.Error](<-a.done); e == nil || e.Kind != mcpclient.KindProtocol ||
					e.TaskID != "t1" {
					t.Errorf("got %v, want a protocol error for t1", e)
				}
				v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)

				task := c.ResumeTask("t1") // another process could wait for the task like this
				done := background(func() error { _, err := task.Wait(t.Context()); return err })
				v.Answer(v.about(mcp.MethodGetTask), answer)
				if e, _ := errors.AsType[*mcpclient.Error](<-done); e == nil || e.Kind != mcpclient.KindProtocol ||
					e.TaskID != "t1" {
					t.Errorf("got %v, want a protocol error for t1", e)
				}
			})
		})
	}
}

func TestUnknownTaskIsErrTaskUnknown(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, `,"ttlMs":60000,"pollIntervalMs":1000`)
		v.Refuse(v.about(mcp.MethodGetTask), mcp.CodeInvalidParams, "no such task")
		err := <-a.done
		if e, _ := errors.AsType[*mcp.Error](err); !errors.Is(err, mcpclient.ErrTaskUnknown) ||
			errors.Is(err, mcpclient.ErrTaskExpired) ||
			e == nil || e.Message != "no such task" {
			t.Errorf("got %v, want ErrTaskUnknown and the server's error", err)
		}
		a = callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, `,"ttlMs":900,"pollIntervalMs":1000`)
		v.Refuse(v.about(mcp.MethodGetTask), mcp.CodeInvalidParams, "no such task")
		if err := <-a.done; !errors.Is(err, mcpclient.ErrTaskUnknown) || !errors.Is(err, mcpclient.ErrTaskExpired) {
			t.Errorf("got %v, want ErrTaskUnknown and ErrTaskExpired", err)
		}
		v.silent()
	})
}

func TestTaskWaitEndsAtTTLIfServerIsSilent(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, `,"ttlMs":600000,"pollIntervalMs":1000`)
		took := elapsed(func() {
			if err := <-a.done; !errors.Is(err, mcpclient.ErrTaskExpired) || mcpclient.SafeToRetry(err) {
				t.Errorf("got %v, want ErrTaskExpired", err)
			}
		})
		if took < 10*time.Minute || took > 12*time.Minute {
			t.Errorf("the wait ended after %v, want slightly more than 10 minutes", took)
		}
	})
}
