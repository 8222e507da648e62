package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Secrets in tests with a hostile peer are sk- and a number anywhere, and hush- and a number as the value of a token.
var hostileRedaction = Redaction{Keys: []string{"token"}, Patterns: []string{`sk-\d+`}, Arguments: true}

// shows returns the first secret in a text, with the text around it. It returns the empty string if there is none.
func shows(text string, others ...string) string {
	for _, secret := range append([]string{"sk-1", "hush-1"}, others...) {
		if i := strings.Index(text, secret); i >= 0 {
			return text[max(0, i-60):min(len(text), i+60)]
		}
	}
	return ""
}

// careless is a server that reads as carelessly as possible. It accepts names of members in any case and up to a NUL,
// the last of duplicate members, and tools/call with or without an id. All its messages contain secrets.
type careless struct {
	version mcp.Version // newest supported revision
	tools   []string

	mu     sync.Mutex
	called map[string]int // guarded by mu; number of calls of each tool, for every possible reading of its name
	params []string       // guarded by mu; params of all messages, unchanged
	got    map[string]int // guarded by mu; number of messages with each method
}

func newCareless(v mcp.Version, tools ...string) *careless {
	return &careless{version: v, tools: tools, called: map[string]int{}, got: map[string]int{}}
}

func (s *careless) transport() transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			batch := []json.RawMessage{frame}
			if bytes.HasPrefix(bytes.TrimSpace(frame), []byte("[")) {
				_ = json.Unmarshal(frame, &batch)
			}
			for _, one := range batch {
				for _, out := range s.handle(one) {
					if p.Send(ctx, []byte(out)) != nil {
						return
					}
				}
			}
		}
	})
}

// readings calls f with each value that a reader may treat as the member with this name.
func readings(object []byte, name string, f func(raw json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for d.More() {
		key, err := d.Token()
		var raw json.RawMessage
		if err != nil || d.Decode(&raw) != nil {
			return
		}
		text, _, _ := strings.Cut(key.(string), "\x00")
		if strings.EqualFold(text, name) {
			f(raw)
		}
	}
}

const secretMembers = `"sk-1name":"sk-11","token":"hush-12","t\u006fken":["hush-13"],"text":"a sk-\u00314 b",` +
	`"json":"{\"token\":\"hush-15\"}"`

// handle records a message and returns the messages that the server sends in response.
func (s *careless) handle(frame []byte) (out []string) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(frame, &m) != nil || m.Method == "" {
		return nil
	}
	s.mu.Lock()
	s.params = append(s.params, string(m.Params))
	s.got[m.Method]++
	if strings.EqualFold(m.Method, mcp.MethodCallTool) {
		readings(m.Params, "name", func(raw json.RawMessage) {
			var name string
			_ = json.Unmarshal(raw, &name)
			name, _, _ = strings.Cut(name, "\x00")
			s.called[name]++
			var list []string
			_ = json.Unmarshal(raw, &list)
			for _, one := range list {
				s.called[one]++
			}
		})
	}
	s.mu.Unlock()
	if m.ID == nil {
		return nil
	}
	result := func(text string) []string {
		return append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, text))
	}
	const capabilities = `"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},` +
		`"completions":{}},"serverInfo":{"name":"careless","version":"1"}`
	switch m.Method {
	case mcp.MethodInitialize:
		var p struct{ ProtocolVersion mcp.Version }
		_ = json.Unmarshal(m.Params, &p)
		if p.ProtocolVersion > mcp.Version20251125 {
			p.ProtocolVersion = mcp.Version20251125
		}
		return result(fmt.Sprintf(`{"protocolVersion":%q,%s,"instructions":"sk-16"}`, p.ProtocolVersion, capabilities))
	case mcp.MethodDiscover:
		if s.version < mcp.Version20260728 {
			break
		}
		return result(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],` +
			capabilities + `,"instructions":"sk-17"}`)
	case mcp.MethodListTools:
		var all []string
		for _, name := range s.tools {
			all = append(all, fmt.Sprintf(`{"name":%q,"description":"sk-18","inputSchema":{"type":"object","properties":`+
				`{"token":{"type":"string"}}}}`, name))
		}
		return result(`{"tools":[` + strings.Join(all, ",") + `],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
	case mcp.MethodListPrompts:
		return result(`{"prompts":[{"name":"p","description":"sk-19"}],"resultType":"complete","ttlMs":0,` +
			`"cacheScope":"private"}`)
	case mcp.MethodListResourceTemplates:
		return result(`{"resourceTemplates":[{"uriTemplate":"x:{y}","name":"sk-19"}],"resultType":"complete","ttlMs":0,` +
			`"cacheScope":"private"}`)
	}
	var token json.RawMessage
	readings(m.Params, "_meta", func(raw json.RawMessage) {
		readings(raw, "progressToken", func(raw json.RawMessage) { token = raw })
	})
	if token != nil {
		out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,`+
			`"progress":1,"message":"sk-101",%s}}`, token, secretMembers))
	}
	out = append(out,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"sk-102","data":{`+
			secretMembers+`}}}`,
		`{"jsonrpc":"2.0","method":"acme/sk-203","params":{`+secretMembers+`}}`,
		`{"jsonrpc":"2.0","id":"sk-204","method":"elicitation/create","params":{"message":"sk-105",`+secretMembers+
			`,"requestedSchema":{"type":"object","properties":{"token":{"type":"string","title":"sk-106"}}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sk-204","reason":"sk-107"}}`)
	if definitions[m.Method] {
		return append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"x":"sk-115"}}`, m.ID))
	}
	if s.failing(m.Params) {
		return append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no sk-108","data":{%s},`+
			`"token":"hush-109","extra":"sk-110"}}`, m.ID, secretMembers))
	}
	return result(`{"resultType":"complete","content":[{"type":"text","text":"{\"token\":\"hush-111\"}"}],` +
		`"messages":[{"role":"user","content":{"type":"text","text":"sk-112"}}],"contents":[{"uri":"x:y","text":"sk-113"}],` +
		`"completion":{"values":["sk-114"]},"structuredContent":{` + secretMembers + `},` + secretMembers + `,"ttlMs":0,` +
		`"cacheScope":"private"}`)
}

