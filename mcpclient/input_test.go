package mcpclient_test

import (
	"context"
	"encoding/json"
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

const formRequest = `{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":` +
	`{"type":"object","properties":{"confirmed":{"type":"boolean","default":true},"note":{"type":"string"}}}}}`

// inputRequired returns a result that requests input. state is JSON; empty means that there is none.
func inputRequired(requests, state string) string {
	s := `{"resultType":"input_required"`
	if requests != "" {
		s += `,"inputRequests":` + requests
	}
	if state != "" {
		s += `,"requestState":` + state
	}
	return s + `}`
}

// confirming returns options of a client whose user accepts every form unchanged.
func confirming() *mcpclient.Options {
	answer := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}
	return &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleElicitation(answer)}}
}

// inputParams are the params of a request that the client sends again.
type inputParams struct {
	Name           string                     `json:"name"`
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
	RequestState   json.RawMessage            `json:"requestState"`
}

func TestCallAnswersInputRequests(t *testing.T) {
	const state = `"{\"a\": [1,  2]} \u00e9 \ud83d\ude00"`
	ready(t, confirming(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var result *mcp.CallToolResult
		done := background(func() (err error) {
			result, err = c.CallTool(t.Context(), "delete", map[string]any{"path": "/x"})
			return err
		})
		first := v.Expect(mcp.MethodCallTool)
		v.Answer(first, inputRequired(`{"confirm":`+formRequest+`}`, state))
		second := v.Expect(mcp.MethodCallTool)
		var p inputParams
		if err := json.Unmarshal(second.Params, &p); err != nil {
			t.Fatal(err)
		}
		if string(second.ID) == string(first.ID) {
			t.Errorf("both requests have the id %s, want a new one", first.ID)
		}
		var sent, want string
		_ = json.Unmarshal(p.RequestState, &sent)
		_ = json.Unmarshal([]byte(state), &want)
		if sent != want {
			t.Errorf("the state came back as %q, want %q", sent, want)
		}
		if got := string(p.InputResponses["confirm"]); got != `{"action":"accept","content":{"confirmed":true}}` ||
			len(p.InputResponses) != 1 {
			t.Errorf("the responses are %s, want the accepted form with its default", p.InputResponses)
		}
		if p.Name != "delete" || !strings.Contains(second.Raw, `"path":"/x"`) {
			t.Errorf("sent %s, want the original params too", second.Raw)
		}
		v.Answer(second, fmt.Sprintf(textResult, "gone"))
		if err := <-done; err != nil || text(result) != "gone" || result.ResultType != "" {
			t.Errorf("got %+v, %v, want the result of the second request and nothing of the first", result, err)
		}
	})
}

