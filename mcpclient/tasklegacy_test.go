package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// initializedWith returns the answer to initialize of a server with tools and these capabilities.
func initializedWith(v mcp.Version, more string) string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}%s},"serverInfo":{"name":"legacy","version":"1"}}`,
		v, more)
}

const (
	allTasks      = `,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
	uncancellable = `,"tasks":{"requests":{"tools":{"call":{}}}}`
)

// oldTools lists a tool that must be called as a task, one that may be called as a task, and two that must not.
const oldTools = `{"tools":[{"name":"must","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},` +
	`{"name":"may","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},` +
	`{"name":"never","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},` +
	`{"name":"plain","inputSchema":{"type":"object"}}]}`

// oldState returns the task t1 of 2025-11-25. more contains further members.
func oldState(status mcp.TaskStatus, more string) string {
	return fmt.Sprintf(`{"taskId":"t1","status":%q,"createdAt":"2026-08-01T10:00:00Z",`+
		`"lastUpdatedAt":"2026-08-01T10:00:00Z"%s}`, status, more)
}

const everySecondOld = `,"ttl":null,"pollInterval":1000`

func oldWorking() string { return oldState(mcp.TaskWorking, everySecondOld) }

// oldBegin answers a tool call with a task of 2025-11-25 in this state, and returns the request.
func (c *conversation) oldBegin(state string) frame {
	c.t.Helper()
	f := c.Expect(mcp.MethodCallTool)
	c.Answer(f, `{"task":`+state+`}`)
	return f
}

// oldSession plays the handshake of a server of 2025-11-25 with tools and these capabilities.
func (c *conversation) oldSession(more string) frame {
	c.t.Helper()
	f := c.Expect(mcp.MethodInitialize)
	c.Answer(f, initializedWith(mcp.Version20251125, more))
	c.Expect(mcp.NotificationInitialized)
	return f
}

// oldTasked is like tasked, for a server of 2025-11-25. The client has listed the tools.
func oldTasked(t *testing.T, o *mcpclient.TaskOptions, more mcpclient.Options,
	f func(t *testing.T, s *script, v *conversation, c *mcpclient.Client)) {
	t.Helper()
	more.Features = append(more.Features, mcpclient.UseTasks(o))
	more.Versions = legacyOnly
	bubble(t, &more, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.oldSession(allTasks)
		await(t, c)
		listed := background(listTools(t, c))
		v.Answer(v.Expect(mcp.MethodListTools), oldTools)
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		f(t, s, v, c)
	})
}

func callOld(ctx context.Context, c *mcpclient.Client, options ...mcpclient.CallOption) *called {
	var a called
	a.done = background(func() (err error) {
		a.result, err = c.CallTool(ctx, "must", nil, options...)
		return err
	})
	return &a
}

func oldStarted(t *testing.T, v *conversation, c *mcpclient.Client, options ...mcpclient.CallOption) *mcpclient.Task {
	t.Helper()
	var task *mcpclient.Task
	done := background(func() (err error) { task, err = c.StartTool(t.Context(), "may", nil, options...); return err })
	v.oldBegin(oldWorking())
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return task
}

func TestToolRequiringTaskIsCalledAsTask(t *testing.T) {
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(&mcpclient.TaskOptions{TTL: time.Minute})},
		Versions: legacyOnly}
	bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		var heard []string
		a := callOld(t.Context(), c, mcpclient.WaitForReady(), mcpclient.WithTaskStatus(func(s mcp.Task) {
			heard = append(heard, fmt.Sprintf("%s %s %s", s.TaskID, s.Status, s.StatusMessage))
		}))
		if f := v.oldSession(allTasks); strings.Contains(f.Raw, "task") {
			t.Errorf("sent %s, want no declaration of tasks, because the server must not make tasks of its requests", f.Raw)
		}
		v.Answer(v.Expect(mcp.MethodListTools), oldTools)
		if f := v.oldBegin(oldWorking()); !strings.Contains(f.Raw, `"task":{"ttl":60000}`) {
			t.Errorf("sent %s, want a request for a task with a TTL of a minute", f.Raw)
		}
		keptPace(t, elapsed(func() { v.Answer(v.about(mcp.MethodGetTask), oldWorking()) }), time.Second)
		keptPace(t, elapsed(func() {
			v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskWorking,
				`,"statusMessage":"half","ttl":60000,"pollInterval":5000`))
		}), time.Second)
		keptPace(t, elapsed(func() {
			v.Answer(v.about(mcp.MethodGetTask), oldState(mcp.TaskCompleted, everySecondOld))
			v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "done"))
		}), 5*time.Second)
		if err := <-a.done; err != nil || text(a.result) != "done" {
			t.Errorf("got %+v, %v, want the result of the task", a.result, err)
		}
		if got, want := strings.Join(heard, ", "), "t1 working , t1 working half, t1 completed "; got != want {
			t.Errorf("got the states %q, want %q", got, want)
		}
		a = callOld(t.Context(), c)
		v.oldBegin(oldState(mcp.TaskCompleted, everySecondOld)) // the client does not list the tools again
		v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "again"))
		if err := <-a.done; err != nil || text(a.result) != "again" {
			t.Errorf("got %+v, %v, want the result at once", a.result, err)
		}
	})
}