// failing reports whether the server answers with an error. It alternates between false and true.
func (s *careless) failing(json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.params)%2 == 0
}

// hostile is a host that sends raw messages to a proxy or a gateway.
type hostile struct {
	t       *testing.T
	version mcp.Version
	send    func(frame, method, name string) // sends a message to the proxy, and waits for its effects
	leave   func()
	id      int

	mu   sync.Mutex
	seen strings.Builder // all messages that the host got
}

func (h *hostile) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.WriteString(text + "\n")
}

// taken returns the messages that the host got since the last call.
func (h *hostile) taken() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.seen.Reset()
	return h.seen.String()
}

// frontEnd is the server side of the proxy under test.
type frontEnd interface {
	Serve(ctx context.Context, c mcpserver.Conn) error
	HTTPHandler(o *mcpserver.HTTPOptions) *mcpserver.HTTPHandler
}

// onStdio returns a host that speaks a revision to f over pipes. The host answers no request.
func onStdio(t *testing.T, f frontEnd, v mcp.Version) *hostile {
	in, toProxy := io.Pipe()
	fromProxy, out := io.Pipe()
	h := &hostile{t: t, version: v}
	var all sync.WaitGroup
	all.Go(func() { _ = f.Serve(context.Background(), mcpserver.NewStreamConn(in, out, 0)) })
	write := make(chan string, 1<<16)
	all.Go(func() {
		for line := range write {
			_, _ = io.WriteString(toProxy, line+"\n")
		}
		toProxy.Close()
	})
	all.Go(func() {
		lines := bufio.NewReader(fromProxy)
		for {
			line, err := lines.ReadString('\n')
			h.note(line)
			if err != nil {
				return
			}
		}
	})
	h.send = func(frame, _, _ string) { write <- frame; synctest.Wait() }
	h.leave = func() { close(write); all.Wait() }
	return h
}