func TestNewCallHasNoRequestStateOfPreviousOne(t *testing.T) {
	ready(t, confirming(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for range 2 {
			done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
			first := v.Expect(mcp.MethodCallTool)
			if strings.Contains(first.Raw, "requestState") || strings.Contains(first.Raw, "inputResponses") {
				t.Errorf("sent %s, want no state of another call", first.Raw)
			}
			v.Answer(first, inputRequired(`{"confirm":`+formRequest+`}`, `"s"`))
			v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// The client returns the server's state and the requested input once, with the next request of the call. (specification
// 2026-07-28, basic/patterns/mrtr, "Client Requirements (Basic Workflow)")
func TestNextRequestHasLatestStateAndInputResponses(t *testing.T) {
	ready(t, confirming(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		f := v.Expect(mcp.MethodCallTool)
		for _, round := range []struct{ key, state string }{{"a", ""}, {"b", `"s"`}, {"c", ""}} {
			v.Answer(f, inputRequired(fmt.Sprintf(`{%q:%s}`, round.key, formRequest), round.state))
			f = v.Expect(mcp.MethodCallTool)
			var p inputParams
			if err := json.Unmarshal(f.Params, &p); err != nil {
				t.Fatal(err)
			}
			if p.InputResponses[round.key] == nil || len(p.InputResponses) != 1 || string(p.RequestState) != round.state {
				t.Errorf("after %+v sent %s, want one response and that state", round, f.Raw)
			}
			other := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
			g := v.Expect(mcp.MethodCallTool)
			if strings.Contains(g.Raw, "requestState") || strings.Contains(g.Raw, "inputResponses") {
				t.Errorf("another request sent %s, want no state of the first", g.Raw)
			}
			v.Answer(g, fmt.Sprintf(textResult, "ok"))
			if err := <-other; err != nil {
				t.Error(err)
			}
		}
		v.Answer(f, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestResultWithOnlyRequestStateDelaysResend(t *testing.T) {
	ready(t, &mcpclient.Options{Limits: mcpclient.Limits{InputRounds: 4}},
		func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), mcp.MethodReadResource, nil, nil) })
			took := elapsed(func() {
				for range 4 {
					v.Answer(v.Expect(mcp.MethodReadResource), inputRequired("", `"later"`))
				}
				err := <-done
				if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindProtocol ||
					!strings.Contains(err.Error(), "4 times") {
					t.Errorf("got %v, want a protocol error after 4 requests", err)
				}
			})
			if want := 350 * time.Millisecond; took != want {
				t.Errorf("it took %v, want %v: 50, 100 and 200 ms", took, want)
			}
		})
}

func TestMissingInputFailsTheCall(t *testing.T) {
	failing := errors.New("the user is away")
	for _, test := range []struct {
		name     string
		features []mcpclient.Feature
		requests string
		kind     mcpclient.ErrorKind
		text     string
	}{
		{"no handler", nil, `{"k":` + formRequest + `}`, mcpclient.KindProtocol,
			"the server requires input first: the client has no handler for elicitation/create"},
		{"ping", nil, `{"k":{"method":"ping"}}`, mcpclient.KindProtocol, "no handler for ping"},
		{"a handler that fails",
			[]mcpclient.Feature{mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return nil, failing
			})}, `{"k":` + formRequest + `}`, mcpclient.KindInvalid, "the user is away"},
		{"a handler that panics",
			[]mcpclient.Feature{mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				panic("boo")
			})}, `{"k":` + formRequest + `}`, mcpclient.KindInvalid, "internal error"},
		{"content that does not match",
			[]mcpclient.Feature{mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"note": 7}}, nil
			})}, `{"k":` + formRequest + `}`, mcpclient.KindInvalid, "note"},
		{"a mode that was not declared", confirming().Features,
			`{"k":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}}}`,
			mcpclient.KindInvalid,
			"did not declare elicitation mode"},
	} {
		t.Run(test.name, func(t *testing.T) {
			observed(t, mcpclient.Options{Features: test.features}, nil,
				func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
					v := s.next(t).modern()
					await(t, c)
					done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
					v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(test.requests, ""))
					err := <-done
					if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != test.kind ||
						!strings.Contains(err.Error(), test.text) || mcpclient.SafeToRetry(err) {
						t.Errorf("got %v, want kind %s with %q in it, not safe to retry", err, test.kind, test.text)
					}
				})
		})
	}
}

func TestNilElicitationResultIsCancel(t *testing.T) {
	quiet := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return nil,
			nil
	})
	o := &mcpclient.Options{Features: []mcpclient.Feature{quiet}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, ""))
		second := v.Expect(mcp.MethodCallTool)
		if !strings.Contains(second.Raw, `"k":{"action":"cancel"}`) || strings.Contains(second.Raw, "requestState") {
			t.Errorf("sent %s, want a cancelled form and no state", second.Raw)
		}
		v.Answer(second, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A person may take longer than a request. So each request of the call has its own timeout.
func TestTimeoutExcludesElicitationHandler(t *testing.T) {
	slow := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		time.Sleep(10 * time.Minute)
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	})
	o := &mcpclient.Options{Features: []mcpclient.Feature{slow}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, ""))
		second := v.Expect(mcp.MethodCallTool)
		time.Sleep(29 * time.Second)
		v.Answer(second, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCancelledCallerIsNotAsked(t *testing.T) {
	var handler context.Context
	waiting := mcpclient.HandleElicitation(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		handler = ctx
		<-ctx.Done()
		return nil, ctx.Err()
	})
	o := &mcpclient.Options{Features: []mcpclient.Feature{waiting}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		done := background(func() error { _, err := c.CallTool(ctx, "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, ""))
		time.Sleep(time.Second)
		cancel()
		if e, _ := errors.AsType[*mcpclient.Error](<-done); e == nil || e.Kind != mcpclient.KindCancelled ||
			handler.Err() == nil {
			t.Errorf("got %v with the handler's context %v, want both cancelled", e, handler.Err())
		}
	})
}

func TestLegacyServerCannotRequestInputInResult(t *testing.T) {
	bubble(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		var raw json.RawMessage
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, &raw) })
		v.Answer(v.Expect("x/y"), inputRequired(`{}`, ""))
		if err := <-done; err != nil || !strings.Contains(string(raw), "input_required") {
			t.Errorf("got %s, %v, want the result unchanged", raw, err)
		}
	})
}

