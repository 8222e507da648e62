package mcpclient_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/internal/weigh"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// many returns a JSON array of about this number of bytes, in which one value is repeated.
func many(value string, bytes int) string {
	n := bytes / (len(value) + 1)
	return "[" + strings.Repeat(value+",", n) + value + "]"
}

// manyMembers returns members of a JSON object, with about this number of bytes in total.
func manyMembers(bytes int) string {
	var b strings.Builder
	for n := 0; b.Len() < bytes; n++ {
		fmt.Fprintf(&b, `"%x":0,`, n)
	}
	return b.String()
}

// dense is a small result that takes much memory when decoded, and the operation that requests it.
type dense struct {
	name   string
	result string
	limit  int    // maximum number of bytes in use during the decoding, including the bytes that are read and sent
	want   string // text of the error; empty for none
	ask    func(ctx context.Context, c *mcpclient.Client) error
	schema string // output schema of the tool
}

const (
	denseFrame = 6 * mebi
	pastIt     = 2*denseFrame + 2*mebi // bytes for the frame, which the test creates and sends
)

func callAs[Out any](ctx context.Context, c *mcpclient.Client) error {
	_, err := mcpclient.CallToolAs[Out](ctx, c, "tool", nil)
	return err
}

func callInto[Out any](ctx context.Context, c *mcpclient.Client) error {
	return c.Call(ctx, "custom/ask", nil, new(Out))
}

func denses() []dense {
	structured := func(x string) string { return `{"content":[],"structuredContent":{"x":` + x + `}}` }
	const tooMuch = "more than 128 MiB"
	return []dense{
		{
			name: "numbers as any", result: structured(many("1", denseFrame)), want: tooMuch, limit: pastIt,
			ask: callAs[map[string]any],
		}, {
			name: "numbers as a list", result: structured(many("1", denseFrame)), limit: pastIt + 9*denseFrame,
			ask: callAs[struct {
				X []float64 `json:"x"`
			}],
		}, {
			name: "objects that a schema validates", result: structured(many(`{"a":1}`,
				denseFrame)), limit: pastIt + 6*denseFrame,
			ask: callAs[struct{}], schema: `{"type":"object"}`,
		}, {
			name: "empty objects that become structs", result: structured(many(`{}`, denseFrame)), want: tooMuch, limit: pastIt,
			ask: callAs[struct {
				X []mcpclient.Options `json:"x"`
			}],
		}, {
			name: "the largest allowed result", result: structured(many("1", 5*mebi)), limit: pastIt + weigh.Free,
			ask: callAs[map[string]any],
		}, {
			name: "values of a completion", result: `{"completion":{"values":` + many(`""`, denseFrame) + `}}`, limit: pastIt,
			ask: func(ctx context.Context, c *mcpclient.Client) error {
				r, err := c.Complete(ctx, mcp.PromptRef("p"), mcp.CompleteArgument{Name: "a"}, nil)
				if err == nil && (len(r.Completion.Values) != 100 || !r.Completion.HasMore) {
					return fmt.Errorf("got %d values, more %v", len(r.Completion.Values), r.Completion.HasMore)
				}
				return err
			},
		}, {
			name: "unknown members", result: `{` + manyMembers(2*denseFrame) + `"prompts":[]}`, want: tooMuch,
			limit: 2*pastIt - 2*mebi,
			ask:   func(ctx context.Context, c *mcpclient.Client) error { _, err := c.ListPrompts(ctx, nil); return err },
		}, {
			name: "sizes of an icon", limit: pastIt, want: "100000 objects or strings in lists",
			result: `{"tools":[{"name":"t","inputSchema":{},"icons":[{"src":"x","sizes":` + many(`""`, denseFrame) + `}]}]}`,
			ask:    func(ctx context.Context, c *mcpclient.Client) error { _, err := c.ListTools(ctx, nil); return err },
		}, {
			name: "audience of a text", limit: pastIt, want: "100000 objects or strings in lists",
			result: `{"content":[{"type":"text","text":"x","annotations":{"audience":` + many(`""`, denseFrame) + `}}]}`,
			ask: func(ctx context.Context, c *mcpclient.Client) error {
				_, err := c.CallTool(ctx, "tool", nil)
				return err
			},
		}, {
			name: "numbers of another method", result: `{"x":` + many("1", denseFrame) + `}`, want: tooMuch, limit: pastIt,
			ask: callInto[any],
		}, {
			name: "a long text", result: fmt.Sprintf(textResult, strings.Repeat("x, y", denseFrame/4)), limit: pastIt,
			ask: func(ctx context.Context, c *mcpclient.Client) error {
				_, err := c.CallTool(ctx, "tool", nil)
				return err
			},
		},
	}
}

// Decoding a result into any type takes at most the memory that Limits.Frame documents.
func TestResultDecodingMemoryIsBounded(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector changes the memory use")
	}
	for _, d := range denses() {
		t.Run(d.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `"tools":{}`,
					`"tools":{},"prompts":{},"completions":{}`, 1))
				await(t, c)
				if d.schema != "" {
					v.list(c, listTools(t, c), `{"name":"tool","inputSchema":{"type":"object"},"outputSchema":`+d.schema+`}`)
				}
				result := `{"resultType":"complete",` + d.result[1:]
				var err error
				peak, kept := heap.Least(d.limit, func() {
					done := background(func() error { return d.ask(t.Context(), c) })
					f := v.Receive()
					// CallToolAs lists the tools before the call
					if f.Method == mcp.MethodListTools && strings.Contains(result, `"content"`) {
						v.Answer(f, listOf(`{"name":"tool","inputSchema":{"type":"object"}}`))
						f = v.Receive()
					}
					v.Answer(f, result)
					err = <-done
					synctest.Wait()
				})
				runtime.KeepAlive(result)
				t.Logf("| %s | %.1f | %.1f | %.1f | %.1f |", d.name, mib(len(result)), mib(peak), mib(d.limit), mib(kept))
				if peak > d.limit || kept > mebi {
					t.Errorf("the peak is %.1f MiB and the end %.1f MiB, want at most %.1f and 1.0", mib(peak), mib(kept),
						mib(d.limit))
				}
				if d.want != "" {
					wantBound(t, err, d.want)
				} else if err != nil {
					t.Errorf("got %.300v, want the result", err)
				}
			})
		})
	}
}

func mib(bytes int) float64 { return float64(bytes) / mebi }