func TestToolDeclarationDecidesIfCallBecomesTaskOf20251125(t *testing.T) {
	call := func(ctx context.Context, c *mcpclient.Client, tool string) error {
		_, err := c.CallTool(ctx, tool, nil)
		return err
	}
	start := func(ctx context.Context, c *mcpclient.Client, tool string) error {
		_, err := c.StartTool(ctx, tool, nil)
		return err
	}
	typed := func(ctx context.Context, c *mcpclient.Client, tool string) error {
		_, err := mcpclient.CallToolAs[struct{}](ctx, c, tool, nil)
		return err
	}
	raw := func(ctx context.Context, c *mcpclient.Client, tool string) error {
		return c.Call(ctx, mcp.MethodCallTool, &mcp.CallToolParams{Name: tool}, nil)
	}
	for _, test := range []struct {
		name    string
		how     func(ctx context.Context, c *mcpclient.Client, tool string) error
		version mcp.Version
		has     string
		tasks   string // names of the tools that become tasks
	}{
		{"called", call, mcp.Version20251125, allTasks, "must"},
		{"started", start, mcp.Version20251125, allTasks, "must may"},
		{"called with typed output", typed, mcp.Version20251125, allTasks, "must"},
		{"by Call", raw, mcp.Version20251125, allTasks, ""},
		{"tasks of something else only", start, mcp.Version20251125, `,"tasks":{"list":{},"requests":{"prompts":{"get":{}}}}`,
			""},
		{"no tasks", start, mcp.Version20251125, "", ""},
		{"before there were tasks", start, mcp.Version20250618, allTasks, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Versions: []mcp.Version{test.version}}
			bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Answer(v.Expect(mcp.MethodInitialize), initializedWith(test.version, test.has))
				v.Expect(mcp.NotificationInitialized)
				await(t, c)
				for _, tool := range []string{"must", "may", "never", "plain", "unlisted"} {
					done := background(func() error { return test.how(t.Context(), c, tool) })
					f := v.Receive()
					if f.Method == mcp.MethodListTools {
						v.Answer(f, oldTools)
						f = v.Receive()
					}
					want := slices.Contains(strings.Fields(test.tasks), tool)
					if got := strings.Contains(f.Raw, `"task":{}`); f.Method != mcp.MethodCallTool || got != want {
						t.Errorf("%s: sent %s, want a call, as a task: %t", tool, f.Raw, want)
					}
					v.Answer(f, `{"content":[],"structuredContent":{}}`) // a server need not make a task of a call
					if err := <-done; err != nil {
						t.Errorf("%s: %v", tool, err)
					}
				}
			})
		})
	}
	t.Run("by a client that has not declared tasks", func(t *testing.T) {
		bubble(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			v.oldSession(allTasks)
			await(t, c)
			done := background(func() error { return start(t.Context(), c, "must") })
			f := v.Expect(mcp.MethodCallTool)
			v.Refuse(f, mcp.CodeMethodNotFound, "requires task")
			if err := <-done; strings.Contains(f.Raw, `"task"`) || err == nil {
				t.Errorf("sent %s, got %v, want no task, and the error", f.Raw, err)
			}
		})
	})
}

func TestToolsAreListedAgainAfterTaskRefusal(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		call := func() <-chan error {
			return background(func() error { _, err := c.CallTool(t.Context(), "plain", nil); return err })
		}
		done := call()
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeMethodNotFound, "requires task")
		if err := <-done; err == nil {
			t.Error("want the server's error")
		}
		done = call()
		v.Answer(v.Expect(mcp.MethodListTools), strings.Replace(oldTools,
			`"forbidden"}},{"name":"plain","inputSchema":{"type":"object"}`,
			`"forbidden"}},{"name":"plain","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}`, 1))
		v.oldBegin(oldState(mcp.TaskCompleted, everySecondOld))
		v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		synctest.Wait()
		done = call()
		v.Refuse(v.Expect(mcp.MethodListTools), mcp.CodeInternalError, "no list today")
		if err := <-done; err == nil || !strings.Contains(err.Error(), "no list today") {
			t.Errorf("got %v, want the error of the list", err)
		}
	})
}

