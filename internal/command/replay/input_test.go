package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/command/recordingdiff"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/testsupport/conversation"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// asking returns a server that requests a color and a size under these keys: in two rounds, together, and in a task.
func asking(t *testing.T, color, size string) *mcpserver.Server {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "asking", Version: "1"},
		&mcpserver.Options{Tasks: &mcpserver.TaskOptions{PollInterval: time.Second}})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	ask := func(key, what string, to *mcp.ElicitResult) *mcpserver.Ask {
		return mcpserver.AskElicit(key, &mcp.ElicitParams{Message: what, RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"is":{"type":"string"}}}`)}, to)
	}
	type none struct{}
	add := func(name string, rounds func(ctx context.Context, c, s *mcp.ElicitResult) error) {
		handler := func(ctx context.Context, _ none) (string, error) {
			var c, s mcp.ElicitResult
			err := rounds(ctx, &c, &s)
			return fmt.Sprintf("color %v, size %v", c.Content["is"], s.Content["is"]), err
		}
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: name}, handler, mcpserver.TaskTool()); err != nil {
			t.Fatal(err)
		}
	}
	add("at_once", func(ctx context.Context, c, s *mcp.ElicitResult) error {
		return mcpserver.RequestFrom(ctx).AskAll(ctx, ask(color, "color", c), ask(size, "size", s))
	})
	add("in_rounds", func(ctx context.Context, c, s *mcp.ElicitResult) error {
		if err := mcpserver.RequestFrom(ctx).AskAll(ctx, ask(color, "color", c)); err != nil {
			return err
		}
		return mcpserver.RequestFrom(ctx).AskAll(ctx, ask(size, "size", s))
	})
	return s
}

// answering makes all calls of the server with a client that answers "red" and "large".
func answering(t *testing.T, tr transport.Transport) {
	t.Helper()
	features := []mcpclient.Feature{
		mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			is := map[string]string{"color": "red", "size": "large"}[p.Message]
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"is": is}}, nil
		}),
	}
	for _, more := range [][]mcpclient.Feature{nil, {mcpclient.UseTasks(nil)}} { // with tasks, some calls become tasks
		c, err := mcpclient.Connect(t.Context(), tr, &mcpclient.Options{
			Versions: []mcp.Version{mcp.Version20260728}, Telemetry: telemetry.Off(), Features: append(features, more...),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"at_once", "in_rounds"} {
			r, err := c.CallTool(t.Context(), name, nil)
			if err != nil || r.Text() != "color red, size large" {
				t.Errorf("%s: got %v, %v", name, r, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestInputResponsesUseTheCurrentKeys replays a recording to servers that use the recorded keys for other input
// requests, and new keys in another order.
func TestInputResponsesUseTheCurrentKeys(t *testing.T) {
	for name, keys := range map[string][2]string{
		"the same": {"a", "b"}, "exchanged": {"b", "a"}, "new": {"x", "y"}, "new, in the other order": {"y", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				record := func(color, size string, use func(transport.Transport)) *recording.File {
					f, err := recording.Parse(conversation.Record(t, conversation.Reach(asking(t, color, size)), true, use))
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
				first := record("a", "b", func(tr transport.Transport) { answering(t, tr) })
				plan, err := Plan(first, &Options{All: true})
				if err != nil {
					t.Fatal(err)
				}
				again := record(keys[0], keys[1], func(tr transport.Transport) {
					err = Run(t.Context(), plan, tr, time.Minute, func(Step, string) {})
				})
				if err != nil {
					t.Error(err)
				}
				r := recordingdiff.Compare(first, again, nil)
				for _, c := range r.Changes {
					t.Errorf("%+v", c)
				}
				if r.Compared < 10 {
					t.Errorf("%d requests were compared", r.Compared)
				}
			})
		})
	}
}

// TestReplyMatchesRequestsInAnotherOrder uses a server of revision 2025-11-25, which sends requests.
func TestReplyMatchesRequestsInAnotherOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := func(order ...string) transport.Transport {
			s := mcpserver.New(mcp.Implementation{Name: "asking", Version: "1"}, nil)
			if err := mcpserver.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ struct{}) (string, error) {
				is := map[string]any{}
				for _, what := range order {
					r, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: what, RequestedSchema: json.RawMessage(
						`{"type":"object","properties":{"is":{"type":"string"}}}`)})
					if err != nil {
						return "", err
					}
					is[what] = r.Content["is"]
				}
				return fmt.Sprint(is), nil
			}); err != nil {
				t.Fatal(err)
			}
			return conversation.Reach(s)
		}
		record := func(server transport.Transport, use func(transport.Transport)) *recording.File {
			f, err := recording.Parse(conversation.Record(t, server, true, use))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		first := record(asking("color", "size", "color", "weight"), func(tr transport.Transport) {
			n := 0
			c, err := mcpclient.Connect(t.Context(), tr, &mcpclient.Options{
				Versions: []mcp.Version{mcp.Version20251125}, Telemetry: telemetry.Off(), Features: []mcpclient.Feature{
					mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						n++
						is := map[string]any{"is": fmt.Sprint(p.Message, " ", n)}
						return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: is}, nil
					})}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.CallTool(t.Context(), "ask", nil)
			if err = errors.Join(err, c.Close()); err != nil {
				t.Error(err)
			}
		})
		plan, err := Plan(first, &Options{All: true})
		if err != nil {
			t.Fatal(err)
		}
		again := record(asking("size", "color", "color", "height"), func(tr transport.Transport) {
			err = Run(t.Context(), plan, tr, time.Minute, func(Step, string) {})
		})
		if err != nil {
			t.Error(err)
		}
		// The server requests height instead of weight, and gets the remaining answer.
		last := again.Entries[len(again.Entries)-1]
		if want := "map[color:color 3 height:weight 4 size:size 2]"; !strings.Contains(string(last.Content), want) {
			t.Errorf("got %s, want %q", last.Content, want)
		}
	})
}

// TestPairKeysPairsEqualInputRequests pairs the same input requests in another order, under other keys, and with
// additional requests.
func TestPairKeysPairsEqualInputRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "questions")
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
		keys := rapid.SliceOfNDistinct(name, n, n, rapid.ID[string])
		before, now := keys.Draw(t, "keys"), keys.Draw(t, "keys now")
		var was, is []inputRequest
		want := map[string]string{}
		for i := range n {
			method := rapid.SampledFrom([]string{mcp.MethodElicit, mcp.MethodCreateMessage}).Draw(t, "method")
			text := fmt.Sprint(i)
			was, is = append(was, inputRequest{before[i], method, text}), append(is, inputRequest{now[i], method, text})
			want[before[i]] = now[i]
		}
		is = rapid.Permutation(is).Draw(t, "order")
		is = append(is, inputRequest{"of now only", mcp.MethodElicit, "other"})
		if got := pairKeys(was, is); !maps.Equal(got, want) {
			t.Errorf("%v and %v: got %v, want %v", was, is, got, want)
		}
	})
}

// TestPairKeysFallsBackToTheMethod pairs input requests that differ only in their method, and changed input requests.
func TestPairKeysFallsBackToTheMethod(t *testing.T) {
	const e, s = mcp.MethodElicit, mcp.MethodCreateMessage
	request := func(all ...string) (inputs []inputRequest) {
		for _, q := range all { // a letter for the key, one for the method, and the text
			inputs = append(inputs, inputRequest{q[:1], map[byte]string{'e': e, 's': s}[q[1]], q[2:]})
		}
		return inputs
	}
	for name, c := range map[string]struct {
		was, now []inputRequest
		want     map[string]string
	}{
		"in their order":              {request("ae?", "be?"), request("xe?", "ye?"), pair("axby")},
		"the same key first":          {request("ae?", "be?"), request("be?", "ae?"), pair("aabb")},
		"the content first":           {request("ae1", "be2"), request("ae2", "be3"), pair("abba")},
		"a changed question":          {request("ae1", "bs2"), request("xs3", "ye4"), pair("aybx")},
		"a remaining request":         {request("ae1", "be2"), request("xe2"), pair("bx")},
		"a request of another method": {request("ae1"), request("as1"), pair("")},
	} {
		if got := pairKeys(c.was, c.now); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// pair converts each two letters to an entry of the map.
func pair(letters string) map[string]string {
	all := map[string]string{}
	for two := range slices.Chunk([]byte(letters), 2) {
		all[string(two[0])] = string(two[1])
	}
	return all
}

func TestInputResponsesWithoutARequestAreRemoved(t *testing.T) {
	params := json.RawMessage(`{"name":"t","inputResponses":{"a":{"x": 1},"b":{}},"n":1}`)
	was := inputRequestsOf(json.RawMessage(`{"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"x"}}}`))
	now := inputRequestsOf(json.RawMessage(`{"inputRequests":{"q\"":{"method":"roots/list"}}}`))
	want := `{"name":"t","inputResponses":{"q\"":{"x": 1}},"n":1}`
	if got := string(rekeyed(params, was, now)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := rekeyed(params, was, nil); string(got) != string(params) {
		t.Errorf("got %s for a server that requests no input", got)
	}
	if got := rekeyed(json.RawMessage(`[]`), was, now); string(got) != `[]` {
		t.Errorf("got %s", got)
	}
}