// A caller may put the input of an earlier round into the params. The client replaces it.
func TestNewInputReplacesEarlierInput(t *testing.T) {
	const given = `{"action":"accept","content":{"confirmed":true}}`
	for _, test := range []struct{ params, state, want string }{
		{``, `"s"`, `{"inputResponses":{"k":` + given + `},"requestState":"s"}`},
		{`{}`, `"s"`, `{"inputResponses":{"k":` + given + `},"requestState":"s"}`},
		{`{"a":1,"requestState":"old","b":{"requestState":2},"inputResponses":{"x":1}}`, `"s"`,
			`{"a":1,"b":{"requestState":2},"inputResponses":{"k":` + given + `},"requestState":"s"}`},
		{`{"a":1,"requestState":"old"}`, ``, `{"a":1,"inputResponses":{"k":` + given + `}}`},
	} {
		ready(t, confirming(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			var params any
			if test.params != "" {
				params = json.RawMessage(test.params)
			}
			done := background(func() error { return c.Call(t.Context(), mcp.MethodCallTool, params, nil) })
			v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, test.state))
			f := v.Expect(mcp.MethodCallTool)
			if got := paramsOf(t, f); got != test.want {
				t.Errorf("%s: sent %s, want %s", test.params, got, test.want)
			}
			v.Answer(f, fmt.Sprintf(textResult, "ok"))
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallIsNotSafeToRetryAfterInputRequest(t *testing.T) {
	var hang func()
	h := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		hang()
		time.Sleep(time.Millisecond)
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	})
	o := &mcpclient.Options{Features: []mcpclient.Feature{h}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		hang = v.Close
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, `"s"`))
		err := <-done
		if mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, safe to retry, but the server has seen the call", err)
		}
	})
}

func TestCloseEndsACallWithARunningHandler(t *testing.T) {
	h := mcpclient.HandleElicitation(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	o := &mcpclient.Options{Features: []mcpclient.Feature{h}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"k":`+formRequest+`}`, `"s"`))
		synctest.Wait()
		_ = c.Close()
		err := <-done
		if !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("got %v, want ErrShutdown", err)
		}
	})
}

func TestCloseEndsCallWaitingToBeResent(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), mcp.MethodReadResource, nil, nil) })
		for range 8 {
			v.Answer(v.Expect(mcp.MethodReadResource), inputRequired("", `"later"`))
		}
		synctest.Wait()
		_ = c.Close()
		took := elapsed(func() {
			if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) {
				t.Errorf("got %v, want ErrShutdown", err)
			}
		})
		if took > 100*time.Millisecond {
			t.Errorf("the call returned %v after Close, want at once", took)
		}
	})
}

func TestDelayBetweenInputRoundsIsBounded(t *testing.T) {
	ready(t, &mcpclient.Options{Limits: mcpclient.Limits{InputRounds: 45}},
		func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), mcp.MethodReadResource, nil, nil) })
			for i := range 45 {
				took := elapsed(func() {
					ctx, cancel := context.WithTimeout(v.Context(), 1e6*time.Hour)
					defer cancel()
					raw, err := v.Peer().Receive(ctx)
					if err != nil {
						t.Fatal(i, err)
					}
					var f frame
					_ = json.Unmarshal(raw, &f)
					v.Answer(f, inputRequired("", `"later"`))
				})
				if took > time.Minute || i > 0 && took == 0 {
					t.Errorf("request %d was sent after %v, want some time and less than a minute", i+1, took)
				}
			}
			<-done
		})
}
