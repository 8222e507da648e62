package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// through iterates over a list and returns its first error.
func through[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// allOperations are the operations that may wait: every method of a client and of a task whose first parameter is a
// context. The operations use WaitForReady where that is an option.
var allOperations = map[string]func(ctx context.Context, c *mcpclient.Client, options ...mcpclient.CallOption) error{
	"Client.WaitForReady": func(ctx context.Context, c *mcpclient.Client,
		_ ...mcpclient.CallOption) error {
		return c.WaitForReady(ctx)
	},
	"Client.WaitForState": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		return c.WaitForState(ctx, connstate.Closing)
	},
	"Client.Shutdown": func(ctx context.Context, c *mcpclient.Client,
		_ ...mcpclient.CallOption) error {
		return c.Shutdown(ctx)
	},
	"Client.Call": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.Call(ctx, "x/any", nil, nil, o...)
	},
	"Client.Notify": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		return c.Notify(ctx, "x/any", nil)
	},
	"Client.Ping": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.Ping(ctx, o...)
	},
	"Client.ListTools": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ListTools(ctx, nil, o...)
		return err
	},
	"Client.Tools": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return through(c.Tools(ctx, o...))
	},
	"Client.CallToolRaw": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.CallToolRaw(ctx, &mcp.CallToolParams{Name: "any"}, o...)
		return err
	},
	"Client.CallTool": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.CallTool(ctx, "any", nil, o...)
		return err
	},
	"Client.StartTool": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		task, err := c.StartTool(ctx, "any", nil, o...)
		if err != nil {
			return err
		}
		_, err = task.Wait(ctx)
		return err
	},
	"Client.ListPrompts": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ListPrompts(ctx, nil, o...)
		return err
	},
	"Client.Prompts": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return through(c.Prompts(ctx, o...))
	},
	"Client.GetPrompt": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.GetPrompt(ctx, "any", nil, o...)
		return err
	},
	"Client.ListResources": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ListResources(ctx, nil, o...)
		return err
	},
	"Client.Resources": func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return through(c.Resources(ctx, o...))
	},
	"Client.ListResourceTemplates": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ListResourceTemplates(ctx, nil, o...)
		return err
	},
	"Client.ResourceTemplates": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return through(c.ResourceTemplates(ctx, o...))
	},
	"Client.ReadResource": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ReadResource(ctx, "file:///any", o...)
		return err
	},
	"Client.SubscribeResource": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.SubscribeResource(ctx, "file:///any", o...)
	},
	"Client.UnsubscribeResource": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.UnsubscribeResource(ctx, "file:///any", o...)
	},
	"Client.SetLogLevel": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.SetLogLevel(ctx, mcp.LevelError, o...)
	},
	"Client.SetRoots": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		return c.SetRoots(ctx, &mcp.Root{URI: "file:///any"})
	},
	"Client.LegacyTasks": func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return through(c.LegacyTasks(ctx, o...))
	},
	"Client.Complete": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.Complete(ctx, mcp.PromptRef("any"), mcp.CompleteArgument{Name: "argument"}, nil, o...)
		return err
	},
	"Task.Poll": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		_, err := c.ResumeTask("any").Poll(ctx)
		return err
	},
	"Task.Update": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		return c.ResumeTask("any").Update(ctx, nil)
	},
	"Task.Cancel": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		return c.ResumeTask("any").Cancel(ctx)
	},
	"Task.Wait": func(ctx context.Context, c *mcpclient.Client, _ ...mcpclient.CallOption) error {
		_, err := c.ResumeTask("any").Wait(ctx)
		return err
	},
}

func TestEveryMethodWithContextIsTested(t *testing.T) {
	left := map[string]bool{}
	for name := range allOperations {
		left[name] = true
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*mcpclient.Client](), reflect.TypeFor[*mcpclient.Task]()} {
		for m := range of.Methods() {
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			name := of.Elem().Name() + "." + m.Name
			if allOperations[name] == nil {
				t.Errorf("%s has a context parameter, but allOperations does not contain it", name)
			}
			delete(left, name)
		}
	}
	if len(left) > 0 {
		t.Errorf("these operations no longer exist: %v", left)
	}
}

