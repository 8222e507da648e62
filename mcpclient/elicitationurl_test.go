package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

const (
	visitParams  = `{"mode":"url","message":"your key, please","url":"https://mcp.example/key?e=1","elicitationId":"e-%s"}`
	visitRequest = `{"method":"elicitation/create","params":` + visitParams + `}`
)

// willing returns the handler of a user who goes to every URL.
func willing(visited *[]*mcpclient.URLElicitation) mcpclient.URLElicitationHandler {
	return func(_ context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
		*visited = append(*visited, e)
		return mcp.ElicitAccept, nil
	}
}

func TestLegacyServerCanRequestURLVisit(t *testing.T) {
	for _, test := range []struct {
		action mcp.ElicitAction
		want   string
	}{
		{mcp.ElicitAccept, `"result":{"action":"accept"}`},
		{mcp.ElicitDecline, `"result":{"action":"decline"}`},
		{"", `"result":{"action":"cancel"}`},
	} {
		var got *mcpclient.URLElicitation
		visit := func(_ context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
			got = e
			e.Complete() // the second call has no effect
			e.Complete()
			return test.action, nil
		}
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
		answer := elicited(t, o, fmt.Sprintf(visitRequest, "1"))
		if !strings.Contains(answer.Raw, test.want) {
			t.Errorf("answered %s, want %s", answer.Raw, test.want)
		}
		if got.Message != "your key, please" || got.ID != "e-1" || got.URL.String() != "https://mcp.example/key?e=1" ||
			got.URL.Hostname() != "mcp.example" || got.Warning != "" {
			t.Errorf("the handler got %+v", got)
		}
	}
	(&mcpclient.URLElicitation{}).Complete()
}

// (schema 2025-11-25, ElicitRequestURLParams.elicitationId)
func TestAnElicitationIDIsOpaque(t *testing.T) {
	for _, id := range []string{"1", "0001", " a ", "a/../b?c#d", "\u00e9", "e\u0301", "E-1", strings.Repeat("x", 300)} {
		var got string
		visit := func(_ context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
			got = e.ID
			return mcp.ElicitAccept, nil
		}
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
		answer := elicited(t, o, strings.Replace(visitRequest, `"e-%s"`, fmt.Sprintf("%q", id), 1))
		if got != id || !strings.Contains(answer.Raw, `"action":"accept"`) {
			t.Errorf("the handler got the id %q and the server %s, want %q unchanged", got, answer.Raw, id)
		}
	}
}

func TestModernServerCanRequestURLVisit(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		first := v.Expect(mcp.MethodCallTool)
		if want := `"elicitation":{"url":{}}`; !strings.Contains(first.Raw, want) {
			t.Errorf("sent %s, want %s declared", first.Raw, want)
		}
		visit := strings.Replace(fmt.Sprintf(visitRequest, "1"), `,"elicitationId":"e-1"`, "", 1)
		v.Answer(first, inputRequired(`{"k":`+visit+`}`, `"s"`))
		second := v.Expect(mcp.MethodCallTool)
		if want := `"inputResponses":{"k":{"action":"accept"}}`; !strings.Contains(second.Raw, want) || len(visited) != 1 ||
			visited[0].ID != "" {
			t.Errorf("sent %s after %v, want %s", second.Raw, visited, want)
		}
		v.Answer(second, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestFormsAndURLsHaveSeparateHandlers(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	both := confirming()
	both.Features = append(both.Features, mcpclient.HandleURLElicitation(willing(&visited), nil))
	onlyURL := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	for _, test := range []struct {
		name    string
		o       *mcpclient.Options
		request string
		want    string
	}{
		{"a form of both", both, formRequest, `"content":{"confirmed":true}`},
		{"a URL of both", both, fmt.Sprintf(visitRequest, "1"), `"result":{"action":"accept"}`},
		{"a form of URLs", onlyURL, formRequest,
			`the client did not declare elicitation mode \"form\"; it declared [\"url\"]`},
		{"a URL of forms", confirming(), fmt.Sprintf(visitRequest, "1"),
			`the client did not declare elicitation mode \"url\"; it declared [\"form\"]`},
		{"neither", both, `{"method":"elicitation/create","params":{"mode":"smell","message":"m"}}`,
			`the client did not declare elicitation mode \"smell\"; it declared [\"form\" \"url\"]`},
	} {
		got := elicited(t, test.o, test.request)
		if !strings.Contains(got.Raw, test.want) || strings.Contains(test.want, "declared") &&
			!strings.Contains(got.Raw, "-32602") {
			t.Errorf("%s: answered %s, want %s, with -32602 if it is refused", test.name, got.Raw, test.want)
		}
	}
	o := *both
	o.Versions = legacyOnly
	bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
		if f := s.next(t).Expect(mcp.MethodInitialize); !strings.Contains(f.Raw, `"elicitation":{"form":{},"url":{}}`) {
			t.Errorf("sent %s, want both modes declared", f.Raw)
		}
	})
}

