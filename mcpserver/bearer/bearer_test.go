package bearer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

const (
	resource = "https://mcp.example.com/mcp"
	prm      = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
)

// who answers with the principal of the request.
var who = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	p, ok := bearer.PrincipalFrom(r.Context())
	_, _ = fmt.Fprintf(w, "%v %s", ok, p.Subject)
})

func ask(h http.Handler, authorization ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp?access_token=good", strings.NewReader("{}"))
	for _, v := range authorization {
		r.Header.Add("Authorization", v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func tokens(change ...func(*bearer.Principal)) bearer.Verifier {
	p := &bearer.Principal{Subject: "alice", Audience: []string{"other", resource}, Scopes: []string{"read", "write"}}
	for _, c := range change {
		c(p)
	}
	return bearer.Static(map[string]*bearer.Principal{"good": p, "another": {Subject: "bob"}})
}

func TestRefusalWarningsAreLimitedToOnePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		failing := bearer.VerifierFunc(func(context.Context, string, *http.Request) (*bearer.Principal, error) {
			return nil, errors.New("the database is away")
		})
		h := bearer.Require(failing,
			&bearer.Options{Resource: resource, MetadataURL: prm, Logger: slog.New(slog.NewTextHandler(&log, nil))})(who)
		for range 3 {
			for range 100 {
				ask(h, "Bearer good")
			}
			time.Sleep(time.Second)
		}
		if got := strings.Count(log.String(), "level=WARN"); got != 3 {
			t.Errorf("300 refusals in three seconds: want 3 warnings, got %d", got)
		}
	})
}

func TestRequire(t *testing.T) {
	challenge := `Bearer resource_metadata="` + prm + `"`
	for name, tt := range map[string]struct {
		options       bearer.Options
		authorization []string
		status        int
		challenge     string
	}{
		"good":                   {authorization: []string{"Bearer good"}, status: 200},
		"scheme in another case": {authorization: []string{"bEARER  good "}, status: 200},
		"good, with scopes":      {bearer.Options{Scopes: []string{"write"}}, []string{"Bearer good"}, 200, ""},
		"no token":               {status: 401, challenge: challenge},
		"no token, scopes":       {bearer.Options{Scopes: []string{"a", "b"}}, nil, 401, challenge + `, scope="a b"`},
		"another scheme":         {authorization: []string{"Basic Z29vZA=="}, status: 401, challenge: challenge},
		"DPoP":                   {authorization: []string{"DPoP good"}, status: 401, challenge: challenge},
		"unknown token": {authorization: []string{"Bearer bad"}, status: 401,
			challenge: challenge + `, error="invalid_token"`},
		"token for another server": {authorization: []string{"Bearer another"}, status: 401,
			challenge: challenge + `, error="invalid_token"`},
		"no token after Bearer": {authorization: []string{"Bearer"}, status: 400,
			challenge: challenge + `, error="invalid_request"`},
		"padding only": {authorization: []string{"Bearer =="}, status: 400,
			challenge: challenge + `, error="invalid_request"`},
		"two tokens in one": {authorization: []string{"Bearer good, Bearer good"}, status: 400,
			challenge: challenge + `, error="invalid_request"`},
		"two headers": {authorization: []string{"Bearer good", "Bearer good"}, status: 400,
			challenge: challenge + `, error="invalid_request"`},
		"a token outside ASCII": {authorization: []string{"Bearer gööd"}, status: 400,
			challenge: challenge + `, error="invalid_request"`},
		"too few scopes": {
			bearer.Options{Scopes: []string{"read", "admin"}}, []string{"Bearer good"}, 403,
			challenge + `, scope="read admin", error="insufficient_scope"`,
		},
		"too few scopes for the request": {
			bearer.Options{Scopes: []string{"read"}, RequestScopes: func(r *http.Request) []string {
				return []string{"read", r.Method}
			}},
			[]string{"Bearer good"}, 403, challenge + `, scope="read POST", error="insufficient_scope"`,
		},
		"metadata elsewhere": {
			bearer.Options{MetadataURL: `https://h/a"b`}, nil, 401, `Bearer resource_metadata="https://h/a\"b"`,
		},
		"scopes with line breaks": {
			bearer.Options{Scopes: []string{"a\"\r\nSet-Cookie: x"}}, nil, 401, challenge + `, scope="a\"Set-Cookie: x"`,
		},
		"an alternative audience": {
			bearer.Options{Audiences: []string{"other"}}, []string{"Bearer good"}, 200, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.options.Resource = resource
			w := ask(bearer.Require(tokens(), &tt.options)(who), tt.authorization...)
			if w.Code != tt.status || w.Header().Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("answer is %d with the challenge %s, want %d with %s", w.Code, w.Header().Get("WWW-Authenticate"),
					tt.status, tt.challenge)
			}
			if passed := w.Body.String() == "true alice"; passed != (tt.status == 200) {
				t.Errorf("body is %q, want the handler's: %v", w.Body, tt.status == 200)
			}
		})
	}
}