// everything declares the capabilities of the servers in the tests of stalls. firstAnswer is an answer to any request.
const (
	everything = `"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{},` +
		`"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	firstAnswer = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[],"prompts":[],"resources":[],` +
		`"resourceTemplates":[],"tasks":[],"content":[],"contents":[],"messages":[],"completion":{"values":[]},` +
		`"nextCursor":"next"}`
	asksFirst = `{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create",` +
		`"params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`
)

// stalls are the ways in which a server stops responding. Each function plays the server up to the stall. After that,
// the server does nothing, or only its background work continues.
var stalls = map[string]struct {
	o      mcpclient.Options
	server func(t *testing.T, s *script, c *mcpclient.Client)
	asked  bool // all operations wait, except the operations in asksNothing
}{
	"does not answer the handshake": {o: mcpclient.Options{Timeouts: mcpclient.Timeouts{Init: time.Hour}},
		server: func(*testing.T, *script, *mcpclient.Client) {}},
	"is in backoff": {o: mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Hour, Max: time.Hour}},
		server: func(t *testing.T, s *script, _ *mcpclient.Client) {
			s.next(t).Close()
		}},
	"does not answer, modern": {o: mcpclient.Options{},
		server: func(t *testing.T, s *script, c *mcpclient.Client) { swallow(everythingModern(t, s, c)) }},
	"does not answer, legacy": {o: onlyLegacy, asked: true, server: func(t *testing.T, s *script, c *mcpclient.Client) {
		swallow(everythingLegacy(t, s, c))
	}},
	"does not answer a caller that reads": {o: mcpclient.Options{Features: []mcpclient.Feature{lending}},
		server: func(t *testing.T, s *script, c *mcpclient.Client) {
			v := everythingModern(t, s, c)
			v.exchange(c)
			v.exchange(c)
			wantTurn(t, c, conn.TurnLent)
			swallow(v)
		}},
	"does not read": {o: mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 1}},
		server: func(t *testing.T, s *script, c *mcpclient.Client) {
			everythingModern(t, s, c)
			fillUp(t, c)
		}},
	"does not read, and calls wait for room": {
		o: mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 1},
			CallOptions: []mcpclient.CallOption{mcpclient.WaitForRoom()}},
		server: func(t *testing.T, s *script, c *mcpclient.Client) {
			everythingModern(t, s, c)
			fillUp(t, c)
		},
	},
	"does not read, legacy": {
		o: mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 1},
			CallOptions: []mcpclient.CallOption{mcpclient.WaitForRoom()}, Versions: onlyLegacy.Versions},
		server: func(t *testing.T, s *script, c *mcpclient.Client) {
			everythingLegacy(t, s, c)
			fillUp(t, c)
		},
	},
	"answers only the first request, modern": {o: mcpclient.Options{}, server: func(t *testing.T, s *script,
		c *mcpclient.Client) {
		v := everythingModern(t, s, c)
		answerFirst(v, firstAnswer)
	}},
	"answers only the first request, legacy": {o: onlyLegacy, server: func(t *testing.T, s *script, c *mcpclient.Client) {
		v := everythingLegacy(t, s, c)
		answerFirst(v, firstAnswer)
	}},
	"makes a task and never updates it": {server: func(t *testing.T, s *script, c *mcpclient.Client) {
		answerFirst(everythingModern(t, s, c), taskState("task", "working", ""))
	}},
	"requests input that never arrives": {
		o: mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleElicitation(
			func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})}},
		server: func(t *testing.T, s *script, c *mcpclient.Client) { answerFirst(everythingModern(t, s, c), asksFirst) },
	},
}

// untimed are the operations that only their context bounds.
var untimed = []string{
	"Client.WaitForReady", "Client.WaitForState", "Client.Shutdown", "Client.Notify", "Client.SetRoots", "Task.Wait",
	"Task.Poll",
	"Task.Update", "Task.Cancel",
}

// asksNothing are the operations that do not wait for a legacy server, because they send no request or do not support
// legacy servers.
var asksNothing = []string{"Client.Shutdown", "Client.WaitForReady", "Client.Notify", "Client.SetRoots",
	"Task.Update"}

var onlyLegacy = mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}

func everythingModern(t *testing.T, s *script, c *mcpclient.Client) *conversation {
	v := s.next(t)
	v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `"capabilities":{"tools":{}}`, everything, 1))
	await(t, c)
	return v
}

