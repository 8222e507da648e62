package inspectview

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A browser uses the pages like a person: it keeps the cookie and follows redirects.
type browser struct {
	t       *testing.T
	session *Session
	handler http.Handler
	cookie  string
	at      string // path of the current page
	printed []string
}

// open serves the pages about a server, and opens the printed address.
func open(t *testing.T, s *mcpserver.Server, version mcp.Version) *browser {
	t.Helper()
	return connect(t, version, func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
}

// connect is like open, for a function that serves each connection.
func connect(t *testing.T, version mcp.Version, accept func(context.Context, *transport.Peer)) *browser {
	t.Helper()
	b := &browser{t: t}
	provider := sdktrace.NewTracerProvider()
	tracer := provider.Tracer("test")
	var err error
	b.session, err = New(Options{
		Member: mcpclient.Member{Name: "shop", Transport: transport.InMemory(accept), Options: &mcpclient.Options{
			Versions: []mcp.Version{version}, RequestTimeout: -1, Telemetry: telemetry.New(
				telemetry.WithTracerProvider(provider), telemetry.WithPropagators(propagation.TraceContext{})),
		}},
		Start: func(ctx context.Context, name string) (context.Context, oteltrace.Span) {
			return tracer.Start(ctx, name)
		},
		Snapshot:    func() otlpsink.Snapshot { return otlpsink.Snapshot{} },
		CommandLine: func(words ...string) string { return "mcpotel " + strings.Join(words, " ") },
		Say:         func(url string) { b.printed = append(b.printed, url) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.session.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.session.Close)
	synctest.Wait()
	b.handler = b.session.Handler()
	b.get(b.path())
	return b
}

// path returns the path of the address that admits the next browser.
func (b *browser) path() string {
	_, path, _ := strings.Cut(b.session.Address("1"), ".localhost:1")
	return path
}

// send sends a request, and follows redirects. It returns the status and the text of the page.
func (b *browser) send(method, path string, form url.Values) (int, string) {
	b.t.Helper()
	for range 5 {
		var body *strings.Reader = strings.NewReader(form.Encode())
		r := httptest.NewRequestWithContext(context.Background(), method, "http://127.0.0.1:1"+path, body)
		if method == "POST" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		if b.cookie != "" {
			r.Header.Set("Cookie", b.cookie)
		}
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		if c := w.Header().Get("Set-Cookie"); c != "" {
			b.cookie, _, _ = strings.Cut(c, ";")
		}
		synctest.Wait()
		if w.Code != http.StatusSeeOther {
			b.at = path
			return w.Code, w.Body.String()
		}
		method, path, form = "GET", w.Header().Get("Location"), nil
	}
	b.t.Fatal("too many redirects")
	return 0, ""
}

func (b *browser) get(path string) string {
	b.t.Helper()
	status, text := b.send("GET", path, nil)
	if status != http.StatusOK {
		b.t.Fatalf("GET %s: want 200, got %d: %s", path, status, textOf(text))
	}
	return text
}

func (b *browser) post(path string, fields ...string) string {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	_, text := b.send("POST", path, form)
	return text
}

var tags = regexp.MustCompile(`<[^>]*>`)

// textOf returns the text of the main part of a page.
func textOf(page string) string {
	if i := strings.Index(page, "<main"); i >= 0 {
		page, _, _ = strings.Cut(page[i:], "</main>")
	}
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
}

// wantText checks that a page has texts.
func wantText(t *testing.T, page string, wanted ...string) {
	t.Helper()
	text := textOf(page)
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("want %q on the page, got %s", w, text)
		}
	}
}

type place struct {
	City string `json:"city"`
	Zip  int    `json:"zip,omitzero"`
}

type entry struct {
	Item string `json:"item"`
	Qty  int    `json:"qty" keywords:"minimum=1"`
}

type order struct {
	To    place   `json:"to"`
	Lines []entry `json:"lines"`
	Speed string  `json:"speed" keywords:"enum=fast|slow"`
	Gift  bool    `json:"gift,omitzero"`
}

type ordered struct {
	Total int `json:"total"`
}

// shop is a server with a tool for each way in which a call can go.
func shop(t *testing.T) *mcpserver.Server {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "shop", Version: "1"}, nil)
	add := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "order", Description: "Orders things."},
		func(_ context.Context, o order) (ordered, error) {
			total := 0
			for _, l := range o.Lines {
				total += l.Qty
			}
			return ordered{total}, nil
		}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "broken"},
		func(context.Context, struct{}) (string, error) { return "", errors.New("out of stock") }))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-time.After(time.Hour):
			return "done", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "picture"}, func(context.Context, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.ContentList{
			&mcp.ImageContent{MIMEType: "image/png", Data: "iVBORw0KGgo="},
			&mcp.ImageContent{MIMEType: "image/svg+xml", Data: "PHN2Zz4="},
			&mcp.TextContent{Text: `{"a":[1,{"b":"<script>alert(1)</script>"}]}`},
		}}, nil
	}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ struct{}) (string, error) {
		a, _, err := mcpserver.ElicitAs[place](ctx, "Where to?")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%v", a), nil
	}))
	return s
}

func TestToolIsCalledByAForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20251125)
		wantText(t, b.get("/tools"), "order", "Orders things.", "broken")
		wantText(t, b.get("/tool?name=order"), "city required", "Run")
		page := b.post("/tool?name=order", "do", "add /lines", "/to/city", "Oslo", "/speed", "fast")
		if !strings.Contains(page, `value="Oslo"`) || !strings.Contains(page, `name="/lines/0/qty"`) {
			t.Errorf("want the typed city and a line to fill in, got %s", textOf(page))
		}
		filled := []string{"do", "run", "/to/city", "Oslo", "/speed", "fast", "/lines#", "1", "/lines/0/item", "pen",
			"/lines/0/qty", "0"}
		wantText(t, b.post("/tool?name=order", filled...), "do not match the schema", "minimum")
		filled[len(filled)-1] = "3"
		page = b.post("/tool?name=order", filled...)
		if b.at != "/calls/1" {
			t.Errorf("want the page of the call, got %s", b.at)
		}
		wantText(t, page, "ok", "total", "3", "matches the output schema", "mcpotel call order {", "client.CallTool(ctx",
			"sent tools/call", "received response")
		wantText(t, b.get("/tool?name=order&from=1"), "city required")
		if page := b.get("/tool?name=order&from=1"); !strings.Contains(page, `value="Oslo"`) {
			t.Errorf("want the arguments of the call in the form, got %s", textOf(page))
		}
		wantText(t, b.post("/tool?name=order", "do", "run", "json", "{,}"), "line 1, column 2")
		wantText(t, b.get("/calls?q=oslo"), "order")
		wantText(t, b.get("/calls?q=nowhere"), "No calls match.")
	})
}

func TestFailureIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		wantText(t, b.post("/tool?name=broken", "do", "run"), "tool error", "out of stock")
		wantText(t, b.get("/calls?failed=1"), "broken")
	})
}

func TestCallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20251125)
		wantText(t, b.post("/tool?name=slow", "do", "run"), "running", "Cancel the call")
		wantText(t, b.post("/calls/1/cancel"), "failed", "cancelled on the page", "notifications/cancelled")
	})
}

func TestQuestionIsAnsweredOnThePage(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := open(t, shop(t), v)
				wantText(t, b.post("/tool?name=ask", "do", "run"), "running", "The server asks", "Where to?", "city required")
				wantText(t, b.get("/tools"), "The server asks: Where to?")
				wantText(t, b.post("/questions/1", "do", "accept", "/city", "Oslo", "/zip", "x"), "Some answers are not valid")
				wantText(t, b.post("/questions/1", "do", "accept", "/city", "Oslo", "/zip", "12", "call", "1"), "ok", "Oslo 12")
				if status, _ := b.send("POST", "/questions/1", url.Values{"do": {"accept"}}); status != http.StatusNotFound {
					t.Errorf("want 404 for an answered question, got %d", status)
				}
			})
		})
	}
}

func TestOnlyHarmlessMediaAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		page := b.post("/tool?name=picture", "do", "run")
		if !strings.Contains(page, `<img src="data:image/png;base64,iVBORw0KGgo=`) {
			t.Errorf("want the PNG, got %s", textOf(page))
		}
		wantText(t, page, "image of type image/svg+xml, which the page does not show", "<script>alert(1)</script>")
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "image/svg+xml;base64") {
			t.Errorf("want hostile content escaped, got %s", textOf(page))
		}
	})
}

func TestOnlyThePrintedAddressAdmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		first := b.path()
		if len(b.printed) != 1 || !strings.HasSuffix(b.printed[0], first) {
			t.Errorf("want a new address after the first was used, got %q", b.printed)
		}
		stranger := &browser{t: t, session: b.session, handler: b.handler}
		for _, path := range []string{"/", "/tools", "/calls", "/?token=", "/?token=x", "/traces", "/debug/mcp/"} {
			if status, page := stranger.send("GET", path, nil); status != http.StatusForbidden || strings.Contains(page, "shop") {
				t.Errorf("GET %s without the cookie: want 403 without a name, got %d", path, status)
			}
		}
		if status, _ := stranger.send("POST", "/tool?name=broken", url.Values{"do": {"run"}}); status != http.StatusForbidden {
			t.Errorf("want 403 for a call without the cookie, got %d", status)
		}
		if stranger.get(first); stranger.cookie == "" {
			t.Error("want the printed address to admit another browser")
		}
		if status, _ := (&browser{t: t, handler: b.handler}).send("GET", first, nil); status != http.StatusForbidden {
			t.Errorf("want 403 for an address that was used, got %d", status)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:1/tool?name=broken", nil)
		r.Header.Set("Cookie", b.cookie)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		w := httptest.NewRecorder()
		if b.handler.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("want 403 for a form of another site, got %d", w.Code)
		}
		if n := len(b.session.history(func(*operation) bool { return true })); n != 0 {
			t.Errorf("want no call, got %d", n)
		}
	})
}

func TestConnectionIsShownAndRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		wantText(t, b.get("/"), "ready", "shop 1", "2026-07-28")
		old := b.session.Client()
		wantText(t, b.post("/reconnect"), "shop")
		if b.session.Client() == old || !errors.Is(old.Ping(t.Context()), mcpclient.ErrShutdown) {
			t.Error("want a new client, and the old one closed")
		}
		wantText(t, b.post("/tool?name=broken", "do", "run"), "out of stock")
	})
}

func TestSessionKeepsWithinItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		for range maxInFlight {
			b.post("/tool?name=slow", "do", "run")
		}
		wantText(t, b.post("/tool?name=slow", "do", "run"), "operations are in flight")
		for i := range maxInFlight {
			b.post(fmt.Sprintf("/calls/%d/cancel", i+1))
		}
		for range maxOperations + 10 {
			b.post("/tool?name=broken", "do", "run")
		}
		if n := len(b.session.history(func(*operation) bool { return true })); n != maxOperations {
			t.Errorf("want %d operations, got %d", maxOperations, n)
		}
		if n := len(b.session.frames.newest(10 * maxFrames)); n > maxFrames {
			t.Errorf("want at most %d frames, got %d", maxFrames, n)
		}
	})
}

func TestHostileServerIsBoundedAndEscaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop(t)
		const attack = `"><img src=x onerror=alert(1)>`
		var members strings.Builder
		for i := range 9_000 {
			fmt.Fprintf(&members, `,"p%d":{"type":"string","description":%q}`, i, strings.Repeat("<b>", 20))
		}
		schema := `{"type":"object","properties":{"a":{"type":"string","title":"<script>x</script>"}` + members.String() + `}}`
		err := s.AddTool(&mcp.Tool{Name: "hostile", Title: attack, Description: strings.Repeat(attack, 10_000),
			InputSchema: []byte(schema)}, func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			deep := strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)
			return &mcp.CallToolResult{Content: mcp.ContentList{
				&mcp.TextContent{Text: "[" + strings.Repeat("1,", 200_000) + "1]"}, &mcp.TextContent{Text: deep},
				&mcp.ResourceLink{Name: attack, URI: "javascript:alert(1)"},
			}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, s, mcp.Version20260728)
		pages := map[string]string{"tools": b.get("/tools"), "tool": b.get("/tool?name=hostile"),
			"call": b.post("/tool?name=hostile", "do", "run", "json", "{}"), "frames": b.get("/frames")}
		for name, page := range pages {
			if len(page) > 8<<20 {
				t.Errorf("%s: want a bounded page, got %d bytes", name, len(page))
			}
			for _, bad := range []string{"<img src=x", "<script>x", `href="javascript:`} {
				if strings.Contains(page, bad) {
					t.Errorf("%s: want %s escaped", name, bad)
				}
			}
		}
	})
}

func TestListsFollowANewConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stop context.CancelFunc
		connections := 0
		b := connect(t, mcp.Version20251125, func(ctx context.Context, p *transport.Peer) {
			ctx, stop = context.WithCancel(ctx)
			connections++
			server := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
			err := mcpserver.AddTool(server, &mcp.Tool{Name: fmt.Sprint("tool", connections)},
				func(context.Context, struct{}) (string, error) { return "", nil })
			if err != nil {
				t.Error(err)
			}
			_ = server.Serve(ctx, p)
		})
		wantText(t, b.get("/tools"), "tool1")
		stop()
		time.Sleep(time.Minute) // passes the backoff
		wantText(t, b.get("/tools"), "tool2")
	})
}

func TestFormThatIsTooLargeCallsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, shop(t), mcp.Version20260728)
		status, page := b.send("POST", "/tool?name=broken", url.Values{"do": {"run"}, "json": {strings.Repeat("x", maxForm)}})
		if status != http.StatusRequestEntityTooLarge || !strings.Contains(textOf(page), "at most 16 MiB") {
			t.Errorf("want 413, got %d: %s", status, textOf(page))
		}
		if n := len(b.session.history(func(*operation) bool { return true })); n != 0 {
			t.Errorf("want no call, got %d", n)
		}
	})
}
