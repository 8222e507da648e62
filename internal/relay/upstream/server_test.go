package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// front is the peer in front of a relay. It records the messages that it gets, in order.
type front struct {
	t      *testing.T
	refuse error // result of Introduced

	server *Server

	mu       sync.Mutex
	intro    relay.Introduction                  // guarded by mu
	log      []string                            // guarded by mu
	requests []func(json.RawMessage, error)      // guarded by mu; waiting for their answers
	contexts []context.Context                   // guarded by mu; contexts of requests
	blocked  func(ctx context.Context, m string) // called for each message; may be nil
}

const initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{"x":{"odd": 1e400}},` +
	`"clientInfo":{"name":"front","version":"1","more":null},"_meta":{"traceparent":"00-0","Odd Name!":[]}}`

func (f *front) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *front) introduce() relay.Introduction {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.intro
}

// confirm records that the peer in front has sent notifications/initialized.
func (f *front) confirm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intro.Confirmed = true
}

// heard waits until all goroutines are idle, and returns the messages since the last call.
func (f *front) heard() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.log
	f.log = nil
	return all
}

func (f *front) wants(lines ...string) {
	f.t.Helper()
	if got := f.heard(); !slices.Equal(got, lines) {
		f.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

func (f *front) ReceiveRequest(ctx context.Context, m relay.Message, from relay.Peer, answer relay.Answer) {
	f.note("request %s %s", m.Method, string(m.Params))
	if from != f.server {
		f.t.Error("from is not the server of the request")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.contexts = append(f.requests, answer), append(f.contexts, ctx)
}

func (f *front) ReceiveNotification(ctx context.Context, m relay.Message, _ relay.Peer) {
	if f.blocked != nil {
		f.blocked(ctx, m.Method)
	}
	f.note("notification %s %s", m.Method, string(m.Params))
}

func (f *front) Gone(relay.Peer) { f.note("gone") }

// asks sends a request and records its answer.
func (f *front) asks(ctx context.Context, method, params string) {
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	f.server.Request(ctx, relay.Message{Method: method, Params: raw}, func(result json.RawMessage, err error) {
		f.note("%s", f.told(method, result, err))
	})
}

// told describes the outcome of a request as text: the result, the error object of the server, or the kind and the text
// of another error.
func (f *front) told(method string, result json.RawMessage, err error) string {
	if e, ok := errors.AsType[*relay.Error](err); ok {
		return fmt.Sprintf("%s error %s", method, e.Object)
	}
	if e, ok := errors.AsType[*conn.Fault](err); ok {
		return fmt.Sprintf("%s %s unsent=%t: %v", method, e.Kind, e.Unsent, err)
	}
	if err != nil {
		return fmt.Sprintf("%s other: %v", method, err)
	}
	return fmt.Sprintf("%s result %s", method, result)
}

// relaying runs f in a synctest bubble, with a relay whose server is a script. It stops the relay at the end.
func relaying(t *testing.T, o *Options, intro relay.Introduction, rig *rigged,
	f func(t *testing.T, s *script, f *front)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		if rig == nil {
			rig = &rigged{}
		}
		rig.Transport = s
		b := &front{t: t, intro: intro}
		server, err := New(rig, Checked(t, o), &relay.Client{
			Receiver: b, Introduce: b.introduce,
			Introduced: func(result json.RawMessage, err error) error {
				b.note("%s", b.told("introduced", result, err))
				return b.refuse
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.server = server
		defer func() {
			if err := server.Stop(context.Background()); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, s, b)
	})
}

var legacyIntro = relay.Introduction{Message: relay.Message{
	Method: mcp.MethodInitialize, Params: json.RawMessage(initializeParams),
}}

const initializeResult = `{"protocolVersion":"2025-11-25","serverInfo":{"name":7},` +
	`"capabilities":{"experimental":true},"x":1}`

// session runs f with a session of 2025-11-25.
func session(t *testing.T, o *Options, rig *rigged, f func(t *testing.T, s *script, v *conversation, b *front)) {
	t.Helper()
	relaying(t, o, legacyIntro, rig, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), initializeResult)
		b.wants("introduced result " + initializeResult)
		f(t, s, v, b)
	})
}

func TestIntroductionIsRelayedUnchanged(t *testing.T) {
	relaying(t, nil, legacyIntro, nil, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		m := v.Receive()
		want := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + initializeParams + `}`
		if m.Raw != want {
			t.Errorf("got %s, want %s", m.Raw, want)
		}
		if b.server.Ready() {
			t.Error("the client is ready before the server has answered")
		}
		v.Answer(m, initializeResult)
		b.wants("introduced result " + initializeResult)
		if !b.server.Ready() {
			t.Error("the client is not ready")
		}
		n := relay.Message{Method: mcp.NotificationInitialized,
			Params: json.RawMessage(`{"_meta":{"traceparent":"S", "Odd Name!":1}}`)}
		if err := b.server.Notify(t.Context(), n); err != nil {
			t.Error(err)
		}
		want = `{"jsonrpc":"2.0","method":"notifications/initialized","params":` + string(n.Params) + `}`
		if got := v.Receive().Raw; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestIntroductionToModernServerIsRelayed(t *testing.T) {
	intro := relay.Introduction{Message: relay.Message{Method: mcp.MethodDiscover, Params: json.RawMessage(
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-12-24","x":[]}}`)}}
	relaying(t, nil, intro, nil, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		m := v.Expect(mcp.MethodDiscover)
		if string(m.Params) != string(intro.Params) {
			t.Errorf("got %s", m.Raw)
		}
		v.Answer(m, `{"odd":true}`)
		b.wants(`introduced result {"odd":true}`)
		if got := b.server.Inspect(); got.Version != "2027-12-24" || got.Era != "modern" {
			t.Errorf("got revision %q of the %s era", got.Version, got.Era)
		}
		v.Send(`{"jsonrpc":"2.0","id":"a","method":"ask"}`) // forbidden for modern servers
		b.wants("request ask ")
		b.requests[0](nil, errors.New("no"))
		v.Receive()
	})
}