func everythingLegacy(t *testing.T, s *script, c *mcpclient.Client) *conversation {
	v := s.next(t)
	able := strings.Replace(initialized, `"capabilities":{"tools":{}}`, everything, 1)
	v.Answer(v.Expect(mcp.MethodInitialize), fmt.Sprintf(able, mcp.Version20251125))
	v.Expect(mcp.NotificationInitialized)
	await(t, c)
	return v
}

// swallow receives the client's messages and answers none of them.
func swallow(v *conversation) {
	go func() {
		for {
			if _, err := v.Peer().Receive(v.Context()); err != nil {
				return
			}
		}
	}()
}

// answerFirst answers only the first request.
func answerFirst(v *conversation, result string) {
	go func() {
		raw, err := v.Peer().Receive(v.Context())
		if err != nil {
			return
		}
		if f := parseFrame(raw); f.ID != nil {
			_ = v.Peer().Send(v.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, result))
		}
		swallow(v)
	}()
}

// fillUp fills the send queue of the transport.
func fillUp(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	if err := c.Notify(t.Context(), "x/fill", nil); err != nil {
		t.Fatal(err)
	}
}

// readable returns a transport on which callers may read their own answers.
func readable(s *script) transport.Transport { return &interruptible{Transport: s} }

// Wherever the server stalls, each operation returns at its deadline.
func TestWaitEndsWithItsDeadline(t *testing.T) {
	const patience = 3 * time.Second
	for stall, st := range stalls {
		t.Run(stall, func(t *testing.T) {
			for name, operation := range allOperations {
				o := st.o
				o.Features = append([]mcpclient.Feature{mcpclient.UseTasks(nil), mcpclient.UseRoots(&mcp.Root{URI: "file:///r"})},
					o.Features...)
				bubbleWith(t, &o, readable, func(t *testing.T, s *script, c *mcpclient.Client) {
					st.server(t, s, c)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					begun := time.Now()
					err := operation(ctx, c, mcpclient.WaitForReady())
					took := time.Since(begun)
					if took > patience {
						t.Errorf("%s: returned %v after its deadline, with %v", name, took-patience, err)
					}
					if st.asked && took < patience && !slices.Contains(asksNothing, name) {
						t.Errorf("%s: returned after %v, with %v; want it to wait", name, took, err)
					}
				})
			}
		})
	}
}

// Operations with a single request also return at the timeout of the call.
func TestWaitEndsWithItsTimeout(t *testing.T) {
	const patience = 3 * time.Second
	for stall, st := range stalls {
		if strings.Contains(stall, "first request") || strings.Contains(stall, "input") || strings.Contains(stall, "task") {
			continue
		}
		t.Run(stall, func(t *testing.T) {
			for name, operation := range allOperations {
				if slices.Contains(untimed, name) {
					continue
				}
				bubbleWith(t, &st.o, readable, func(t *testing.T, s *script, c *mcpclient.Client) {
					st.server(t, s, c)
					begun := time.Now()
					err := operation(t.Context(), c, mcpclient.WaitForReady(), mcpclient.WithTimeout(patience))
					if took := time.Since(begun); took > patience {
						t.Errorf("%s: returned %v after its deadline, with %v", name, took-patience, err)
					}
				})
			}
		})
	}
}

// If two operations wait for each other, because both change the same state at a server, their timeouts run
// concurrently.
func TestTimeoutsOfConflictingOperationsRunConcurrently(t *testing.T) {
	const patience = 3 * time.Second
	for _, name := range []string{"Client.SubscribeResource", "Client.UnsubscribeResource", "Client.SetLogLevel"} {
		o := onlyLegacy
		bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
			swallow(everythingLegacy(t, s, c))
			begun := time.Now()
			var done []<-chan error
			for range 10 {
				done = append(done, background(func() error {
					return allOperations[name](t.Context(), c,
						mcpclient.WithTimeout(patience))
				}))
				time.Sleep(time.Millisecond)
			}
			for i, d := range done {
				err := <-d
				if took := time.Since(begun) - time.Duration(i)*time.Millisecond; !errors.Is(err, mcpclient.ErrTimeout) ||
					took > patience {
					t.Errorf("%s %d: got %v after %v, want a timeout after %v", name, i, err, took, patience)
				}
			}
			synctest.Wait()
		})
	}
}