// Some servers announce a change of the list as soon as a session begins.
func TestListChangedNotificationDuringListKeepsTaskSupport(t *testing.T) {
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Versions: legacyOnly}
	bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.oldSession(allTasks)
		await(t, c)
		for range 2 { // the client does not store the list
			a := callOld(t.Context(), c)
			f := v.Expect(mcp.MethodListTools)
			v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			v.Answer(f, oldTools)
			if f := v.oldBegin(oldState(mcp.TaskCompleted, everySecondOld)); !strings.Contains(f.Raw, `"task":{}`) {
				t.Errorf("sent %s, want a request for a task", f.Raw)
			}
			v.Answer(v.about(mcp.MethodTaskResult), fmt.Sprintf(textResult, "ok"))
			if err := <-a.done; err != nil {
				t.Error(err)
			}
		}
	})
}

// A call that should become a task may be sent in another session.
func TestTaskIsRequestedOnlyInRevisionWithTasks(t *testing.T) {
	reached, proceed := make(chan struct{}), make(chan struct{})
	late := func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			if method == mcp.MethodCallTool {
				reached <- struct{}{}
				<-proceed
			}
			return next(ctx, method, params, result, options...)
		}
	}
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
		Middleware: []mcpclient.Middleware{late}}
	bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
		reached, proceed = make(chan struct{}), make(chan struct{})
		v := s.next(t)
		v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "?")
		v.oldSession(allTasks)
		await(t, c)
		a := callOld(t.Context(), c, mcpclient.WaitForReady())
		v.Answer(v.Expect(mcp.MethodListTools), oldTools)
		<-reached
		v.Close()
		v = s.next(t)
		// this refusal makes the client forget the server's era
		v.Refuse(v.Expect(mcp.MethodInitialize), mcp.CodeMethodNotFound, "?")
		v = s.next(t).tasks()
		await(t, c)
		close(proceed)
		f := v.begin(mcp.TaskWorking, everySecond)
		if strings.Contains(f.Raw, `"task":{`) {
			t.Errorf("sent %s, want no member that the revision does not have", f.Raw)
		}
		v.Answer(v.about(mcp.MethodGetTask), completed("ok"))
		if err := <-a.done; err != nil || text(a.result) != "ok" {
			t.Errorf("got %+v, %v, want the result of the modern task", a.result, err)
		}
	})
}

func TestLegacyTasksListsServerTasks(t *testing.T) {
	oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var ids []string
		done := background(func() error {
			for task, err := range c.LegacyTasks(t.Context()) {
				if err != nil {
					return err
				}
				ids = append(ids, task.TaskID)
			}
			return nil
		})
		v.Answer(v.Expect(mcp.MethodListTasks), `{"tasks":[`+oldWorking()+`],"nextCursor":"2"}`)
		f := v.Expect(mcp.MethodListTasks)
		v.Answer(f, `{"tasks":[`+strings.Replace(oldWorking(), "t1", "t2", 1)+`]}`)
		if err := <-done; err != nil || strings.Join(ids, " ") != "t1 t2" || !strings.Contains(f.Raw, `"cursor":"2"`) {
			t.Errorf("got %q, %v, the second page by %s, want t1 and t2 of two pages", ids, err, f.Raw)
		}
	})
	t.Run("with a refusal", func(t *testing.T) {
		oldTasked(t, nil, mcpclient.Options{}, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() (last error) {
				for _, last = range c.LegacyTasks(t.Context()) {
				}
				return last
			})
			v.Refuse(v.Expect(mcp.MethodListTasks), mcp.CodeInternalError, "oh")
			if err := <-done; err == nil || !strings.Contains(err.Error(), "oh") {
				t.Errorf("got %v, want the server's error", err)
			}
		})
	})
	for name, session := range map[string]func(v *conversation){
		"a modern server": func(v *conversation) { v.tasks() },
		"a server that does not list tasks": func(v *conversation) {
			v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "?")
			v.oldSession(uncancellable)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				session(v)
				await(t, c)
				for _, err := range c.LegacyTasks(t.Context()) {
					if !errors.Is(err, mcpclient.ErrUnsupported) {
						t.Errorf("got %v, want ErrUnsupported", err)
					}
				}
				v.silent()
			})
		})
	}
}

func TestWaitingCallKeepsItsTimeoutWithTasks(t *testing.T) {
	bubble(t, &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Versions: legacyOnly},
		func(t *testing.T, s *script, c *mcpclient.Client) {
			var err error
			took := elapsed(func() {
				err = <-callOld(t.Context(), c, mcpclient.WaitForReady(), mcpclient.WithTimeout(time.Second)).done
			})
			e, _ := errors.AsType[*mcpclient.Error](err)
			if e == nil || e.Kind != mcpclient.KindTimeout || !mcpclient.SafeToRetry(err) || took != time.Second {
				t.Errorf("got %v after %v, want a timeout after a second, unsent", err, took)
			}
			if err := <-callOld(t.Context(), c).done; !errors.Is(err, mcpclient.ErrNotReady) {
				t.Errorf("got %v, want ErrNotReady of a call that does not wait", err)
			}
		})
}
