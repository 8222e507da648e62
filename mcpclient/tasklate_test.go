package mcpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The caller has left when the server says that the call has become a task. A call that was to be one is cancelled in
// no other way.
func TestLateTaskIsCancelledOnce(t *testing.T) {
	left := map[string]func(cancel func()){
		"the caller has left": func(cancel func()) { cancel() },
		"the time is over":    func(func()) { time.Sleep(2 * time.Second) },
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
					v.Answer(f, `{"task":`+oldWorking()+`}`) // once more
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

func TestLateAnswerWithoutATaskCancelsNothing(t *testing.T) {
	for name, result := range map[string]string{
		"a result":            `{"content":[]}`,
		"no id":               `{"task":{"status":"working"}}`,
		"an empty id":         `{"task":` + strings.Replace(oldWorking(), "t1", "", 1) + `}`,
		"a task that is over": `{"task":` + oldState(mcp.TaskCompleted, everySecondOld) + `}`,
		"more than an id": `{"task":` + oldState(mcp.TaskWorking,
			everySecondOld+`,"x":"`+strings.Repeat("x", 64<<10)+`"`) + `}`,
		"no JSON": `{"task":` + oldState(mcp.TaskWorking, everySecondOld+`,"x":y`) + `}`,
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

func TestStopEndsTheCancellationOfALateTask(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		a := callOld(ctx, c)
		f := v.Expect(mcp.MethodCallTool)
		synctest.Wait()
		cancel()
		<-a.done
		v.Answer(f, `{"task":`+oldWorking()+`}`)
		v.about(mcp.MethodCancelTask) // and no answer
		if took := elapsed(func() { _ = c.Stop(t.Context()) }); took > time.Second {
			t.Errorf("Stop took %v", took)
		}
	})
}