func TestAudienceMatchIgnoresTrailingSlash(t *testing.T) {
	for audience, want := range map[string]int{
		resource: 200, resource + "/": 200, "https://mcp.example.com": 401, "https://mcp.example.com/MCP": 401, "": 401,
		resource + "/x": 401,
	} {
		v := tokens(func(p *bearer.Principal) { p.Audience = []string{audience} })
		if w := ask(bearer.Require(v, &bearer.Options{Resource: resource})(who), "Bearer good"); w.Code != want {
			t.Errorf("audience %q: status %d, want %d", audience, w.Code, want)
		}
	}
}

func TestTimesOfATokenAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		v := tokens(func(p *bearer.Principal) {
			p.NotBefore, p.Expiry = start.Add(2*time.Minute), start.Add(4*time.Minute)
		})
		h := bearer.Require(v, &bearer.Options{Resource: resource})(who)
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{
			{time.Minute, 401},
			{90 * time.Second, 200}, // the clocks may differ by 30 s
			{4*time.Minute + 30*time.Second, 200},
			{4*time.Minute + 31*time.Second, 401},
		} {
			time.Sleep(time.Until(start.Add(tt.after)))
			if w := ask(h, "Bearer good"); w.Code != tt.want {
				t.Errorf("%v after the start: status %d, want %d", tt.after, w.Code, tt.want)
			}
		}
	})
}

func TestVerifierFailureIsUnavailableNotUnauthorized(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for name, v := range map[string]bearer.VerifierFunc{
		"an error": func(context.Context, string, *http.Request) (*bearer.Principal, error) {
			return nil, errors.New("database is down")
		},
		"nothing": func(context.Context, string, *http.Request) (*bearer.Principal, error) { return nil, nil },
	} {
		log.Reset()
		w := ask(bearer.Require(v, &bearer.Options{Resource: resource, Logger: logger})(who), "Bearer good")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("WWW-Authenticate") != "" ||
			strings.Contains(w.Body.String(), "database") {
			t.Errorf("%s: answer is %d %q, want 503 without challenge or reason", name, w.Code, w.Body)
		}
		if !strings.Contains(log.String(), "level=WARN") ||
			name == "an error" && !strings.Contains(log.String(), "database is down") {
			t.Errorf("%s: log is %q, want a warning with the reason", name, &log)
		}
	}
}

func TestTokensAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := bearer.Require(tokens(), &bearer.Options{Resource: resource, Logger: logger, Scopes: []string{"none"}})(who)
	for _, a := range []string{"Bearer hush", "Bearer hush hush", "Basic hush", "Bearer good"} {
		ask(h, a)
	}
	if strings.Contains(log.String(), "hush") || strings.Count(log.String(), "level=DEBUG") != 4 {
		t.Errorf("log is %s, want four lines without tokens", &log)
	}
}

