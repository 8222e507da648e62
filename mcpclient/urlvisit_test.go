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

// refuseURL refuses f until the user has visited the URLs with these IDs.
func (c *conversation) refuseURL(f frame, ids ...string) {
	c.t.Helper()
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(visitParams, id))
	}
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"more is needed",`+
		`"data":{"elicitations":[%s]}}}`,
		f.ID, strings.Join(all, ",")))
}

// at20251125 runs f with a server of 2025-11-25.
func at20251125(t *testing.T, o *mcpclient.Options, f func(t *testing.T, s *script, v *conversation,
	c *mcpclient.Client)) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		f(t, s, v, c)
	})
}

func TestURLElicitationErrorWithoutHandlerListsURLs(t *testing.T) {
	at20251125(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.refuseURL(v.Expect(mcp.MethodCallTool), "1", "2")
		err := fmt.Errorf("wrapped: %w", <-done)
		required, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](err)
		if !ok || len(required.Elicitations) != 2 || required.Elicitations[1].ID != "e-2" ||
			required.Elicitations[0].URL.Host != "mcp.example" {
			t.Fatalf("got %v, %+v, want both URLs", err, required)
		}
		if required.Error() != "more is needed (-32042)" || mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, safe to retry: %v", required, mcpclient.SafeToRetry(err))
		}
		for _, data := range []string{
			``, `,"data":{}`, `,"data":{"elicitations":[]}`, `,"data":{"elicitations":[null]}`,
			`,"data":{"elicitations":[` + strings.Replace(fmt.Sprintf(visitParams, "1"), "https", "http", 1) + `]}`,
			`,"data":{"elicitations":[` + strings.Replace(fmt.Sprintf(visitParams, "1"), `"e-1"`, `""`, 1) + `]}`,
			`,"data":{"elicitations":[{"message":"m","requestedSchema":{"type":"object","properties":{}}}]}`,
		} {
			done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
			f := v.Expect(mcp.MethodCallTool)
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"m"%s}}`, f.ID, data))
			err := <-done
			if e, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](err); ok {
				t.Errorf("%s: found %+v, want no elicitation in malformed or unsafe data", data, e)
			}
			if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeURLElicitationRequired {
				t.Errorf("%s: got %v, want the server's error", data, err)
			}
		}
		if _, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](&mcpclient.Error{Server: &mcp.Error{Code: 1}}); ok {
			t.Error("found in another error")
		}
		if _, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](&mcpclient.Error{Kind: mcpclient.KindTimeout}); ok {
			t.Error("found in a timeout")
		}
	})
}

func TestCallIsRepeatedAfterURLVisit(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)},
		Versions: legacyOnly}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.refuseURL(v.Expect(mcp.MethodCallTool), "1", "2")
		synctest.Wait()
		v.completes("1")
		time.Sleep(4 * time.Minute)
		ended := rec.Count("mcp.client.operation.duration", "mcp.method.name", mcp.MethodCallTool)
		active := rec.Value("mcp_client.active_requests", "mcp.method.name", mcp.MethodCallTool)
		if n := ended + uint64(active); n != 1 {
			t.Errorf("the call sent %d requests before the last visit, want 1", n)
		}
		v.completes("2")
		v.refuseURL(v.Expect(mcp.MethodCallTool), "3")
		synctest.Wait()
		visited[2].Complete() // a button of the user calls Complete
		last := v.Expect(mcp.MethodCallTool)
		time.Sleep(29 * time.Second) // each request has its own timeout
		v.Answer(last, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || len(visited) != 3 {
			t.Errorf("got %v after %d visits", err, len(visited))
		}
		corr := map[string]bool{}
		for _, r := range rec.Logs("mcp_client.request.start") {
			if r.Text("mcp.method.name") == mcp.MethodCallTool {
				corr[r.Text("mcp_client.corr_id")] = true
			}
		}
		if len(corr) != 1 {
			t.Errorf("the requests of the call have %d correlation ids, want 1", len(corr))
		}
	})
}