// onHTTP is like onStdio, over Streamable HTTP.
func onHTTP(t *testing.T, f frontEnd, v mcp.Version) *hostile {
	h := &hostile{t: t, version: v}
	handler := f.HTTPHandler(nil)
	session := ""
	h.send = func(frame, method, name string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(frame))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if v.Era() == mcp.Modern {
			r.Header.Set("MCP-Protocol-Version", string(v))
			r.Header.Set("Mcp-Method", method)
			if name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		} else if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); handler.ServeHTTP(w, r.WithContext(ctx)) }()
		synctest.Wait()
		cancel()
		<-done
		h.note(w.Body.String())
		if id := w.Header().Get("Mcp-Session-Id"); id != "" {
			session = id
		}
	}
	h.leave = func() {
		if err := handler.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
	return h
}

// begin introduces a legacy host to the server.
func (h *hostile) begin() {
	if h.version.Era() == mcp.Modern {
		return
	}
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":{"elicitation":{}},"clientInfo":{"name":"hostile","version":"1"}}}`, h.version),
		mcp.MethodInitialize, "")
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, mcp.NotificationInitialized, "")
	h.send(`{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`, mcp.MethodSetLevel, "")
}

// message returns a message of the host's revision, with its _meta. params are the members of the params, without
// braces.
func (h *hostile) message(method, params string, request bool) string {
	h.id++
	meta := fmt.Sprintf(`"_meta":{"progressToken":%d`, h.id)
	if h.version.Era() == mcp.Modern {
		meta += fmt.Sprintf(`,"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":`+
			`"hostile","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":`+
			`"debug"`, h.version)
	}
	meta += "}"
	if params != "" {
		meta += ","
	}
	id := ""
	if request {
		id = fmt.Sprintf(`"id":%d,`, h.id)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":{%s%s}}`, id, method, meta, params)
}

// places maps the transports to functions that connect a host to a proxy or a gateway.
var places = map[string]func(*testing.T, frontEnd, mcp.Version) *hostile{"stdio": onStdio, "HTTP": onHTTP}

// atEveryPlace runs f in a synctest bubble for a host of each era on each transport: with a proxy, and with a gateway
// that has the member m, whose tool names start with prefix. The server has the tools safe, delete and größe.
func atEveryPlace(t *testing.T, p func(prefix string) Policy,
	f func(t *testing.T, h *hostile, s *careless, prefix string, rec *telemetrytest.Recording),
	more ...telemetry.Option) {
	for place, on := range places {
		for _, v := range []mcp.Version{mcp.Version20250326, mcp.Version20251125, mcp.Version20260728} {
			for _, prefix := range []string{"", "m_"} {
				t.Run(fmt.Sprintf("%s/%s/%q", place, v, prefix), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						rec := telemetrytest.Recorder(t, more...)
						s := newCareless(v, "safe", "delete", "größe")
						policy := p(prefix)
						var end frontEnd
						stop := func() {}
						if prefix == "" {
							proxy, err := New(s.transport(), &Options{Name: "proxy", Policy: &policy, Telemetry: rec.Telemetry()})
							if err != nil {
								t.Fatal(err)
							}
							end = proxy
						} else {
							g, err := NewGateway([]mcpclient.Member{{Name: "m", Transport: s.transport(), Options: &mcpclient.Options{
								Versions: []mcp.Version{v}, RequestTimeout: -1, Telemetry: rec.Telemetry(),
							}}}, &GatewayOptions{Policy: &policy, Telemetry: rec.Telemetry()})
							if err != nil {
								t.Fatal(err)
							}
							end, stop = g, func() { _ = g.Close() }
						}
						h := on(t, end, v)
						h.begin()
						f(t, h, s, prefix, rec)
						h.leave()
						stop()
					})
				})
			}
		}
	}
}
