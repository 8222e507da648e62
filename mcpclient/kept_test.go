package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/clientinput"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const (
	mebi    = 1 << 20
	padding = mebi - 1000 // makes a frame of nearly 1 MiB

	toolRoom   = 8 * mebi // bytes that a client keeps of a list of tools
	schemaRoom = 6 * mebi // part of toolRoom for schemas
)

var pad = strings.Repeat("x", padding)

// padded formats a frame and replaces PAD by long. It allocates the frame only once, because quoting or formatting a
// text of 1 MiB takes more time than the client needs for the frame.
func padded(long, format string, args ...any) string {
	return strings.ReplaceAll(fmt.Sprintf(format, args...), "PAD", long)
}

// hoard is one kind of data that a client keeps from many frames of 1 MiB.
type hoard struct {
	name    string
	options mcpclient.Options
	version mcp.Version // version of a legacy server; empty for a modern server
	http    bool

	capabilities string // capabilities of the server; empty for tools only
	limit        int    // bytes that the client may keep in the end

	// send sends the frames. The test keeps the result of send in memory until the memory has been measured. If the result
	// is a function, the test calls the function after the measurement.
	send func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) (kept any)
}

const (
	frames   = 24        // number of frames of 1 MiB that the server sends
	onTheWay = 12 * mebi // bytes of one frame while it is made, sent, received and decoded
)