func TestURLElicitationNeedsOneHandler(t *testing.T) {
	h := mcpclient.HandleURLElicitation(willing(new([]*mcpclient.URLElicitation)), nil)
	own := mcpclient.HandleRequest(mcp.MethodElicit, func(context.Context, *mcpclient.Request) (any, error) {
		return nil,
			nil
	})
	for _, features := range [][]mcpclient.Feature{
		{mcpclient.HandleURLElicitation(nil, nil)}, {h, h}, {own, h}, {h, own}, {mcpclient.HandleElicitation(nil)},
	} {
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Features: features}); err == nil ||
			!strings.Contains(err.Error(), "handler for elicitation/create") {
			t.Errorf("got %v, want an error about the handlers", err)
		}
	}
}

// The client never connects to the URL; only the handler may.
// (specification 2025-11-25 and 2026-07-28, client/elicitation, "Safe URL Handling")
func TestNothingIsFetchedFromAURL(t *testing.T) {
	site, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	elicited(t, o, strings.Replace(fmt.Sprintf(visitRequest, "1"), "https://mcp.example", "http://"+site.Addr().String(),
		1))
	if len(visited) != 1 || visited[0].URL.Host != site.Addr().String() {
		t.Fatalf("the handler got %v, want the URL", visited)
	}
	own, err := net.Dial("tcp", site.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	first, err := site.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Errorf("%v connected to the site, want only the connection of the test", first.RemoteAddr())
	}
}

// shown sends the user to a URL. It returns the handler's elicitation, nil if the handler was not called, and the
// answer.
func shown(t *testing.T, url string) (e *mcpclient.URLElicitation, answer frame) {
	t.Helper()
	var visited []*mcpclient.URLElicitation
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited), nil)}}
	params, err := json.Marshal(&mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", ElicitationID: "1", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	answer = elicited(t, o, `{"method":"elicitation/create","params":`+string(params)+`}`)
	if len(visited) > 0 {
		e = visited[0]
	}
	return e, answer
}

func TestUnsafeURLsAreNotShown(t *testing.T) {
	for url, want := range map[string]string{
		"https://mcp.example/x":       "",
		"HTTPS://mcp.example/x":       "",
		"http://localhost:8080/x":     "",
		"http://LOCALHOST/x":          "",
		"http://app.localhost/x":      "",
		"http://127.0.0.2/x":          "",
		"http://[::1]:80/x":           "",
		"http://mcp.example/x":        "want https",
		"http://127.0.0.1.example/x":  "want https",
		"javascript:alert(1)":         "scheme",
		"file:///etc/passwd":          "scheme",
		"data:text/html,x":            "scheme",
		"//mcp.example/x":             "scheme",
		"https:///x":                  "no host",
		"https:mcp.example":           "no host",
		"https://bank.example@evil/x": "user name",
		"https://a b/":                "url is invalid",
		"https://x/\u0000":            "url is invalid",
	} {
		e, answer := shown(t, url)
		refused := strings.Contains(answer.Raw, "-32602")
		if (e == nil) != (want != "") || refused != (want != "") || !strings.Contains(answer.Raw, want) {
			t.Errorf("%q: showed %+v and answered %s, want a refusal with %q (empty: want it shown)", url, e, answer.Raw,
				want)
		}
	}
}

