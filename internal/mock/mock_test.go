package mock_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/testsupport/conversation"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

var revisions = []mcp.Version{mcp.Version20260728, mcp.Version20251125, mcp.Version20250618}

// answers returns the recorded answers in the order of their requests, without those to subscriptions: the number of
// subscriptions that a client opens depends on timing.
func answers(f *recording.File) (all []*recording.Entry) {
	for _, reactions := range f.Reactions() {
		for _, reaction := range reactions {
			for _, s := range reaction.Steps {
				if s.Answers() && s.Request == reaction.Request && s.Method != mcp.MethodSubscriptionsListen {
					all = append(all, s.Entry)
				}
			}
		}
	}
	return all
}

// TestMockServesTheRecordedMessages compares, byte by byte, the messages of a server with the messages of its
// recording.
func TestMockServesTheRecordedMessages(t *testing.T) {
	for _, v := range revisions {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told, toldAgain []string
				first := recorded(t, func(tr transport.Transport) { told = conversation.Use(t, tr, v) })
				second := parsed(t, conversation.Record(t, served(t, first, nil), true, func(tr transport.Transport) {
					toldAgain = conversation.Use(t, tr, v)
				}))
				if !slices.Equal(told, toldAgain) {
					t.Errorf("the host was told\n%s", cmp.Diff(told, toldAgain))
				}
				a, b := answers(first), answers(second)
				if len(a) != len(b) || len(a) < 15 {
					t.Fatalf("got %d answers and then %d", len(a), len(b))
				}
				for i := range a {
					if a[i].Kind != b[i].Kind || a[i].Kind != recording.Cancelled && !bytes.Equal(a[i].Content, b[i].Content) {
						t.Errorf("%s %s was answered with\n%s %s\nand then with\n%s %s", a[i].Method, a[i].Name, a[i].Kind,
							a[i].Content, b[i].Kind, b[i].Content)
					}
				}
			})
		})
	}
}

// TestMockServesManyHosts serves one recording to many hosts.
func TestMockServesManyHosts(t *testing.T) {
	n := 50
	if s := os.Getenv("MCPOTEL_REPLAYS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range revisions[:2] {
		var first *recording.File
		var told []string
		synctest.Test(t, func(t *testing.T) {
			first = recorded(t, func(tr transport.Transport) { told = conversation.Use(t, tr, v) })
		})
		for range n {
			synctest.Test(t, func(t *testing.T) {
				if again := conversation.Use(t, served(t, first, nil), v); !slices.Equal(told, again) {
					t.Errorf("the host was told\n%s", cmp.Diff(told, again))
				}
			})
		}
	}
}

// refused makes one call that differs from the recording, and returns the reported problems and the error.
func refused(t *testing.T, call func(ctx context.Context, c *mcpclient.Client) error) (problems []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := mcpclient.Options{Versions: revisions[1:2], CacheSize: -1, Telemetry: telemetry.Off()}
		first := recorded(t, func(tr transport.Transport) {
			c, err := mcpclient.Connect(t.Context(), tr, &v)
			must(t, err)
			_, err = c.CallTool(t.Context(), "double", input{1})
			must(t, err, c.Close())
		})
		c, e := mcpclient.Connect(t.Context(), served(t, first, &mock.Options{Problem: func(text string) {
			problems = append(problems, text)
		}}), &v)
		must(t, e)
		err = call(t.Context(), c)
		must(t, c.Close())
	})
	return problems, err
}

func TestUnknownRequestErrorNamesDifferences(t *testing.T) {
	for want, call := range map[string]func(ctx context.Context, c *mcpclient.Client) error{
		"differs in .arguments.n: 2, not 1": func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "double", input{2})
			return err
		},
		"the recording has no request resources/list": func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ListResources(ctx, nil)
			return err
		},
		"this tools/call only 1 times": func(ctx context.Context, c *mcpclient.Client) error {
			if _, err := c.CallTool(ctx, "double", input{1}); err != nil {
				return err
			}
			_, err := c.CallTool(ctx, "double", input{1})
			return err
		},
	} {
		problems, err := refused(t, call)
		if err == nil || !strings.Contains(err.Error(), want) ||
			len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("got %v and the problems %q, want %q", err, problems, want)
		}
	}
}

// TestMockAnswersForAnyFile replays files that a user or an attacker has edited.
func TestMockAnswersForAnyFile(t *testing.T) {
	const session = `{"mcpotel_recording":1,"content":true}
{"session":1,"from":"host","kind":"request","method":"a","request":1}
{"session":1,"from":"server","kind":"notification","method":"b","params":%[1]s}
{"session":1,"from":"server","kind":"request","method":"c","request":2,"params":%[1]s}
{"session":1,"from":"server","kind":"cancelled","method":"c","request":2,"params":%[1]s}
{"session":1,"from":"server","kind":%[2]q,"method":"a","request":1,%[2]q:%[1]s}
`
	for _, content := range []string{
		`5`, `null`, `"x"`, `[]`, `{"_meta":5}`, `{"_meta":{"progressToken":{}},"code":"x","reason":5}`,
	} {
		for _, kind := range []recording.Kind{recording.Result, recording.Error} {
			synctest.Test(t, func(t *testing.T) {
				s, err := mock.New(parsed(t, fmt.Appendf(nil, session, content, kind)), nil)
				must(t, err)
				conn, err := conversation.Reach(s).Dial(t.Context(), transport.Config{})
				must(t, err)
				frame := `{"jsonrpc":"2.0","id":1,"method":"a"}`
				must(t, conn.Send(t.Context(), transport.Message{Data: []byte(frame), Kind: transport.KindRequest, ID: 1}))
				want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,%q:%s}`, kind, content)
				for got := ""; got != want; {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					f, err := conn.Receive(ctx)
					cancel()
					if err != nil {
						t.Fatalf("got %v, want %s", err, want)
					}
					got = string(f.Data)
				}
				must(t, conn.Close(t.Context()))
			})
		}
	}
}