// answer is like Answer, but copies the result only once.
func (v *conversation) answer(f frame, result string) {
	v.t.Helper()
	v.Send(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":` + result + `}`)
}

// list runs the function do in the background, and answers the request for the tools with one page.
func (v *conversation) list(c *mcpclient.Client, do func() error, tools string) {
	v.t.Helper()
	done := background(do)
	v.answer(v.Expect(mcp.MethodListTools), listOf(tools))
	if err := <-done; err != nil {
		v.t.Fatal(err)
	}
}

func listTools(t *testing.T, c *mcpclient.Client) func() error {
	return func() error {
		for _, err := range c.Tools(t.Context()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// blocked has a handler of all notifications that returns only when the client ends.
var blocked = []mcpclient.Feature{mcpclient.HandleNotification("",
	func(ctx context.Context, _ *mcpclient.Notification) { <-ctx.Done() })}

// unanswered is a handler of requests that returns only when its context ends.
func unanswered(ctx context.Context, _ *mcpclient.Request) (any, error) {
	<-ctx.Done()
	return nil, nil
}

// willingly is the handler of a user who goes to every URL.
func willingly(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
	return mcp.ElicitAccept, nil
}

// schemaTool returns a tool with an output schema of nearly 1 MiB.
func schemaTool(n int) string {
	return padded(pad, `{"name":"t%d","inputSchema":{"type":"object"},"outputSchema":{"type":"object","title":"PAD"}}`, n)
}

var hoards = []hoard{
	{
		name: "notifications", options: mcpclient.Options{Features: blocked,
			Limits: mcpclient.Limits{NotificationBytes: 3 * mebi}}, limit: 5 * mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for range frames {
				v.Send(`{"jsonrpc":"2.0","method":"custom/note","params":{"x":"` + pad + `"}}`)
			}
			return nil
		},
	}, {
		name: "updates with long URIs", options: mcpclient.Options{Features: blocked,
			Limits: mcpclient.Limits{NotificationBytes: 3 * mebi}},
		limit: 6 * mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			meta := opened(c)
			for i := range frames {
				v.Send(padded(pad, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%dPAD",%s}}`, i,
					meta))
			}
			return nil
		},
	}, {
		name: "a notification of a batch", options: mcpclient.Options{Features: blocked}, version: mcp.Version20250326,
		limit: mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for range frames {
				v.Send(`[{"jsonrpc":"2.0","method":"custom/note"},{"jsonrpc":"2.0","id":1000000,"result":{"x":"` + pad + `"}}]`)
			}
			return nil
		},
	}, {
		name: "requests that wait for a person", version: mcp.Version20251125, limit: 18 * mebi,
		options: mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("custom/ask", unanswered)}},
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.Send(padded(pad, `{"jsonrpc":"2.0","id":%d,"method":"custom/ask","params":{"x":"PAD"}}`, i))
				synctest.Wait()
			}
			for range frames - 16 {
				if f := v.Receive(); !strings.Contains(f.Raw, "too many requests at once") {
					t.Errorf("got %.100s, want a refusal of the requests for which there is no room", f.Raw)
				}
			}
			return nil
		},
	}, {
		name: "the names of removed tools", limit: mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.list(c, listTools(t, c), padded(pad, `{"name":"t%d","description":"PAD","inputSchema":{"type":"object"}}`, i))
			}
			return nil
		},
	}, {
		name: "output schemas of removed tools", limit: 2 * mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.list(c, listTools(t, c), schemaTool(i))
			}
			return nil
		},
	}, {
		name: "output schemas of a long list", limit: toolRoom + mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			done := background(listTools(t, c))
			for i := range frames {
				page := listOf(schemaTool(i))
				if i < frames-1 {
					page = page[:len(page)-1] + fmt.Sprintf(`,"nextCursor":"%d"}`, i)
				}
				v.answer(v.Expect(mcp.MethodListTools), page)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return nil
		},
	}, {
		name: "pages that the caller requests, with long names", limit: toolRoom + mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.list(c, func() error { _, err := c.ListTools(t.Context(), new(fmt.Sprint(i))); return err },
					padded(pad, `{"name":"%dPAD","inputSchema":{"type":"object"}}`, i))
			}
			return nil
		},
	}, {
		name: "mirrored parameters", http: true, limit: toolRoom + mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.list(c, func() error { _, err := c.ListTools(t.Context(), new(fmt.Sprint(i))); return err },
					padded(pad,
						`{"name":"%d","inputSchema":{"type":"object","properties":{"PAD":{"type":"string","x-mcp-header":"A"}}}}`, i))
			}
			return nil
		},
	}, {
		name: "fresh results", limit: 5 * mebi, capabilities: `{"resources":{}}`,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				done := background(func() error {
					_, err := c.ReadResource(t.Context(),
						fmt.Sprint("a:", i, pad[:mebi/4]))
					return err
				})
				v.Answer(v.Expect(mcp.MethodReadResource),
					`{"resultType":"complete","ttlMs":1000000,"cacheScope":"private","contents":[]}`)
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			return nil
		},
	}, {
		name: "errors that send the user to URLs", version: mcp.Version20251125, limit: 2 * mebi,
		options: mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willingly, nil)}},
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				v.Send(padded(pad[:mebi/2], `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"go",`+
					`"data":{"elicitations":[{"mode":"url",`+
					`"message":"go","url":"https://a.example/","elicitationId":"%dPAD"}]}}}`,
					v.Expect(mcp.MethodCallTool).ID, mcp.CodeURLElicitationRequired, i))
				if err := <-done; err == nil {
					t.Error("want the error of the server")
				}
			}
			return nil
		},
	}, {
		name: "requests that send the user to URLs", version: mcp.Version20251125, limit: frames*clientinput.MaxVisit + mebi,
		options: mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willingly,
			&mcpclient.URLElicitationOptions{
				Completed: func(context.Context, *mcpclient.URLElicitation) {},
			})}},
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				v.Send(padded(pad, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"mode":"url","message":"PAD",`+
					`"url":"https://a.example/","elicitationId":"%d"}}`, i, i))
				if f := v.Receive(); !strings.Contains(f.Raw, "have more than 65536 bytes") {
					t.Errorf("got %.200s, want the request refused", f.Raw)
				}
			}
			return nil
		},
	}, {
		name: "refusals of handshakes", limit: mebi, version: mcp.Version20251125,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			v.Close()
			for range frames {
				v = s.next(t)
				for c.State() == connstate.Initializing {
					v.Send(padded(pad[:mebi/2], `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"PAD","data":{"x":"PAD"}}}`,
						v.Receive().ID))
					synctest.Wait()
				}
				if err := c.Status().Err; err == nil || len(err.Error()) > 2*conn.MaxReason {
					t.Errorf("got %.300v, want a short error", err)
				}
			}
			return nil
		},
	}, {
		name: "abandoned calls", limit: mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for range frames {
				done := background(func() error {
					return c.Call(t.Context(), "custom/late", nil, nil,
						mcpclient.WithTimeout(time.Second))
				})
				f := v.Expect("custom/late")
				v.Expect(mcp.NotificationCancelled)
				if err := <-done; !errors.Is(err, mcpclient.ErrTimeout) {
					t.Error(err)
				}
				v.answer(f, `{"x":"`+pad+`"}`)
			}
			return nil
		},
	}, {
		name: "frames that violate the protocol", limit: mebi,
		options: mcpclient.Options{Limits: mcpclient.Limits{Frame: mebi}},
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for range frames {
				v.Send(`{"jsonrpc":"2.0","method":7,"params":{"x":"` + pad + `"}}`)
			}
			return nil
		},
	}, {
		name: "calls of tools with strange names", limit: mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			for i := range frames {
				done := background(func() error { _, err := c.CallTool(t.Context(), fmt.Sprint(i, pad), nil); return err })
				v.Send(padded(pad, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"PAD"}}`,
					v.Expect(mcp.MethodCallTool).ID))
				if err := <-done; err == nil {
					t.Error("want the error of the server")
				}
			}
			return nil
		},
	}, {
		name: "reports of progress", limit: 4 * mebi,
		send: func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) any {
			release := make(chan struct{})
			done := background(func() error {
				return c.Call(t.Context(), "custom/slow", nil, nil, mcpclient.WithProgress(func(*mcp.ProgressParams) { <-release }))
			})
			f := v.Expect("custom/slow")
			for i := range frames {
				v.Send(padded(pad, `{"jsonrpc":"2.0","method":"notifications/progress",`+
					`"params":{"progressToken":%s,"progress":%d,"message":"PAD"}}`, f.ID, i))
				synctest.Wait()
			}
			return func() {
				close(release)
				v.Answer(f, `{}`)
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		},
	},
}