func TestMisleadingHostProducesWarning(t *testing.T) {
	for url, want := range map[string]string{
		"https://mcp.example/": "", "http://localhost/": "", "http://127.0.0.1/": "",
		"https://xn--pple-43d.com/": "non-ASCII", "https://a.XN--pple-43d.com/": "non-ASCII",
		"https://аpple.com/":   "non-ASCII",
		"https://203.0.113.7/": "IP address", "https://[2001:db8::1]/": "IP address",
		"https://3405803783/": "IP address", "https://0xCB007107/": "IP address", "https://203.0.0161.7./": "IP address",
		"https://203.7/":         "IP address",
		"https://7.mcp.example/": "", "https://0x.example/": "", "https://mcp.x7/": "", "https://0x7g/": "",
	} {
		e, answer := shown(t, url)
		if e == nil || (e.Warning == "") != (want == "") || !strings.Contains(e.Warning, want) {
			t.Errorf("%q: got %+v, answered %s, want a warning with %q (empty: want none)", url, e, answer.Raw, want)
		}
	}
}

func TestShownURLEscapesMisleadingCharacters(t *testing.T) {
	const backwards = "\u202e"
	url := "https://mcp.example/" + backwards + "p?q=" + backwards + "a&b=%20+#" + backwards + "f"
	e, answer := shown(t, url)
	if e == nil {
		t.Fatalf("answered %s, want it shown", answer.Raw)
	}
	if got, want := e.URL.String(), "https://mcp.example/%E2%80%AEp?q=%E2%80%AEa&b=%20+#%E2%80%AEf"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

func (c *conversation) completes(id string) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete",`+
		`"params":{"elicitationId":"e-%s"}}`, id))
}

// sends sends the user to the URL with this id, and receives the answer.
func (c *conversation) sends(id string) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"visit-%s",%s`, id, fmt.Sprintf(visitRequest, id)[1:]))
	c.Receive()
}

func TestCompletionIsReportedOnce(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	var told []string
	visit := func(ctx context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
		if e.ID == "e-2" {
			return mcp.ElicitDecline, nil
		}
		return willing(&visited)(ctx, e)
	}
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit,
		&mcpclient.URLElicitationOptions{
			Completed: func(_ context.Context, e *mcpclient.URLElicitation) { told = append(told, e.ID) },
		})}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		for i := range 3 {
			v.sends(fmt.Sprint(i + 1))
		}
		for _, id := range []string{"3", "2", "7", "3", "1", "1"} { // 2 was declined, 7 never asked for
			v.completes(id)
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{}}`)
		synctest.Wait()
		if got := strings.Join(told, ","); got != "e-3,e-1" {
			t.Errorf("Completed was called for %s, want e-3,e-1", got)
		}
	})
}

func TestUnfinishedURLVisitsAreBounded(t *testing.T) {
	const bound = 256
	var visited []*mcpclient.URLElicitation
	var told []string
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited),
		&mcpclient.URLElicitationOptions{
			Completed: func(_ context.Context, e *mcpclient.URLElicitation) { told = append(told, e.ID) },
		})}}
	at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for i := range bound + 2 {
			v.sends(fmt.Sprint(i))
		}
		for i := range bound + 2 {
			v.completes(fmt.Sprint(i))
		}
		synctest.Wait()
		if n := len(told); len(visited) != bound+2 || n != bound || told[0] != "e-2" {
			t.Errorf("Completed was called for %d of %d visits, want the latest %d", n, len(visited), bound)
		}
	})
}

func TestRepeatedURLCausesAnotherVisit(t *testing.T) {
	var visited []*mcpclient.URLElicitation
	told := 0
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(willing(&visited),
		&mcpclient.URLElicitationOptions{
			Completed: func(context.Context, *mcpclient.URLElicitation) { told++ },
		})}}
	at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for want := 1; want <= 2; want++ {
			v.sends("1")
			v.sends("1") // the server sends the URL again during the visit
			v.completes("1")
			v.completes("1")
			synctest.Wait()
			if told != want {
				t.Errorf("Completed was called for %d visits, want %d", told, want)
			}
		}
	})
}