func TestURLVisitCanCompleteBeforeHandlerReturns(t *testing.T) {
	var v *conversation
	visit := func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
		v.completes("1")
		time.Sleep(time.Second)
		return mcp.ElicitAccept, nil
	}
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
	at20251125(t, o, func(t *testing.T, s *script, peer *conversation, c *mcpclient.Client) {
		v = peer
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
		took := elapsed(func() { v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok")) })
		if err := <-done; err != nil || took != time.Second {
			t.Errorf("got %v after %v", err, took)
		}
	})
}

func TestDeclinedVisitFailsWithTheServersError(t *testing.T) {
	for _, test := range []struct {
		name   string
		action mcp.ElicitAction
		err    error
		o      *mcpclient.URLElicitationOptions
		took   time.Duration
		asked  bool
	}{
		{"declined", mcp.ElicitDecline, nil, nil, 0, true},
		{"cancelled", "", nil, nil, 0, true},
		{"failed", "", errors.New("no browser"), nil, 0, true},
		{"never done", mcp.ElicitAccept, nil, nil, 5 * time.Minute, true},
		{"not done in time", mcp.ElicitAccept, nil, &mcpclient.URLElicitationOptions{RetryWithin: time.Second}, time.Second,
			true},
		{"not wanted", mcp.ElicitAccept, nil, &mcpclient.URLElicitationOptions{RetryWithin: -1}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := false
			visit := func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				asked = true
				return test.action, test.err
			}
			o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, test.o)}}
			at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
				took := elapsed(func() {
					if e, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](<-done); !ok || e.Elicitations[0].ID != "e-1" {
						t.Errorf("got %v, want the server's error", e)
					}
				})
				if took != test.took || asked != test.asked {
					t.Errorf("it took %v, asked %v, want %v, %v", took, asked, test.took, test.asked)
				}
			})
		})
	}
}

func TestMalformedURLElicitationErrorIsNotShown(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		f := v.Expect(mcp.MethodCallTool)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"m","data":{"elicitations":[]}}}`,
			f.ID))
		if err := <-done; err == nil || len(visited) > 0 {
			t.Errorf("got %v after %d visits, want the server's error at once", err, len(visited))
		}
	})
}

func TestURLVisitRoundsAreLimited(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Limits: mcpclient.Limits{InputRounds: 3},
		Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		for i := range 3 {
			v.refuseURL(v.Expect(mcp.MethodCallTool), fmt.Sprint(i))
			synctest.Wait()
			v.completes(fmt.Sprint(i))
		}
		if _, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](<-done); !ok || len(visited) != 2 {
			t.Errorf("the call failed after %d visits, want the server's error after 2", len(visited))
		}
	})
}

func TestCallWaitingForURLVisitEndsWithContextOrClient(t *testing.T) {
	for _, waiting := range []bool{false, true} { // the call waits for the handler or for the user
		o := func() *mcpclient.Options {
			visit := func(ctx context.Context, _ *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				if waiting {
					return mcp.ElicitAccept, nil
				}
				<-ctx.Done()
				return "", ctx.Err()
			}
			return &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
		}
		at20251125(t, o(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			ctx, cancel := context.WithCancel(t.Context())
			done := background(func() error { _, err := c.CallTool(ctx, "x", nil); return err })
			v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
			synctest.Wait()
			cancel()
			err := <-done
			if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindCancelled ||
				mcpclient.SafeToRetry(err) {
				t.Errorf("got %v, want the call to be cancelled", err)
			}
		})
		at20251125(t, o(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
			v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
			synctest.Wait()
			_ = c.Close()
			if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) {
				t.Errorf("got %v, want ErrShutdown", err)
			}
		})
	}
}

func TestCallLostAfterURLVisitIsNotSafeToRetry(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
		synctest.Wait()
		v.Close()
		synctest.Wait()
		visited[0].Complete()
		if err := <-done; !errors.Is(err, mcpclient.ErrNotReady) || mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, safe to retry: %v, but the server has seen the call", err, mcpclient.SafeToRetry(err))
		}
	})
}

// Only 2025-11-25 has this error. Modern servers request visits in a result, and older servers cannot request them.
func TestURLElicitationErrorIsReturnedInOtherRevisions(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	fails := func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.refuseURL(v.Expect(mcp.MethodCallTool), "1")
		if err := <-done; err == nil || len(visited) > 0 {
			t.Errorf("got %v after %d visits, want the server's error at once", err, len(visited))
		}
	}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) { fails(t, v, c) })
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20250618)
		await(t, c)
		fails(t, v, c)
	})
}

func TestDecliningOneURLLeavesOthersOpen(t *testing.T) {
	for name, declineFirst := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			answers := make(chan chan mcp.ElicitAction, 2)
			visit := func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				answer := make(chan mcp.ElicitAction)
				answers <- answer
				return <-answer, nil
			}
			o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
			at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				goes := background(func() error { return c.Call(t.Context(), "x/goes", nil, nil) })
				v.refuseURL(v.Expect("x/goes"), "1")
				one := <-answers
				stays := background(func() error { return c.Call(t.Context(), "x/stays", nil, nil) })
				v.refuseURL(v.Expect("x/stays"), "1")
				other := <-answers
				if declineFirst {
					other <- mcp.ElicitDecline
					<-stays
				}
				one <- mcp.ElicitAccept
				synctest.Wait()
				if !declineFirst {
					other <- mcp.ElicitDecline
					<-stays
				}
				v.completes("1")
				if took := elapsed(func() { v.Answer(v.Expect("x/goes"), `{}`) }); took != 0 {
					t.Errorf("the call was repeated after %v, want at once", took)
				}
				if err := <-goes; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
