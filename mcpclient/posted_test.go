package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// posted makes a caller abandon a task, and returns the request with which the client cancels the task.
func posted(t *testing.T, c *mcpclient.Client, v *conversation) frame {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := callInBackground(ctx, c)
	v.begin(mcp.TaskWorking, everySecond)
	synctest.Wait()
	cancel()
	if err := <-a.done; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the caller's cancellation", err)
	}
	f := v.about(mcp.MethodCancelTask)
	synctest.Wait()
	return f
}

// If the server was busy, the client also retries a request for which no caller waits.
func TestTaskCancelIsRetriedAtBusyServer(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		f := posted(t, c, v)
		var id int64
		_ = json.Unmarshal(f.ID, &id)
		mcpclient.ProbeOf(c).Busy(id, &transport.RequestError{Reason: transport.ReasonBusy, Status: 503, Unsent: true})
		v.Answer(v.about(mcp.MethodCancelTask), `{"resultType":"complete"}`)
		v.silent()
	})
}

func TestInspectShowsTaskCancelWithItsAge(t *testing.T) {
	tasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		f := posted(t, c, v)
		time.Sleep(2 * time.Second)
		calls := c.Inspect().Calls
		if len(calls) != 1 || calls[0].Method != mcp.MethodCancelTask || calls[0].Age != 2*time.Second {
			t.Errorf("the calls in flight are %+v, want the request from 2 s ago", calls)
		}
		v.Answer(f, `{"resultType":"complete"}`)
		v.silent()
	})
}

// Over HTTP, the transport keeps no stream for a request without a caller after the timeout of the request.
func TestStreamOfTimedOutTaskCancelIsClosed(t *testing.T) {
	var closed []int64
	o := &mcpclient.Options{Versions: modernOnly, Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	bubbleWith(t, o, func(s *script) transport.Transport {
		closed = nil
		return &overHTTP{rigged: &rigged{Transport: s, cancel: func(id int64, notice transport.Message) bool {
			closed = append(closed, id)
			return true
		}}}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).tasks()
		await(t, c)
		f := posted(t, c, v)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		var id int64
		_ = json.Unmarshal(f.ID, &id)
		if !slices.Contains(closed, id) {
			t.Errorf("closed the streams %v, want the stream of request %d", closed, id)
		}
	})
}

// Over HTTP, the client also closes the stream of a subscription that the server has cancelled.
func TestStreamOfSubscriptionCancelledByServerIsClosed(t *testing.T) {
	var closed []int64
	o := &mcpclient.Options{Versions: modernOnly,
		Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged, heard(new(int)))}}
	bubbleWith(t, o, func(s *script) transport.Transport {
		closed = nil
		return &overHTTP{rigged: &rigged{Transport: s, cancel: func(id int64, notice transport.Message) bool {
			closed = append(closed, id)
			return true
		}}}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		f := v.Expect(mcp.MethodSubscriptionsListen)
		v.acknowledge(f)
		synctest.Wait()
		v.cancel(string(f.ID), "")
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		if fmt.Sprint(closed) != "["+string(f.ID)+"]" {
			t.Errorf("closed the streams %v, want the stream of the subscription, %s", closed, f.ID)
		}
	})
}
