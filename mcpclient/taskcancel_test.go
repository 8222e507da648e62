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
)

func TestCancelledCallCancelsTheTaskOnce(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		a := callInBackground(ctx, c)
		v.begin(mcp.TaskWorking, everySecond)
		synctest.Wait()
		cancel()
		took := elapsed(func() {
			err := <-a.done
			if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindCancelled || e.TaskID != "t1" ||
				errors.Is(err, mcpclient.ErrTaskCancelled) {
				t.Errorf("got %v, want the caller's cancellation, for t1", err)
			}
		})
		if took != 0 {
			t.Errorf("the call returned after %v, want at once", took)
		}
		v.about(mcp.MethodCancelTask)       // the server does not answer
		v.Expect(mcp.NotificationCancelled) // the client cancels that request after its timeout
		v.silent()
		if err := c.Call(t.Context(), "x", nil, nil, mcpclient.WithTimeout(time.Millisecond)); !errors.Is(err,
			mcpclient.ErrTimeout) {
			t.Errorf("got %v, want a working client", err)
		}
	})
}

func TestCloseEndsACallWaitingForItsTask(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		synctest.Wait()
		_ = c.Close()
		err := <-a.done
		if e, _ := errors.AsType[*mcpclient.Error](err); !errors.Is(err, mcpclient.ErrShutdown) || e.TaskID != "t1" ||
			mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, want ErrShutdown for t1, not safe to retry", err)
		}
	})
}

func TestUnusableTaskIsCancelled(t *testing.T) {
	inTime := func(f func()) (panicked any) {
		defer func() { panicked = recover() }()
		f()
		return nil
	}
	boo := mcpclient.WithTaskStatus(func(mcp.Task) { panic("boo") })
	for name, test := range map[string]struct {
		call   func(ctx context.Context, c *mcpclient.Client) error
		status mcp.TaskStatus
	}{
		"with an unknown status": {func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "x", nil)
			return err
		}, "paused"},
		"begun, with an unknown status": {func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.StartTool(ctx, "x", nil)
			return err
		}, "paused"},
		"with a panic of the status function": {func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "x", nil, boo)
			return err
		}, mcp.TaskWorking},
		"begun, with a panic of the status function": {func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.StartTool(ctx, "x", nil, boo)
			return err
		}, mcp.TaskWorking},
	} {
		t.Run(name, func(t *testing.T) {
			tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				var err error
				done := background(func() error {
					if got := inTime(func() { err = test.call(t.Context(), c) }); got != nil && got != "boo" {
						return fmt.Errorf("panic: %v", got)
					}
					return nil
				})
				v.begin(test.status, everySecond)
				v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)
				if unexpected := <-done; unexpected != nil {
					t.Error(unexpected)
				}
				if mcpclient.SafeToRetry(err) {
					t.Errorf("got %v, which is reported as safe to retry", err)
				}
			})
		})
	}
}

func TestCallWithARunningTaskIsNotSafeToRetry(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var task *mcpclient.Task
		done := background(func() (err error) { task, err = c.StartTool(t.Context(), "x", nil); return err })
		v.begin(mcp.TaskWorking, everySecond)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		done = background(func() error { _, err := task.Wait(t.Context()); return err })
		synctest.Wait()
		_ = c.Close()
		if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) || mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, safe to retry: %t, want %v, false", err, mcpclient.SafeToRetry(err),
				mcpclient.ErrShutdown)
		}
	})
}

func TestTaskDeniedByMiddlewareIsCancelled(t *testing.T) {
	refused := errors.New("not today")
	o := mcpclient.Options{Middleware: []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			return errors.Join(next(ctx, method, params, result, options...), refused)
		}
	}}}
	tasked(t, nil, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.StartTool(t.Context(), "x", nil); return err })
		v.begin(mcp.TaskWorking, everySecond)
		v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)
		if err := <-done; !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
		done = background(func() error { _, err := c.StartTool(t.Context(), "x", nil); return err })
		v.begin("paused", everySecond)
		v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)
		<-done
		done = background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		v.Answer(v.Expect("x/y"), `{}`) // the task is not cancelled twice
		<-done
	})
}

// The caller has left before the server answers with a task. The client can cancel such a call only by cancelling the
// task.
func TestLateTaskIsCancelledOnce(t *testing.T) {
	left := map[string]func(cancel func()){
		"the caller has left":    func(cancel func()) { cancel() },
		"the timeout has passed": func(func()) { time.Sleep(2 * time.Second) },
	}
	for why, leave := range left {
		t.Run(why, func(t *testing.T) {
			oldTasked(t, nil, mcpclient.Options{RequestTimeout: 2 * time.Second},
				func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					a := callOld(ctx, c)
					f := v.Expect(mcp.MethodCallTool)
					synctest.Wait()
					leave(cancel)
					if err := <-a.done; err == nil {
						t.Fatal("want the call to end")
					}
					v.Answer(f, `{"task":`+oldWorking()+`}`)
					v.Answer(v.about(mcp.MethodCancelTask), oldState(mcp.TaskCancelled, everySecondOld))
					v.Answer(f, `{"task":`+oldWorking()+`}`) // a second time
					v.silent()
				})
			tasked(t, nil, mcpclient.Options{RequestTimeout: 2 * time.Second}, func(t *testing.T, s *script, v *conversation,
				c *mcpclient.Client) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				a := callInBackground(ctx, c)
				f := v.Expect(mcp.MethodCallTool)
				synctest.Wait()
				leave(cancel)
				if err := <-a.done; err == nil {
					t.Fatal("want the call to end")
				}
				v.Expect(mcp.NotificationCancelled)
				v.Answer(f, taskState("task", mcp.TaskWorking, everySecond))
				v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)
				v.Answer(f, taskState("task", mcp.TaskWorking, everySecond))
				v.silent()
			})
		})
	}
}

func TestLateAnswerWithoutTaskCausesNoCancellation(t *testing.T) {
	for name, result := range map[string]string{
		"a result":      `{"content":[]}`,
		"no id":         `{"task":{"status":"working"}}`,
		"an empty id":   `{"task":` + strings.Replace(oldWorking(), "t1", "", 1) + `}`,
		"an ended task": `{"task":` + oldState(mcp.TaskCompleted, everySecondOld) + `}`,
		"too large a task": `{"task":` + oldState(mcp.TaskWorking,
			everySecondOld+`,"x":"`+strings.Repeat("x", 64<<10)+`"`) + `}`,
		"not JSON": `{"task":` + oldState(mcp.TaskWorking, everySecondOld+`,"x":y`) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				ctx, cancel := context.WithCancel(t.Context())
				a := callOld(ctx, c)
				f := v.Expect(mcp.MethodCallTool)
				synctest.Wait()
				cancel()
				if err := <-a.done; !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v, want the caller's cancellation", err)
				}
				v.Answer(f, result)
				v.silent()
			})
		})
	}
}

func TestCloseEndsTheCancellationOfALateTask(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		a := callOld(ctx, c)
		f := v.Expect(mcp.MethodCallTool)
		synctest.Wait()
		cancel()
		<-a.done
		v.Answer(f, `{"task":`+oldWorking()+`}`)
		v.about(mcp.MethodCancelTask) // the server does not answer
		if took := elapsed(func() { _ = c.Close() }); took > time.Second {
			t.Errorf("Close took %v", took)
		}
	})
}