func TestMessagesBeforeIntroductionAnswerAreRelayed(t *testing.T) {
	relaying(t, nil, legacyIntro, nil, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		m := v.Expect(mcp.MethodInitialize)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"x":1}}`,
			`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		if got := v.Receive().Raw; got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
			t.Errorf("got %s", got)
		}
		v.Answer(m, `{}`)
		b.wants(`notification notifications/message {"x":1}`, "introduced result {}")
	})
}

func TestFailedFirstConnectionEndsRelay(t *testing.T) {
	odd := `{"code":-1.5,"data":null,"message":"no","more":[ 1 ]}`
	for name, c := range map[string]struct {
		dial error
		play func(v *conversation)
		want string
	}{
		"the server cannot be started": {
			dial: fs.ErrNotExist,
			want: "introduced other: file does not exist",
		},
		"the server refuses": {
			play: func(v *conversation) {
				m := v.Expect(mcp.MethodInitialize)
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, odd))
			},
			want: "introduced error " + odd,
		},
		"the server ends": {
			play: func(v *conversation) { v.Expect(mcp.MethodInitialize); v.Close() },
			want: "introduced other: EOF",
		},
		"the answer is not JSON": {
			play: func(v *conversation) {
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"a":}}`, v.Expect(mcp.MethodInitialize).ID))
			},
			want: "introduced other: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig := &rigged{dial: func(context.Context) (error, bool) { return c.dial, c.dial != nil }}
			relaying(t, nil, legacyIntro, rig, func(t *testing.T, s *script, b *front) {
				begun := time.Now()
				if c.play != nil {
					c.play(s.next(t))
				}
				<-b.server.core.Base.Done()
				got := b.heard()
				if len(got) != 2 || !strings.HasPrefix(got[0], c.want) || got[1] != "gone" {
					t.Errorf("got %q, want %q and gone", got, c.want)
				}
				if took := time.Since(begun); took > time.Second {
					t.Errorf("the end took %v, want at most 1s", took)
				}
				b.asks(t.Context(), "tools/list", "")
				if got := b.heard(); len(got) != 1 || !strings.HasPrefix(got[0], "tools/list shutdown unsent=true: ") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}