func TestIdentityCombinesSubjectAndClient(t *testing.T) {
	seen := map[string]string{}
	for _, p := range []*bearer.Principal{
		{Issuer: "i", Subject: "a", ClientID: "b"}, {Issuer: "i", Subject: `a" "b`}, {Issuer: "i", Subject: "a"},
		{Subject: "a", ClientID: "b"}, {ClientID: "b"},
	} {
		p.Audience = []string{resource}
		v := bearer.Static(map[string]*bearer.Principal{"good": p})
		var id string
		h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { id = bearer.Identity(r) })
		ask(bearer.Require(v, &bearer.Options{Resource: resource})(h), "Bearer good")
		if other, has := seen[id]; has || id == "" {
			t.Errorf("identity of %+v is %s, as of %s, want its own", p, id, other)
		}
		seen[id] = fmt.Sprintf("%+v", p)
	}
	if id := bearer.Identity(httptest.NewRequest(http.MethodGet, "/", nil)); id != "" {
		t.Errorf("identity without a principal is %q, want none", id)
	}
}

// All tokens without subject and client would share one principal, and so their sessions and tasks.
func TestATokenWithoutSubjectAndClientIsRefused(t *testing.T) {
	for _, p := range []bearer.Principal{{}, {Issuer: "i"}, {Claims: map[string]any{"sub": "alice"}}} {
		p.Audience = []string{resource}
		v := bearer.VerifierFunc(func(context.Context, string, *http.Request) (*bearer.Principal, error) { return &p, nil })
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w := ask(bearer.Require(v, &bearer.Options{Resource: resource, Logger: logger})(who), "Bearer good")
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), "invalid_token") {
			t.Errorf("%+v: got status %d, %v, want 401 with invalid_token", p, w.Code, w.Header())
		}
		if !strings.Contains(log.String(), "neither a subject nor a client") {
			t.Errorf("%+v: log is %s, want the reason", p, &log)
		}
	}
}

func TestInvalidOptionsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"no verifier":          func() { bearer.Require(nil, &bearer.Options{Resource: resource}) },
		"no options":           func() { bearer.Require(tokens(), nil) },
		"no resource":          func() { bearer.Require(tokens(), &bearer.Options{}) },
		"an invalid resource":  func() { bearer.Require(tokens(), &bearer.Options{Resource: "mcp.example.com"}) },
		"a fragment":           func() { bearer.Require(tokens(), &bearer.Options{Resource: resource + "#x"}) },
		"a bad metadata URL":   func() { bearer.Require(tokens(), &bearer.Options{Resource: resource, MetadataURL: "/x"}) },
		"an empty token":       func() { bearer.Static(map[string]*bearer.Principal{"": {}}) },
		"no principal":         func() { bearer.Static(map[string]*bearer.Principal{"x": nil}) },
		"no subject or client": func() { bearer.Static(map[string]*bearer.Principal{"x": {Issuer: "i"}}) },
		"no servers":           func() { bearer.Metadata(bearer.ResourceMetadata{Resource: resource}) },
		"no URL":               func() { bearer.MetadataPath("x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic, want one", name)
				}
			}()
			f()
		}()
	}
}

func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer good", "bearer good", "Bearer  a b", "Bearer =", "\"",
		"Bearer \x00"} {
		f.Add(seed)
	}
	h := bearer.Require(tokens(), &bearer.Options{Resource: resource})(who)
	f.Fuzz(func(t *testing.T, authorization string) {
		w := ask(h, authorization)
		good := strings.EqualFold(strings.Join(strings.Fields(authorization), " "), "bearer good") &&
			strings.HasSuffix(strings.Trim(authorization, " \t"), "good")
		if w.Code == 200 && !good || w.Code != 200 && w.Code != 401 && w.Code != 400 {
			t.Fatalf("status %d for %q", w.Code, authorization)
		}
	})
}