// measure sends the frames to a new client. It returns the memory in use at its peak and at the end.
func (h hoard) measure(t *testing.T) (peak, kept int) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		var via transport.Transport = s
		if h.http {
			via = overHTTP{rigged: &rigged{Transport: s}}
		}
		h.options.Telemetry = telemetry.New() // includes the flight recorder and the statistics
		c, err := mcpclient.New(via, &h.options)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		v := s.next(t)
		switch {
		case h.version != "":
			v.legacy(h.version)
		case h.capabilities != "":
			v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `{"tools":{}}`, h.capabilities, 1))
		default:
			v.modern()
		}
		await(t, c)
		synctest.Wait()
		var held any
		peak, kept = heap.Measure(func() {
			held = h.send(t, s, v, c)
			synctest.Wait()
		})
		if release, ok := held.(func()); ok {
			release()
		}
	})
	return peak, kept
}

// A measured peak may be too high but never too low: it includes garbage that is allocated during a collection, and
// collections take longer under other load. So the test measures a peak above the limit up to five times.
func TestRetainedFrameMemoryIsBounded(t *testing.T) {
	if heap.Raced {
		t.Skip("nothing is measured under the race detector")
	}
	for _, h := range hoards {
		t.Run(h.name, func(t *testing.T) {
			most := h.limit + onTheWay
			peak, kept := h.measure(t)
			for range 4 {
				if peak <= most {
					break
				}
				peak, kept = h.measure(t)
			}
			t.Logf("| %s | %d | %.1f | %.1f | %.1f |", h.name, frames, mib(peak), mib(h.limit), mib(kept))
			if kept > h.limit {
				t.Errorf("the client keeps %.1f MiB of %d frames of 1 MiB, want at most %.1f", mib(kept), frames, mib(h.limit))
			}
			if peak > most {
				t.Errorf("the peak is %.1f MiB while %d frames of 1 MiB arrive, want at most %.1f", mib(peak), frames, mib(most))
			}
		})
	}
}
