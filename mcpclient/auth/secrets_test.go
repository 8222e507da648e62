package auth_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// printout collects all output that a program could print.
type printout struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *printout) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *printout) logger() *slog.Logger {
	return slog.New(slog.NewMultiHandler(
		slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}),
		slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}),
	))
}

// print prints v in every way, including from an unexported field, where fmt calls no methods.
func (l *printout) print(v any) {
	type secretParameters struct{ inside any }
	l.printOpen(v)
	l.printOpen(secretParameters{v})
	l.printOpen(&secretParameters{v})
}

// printOpen prints v, alone and inside of another value on which fmt may call methods.
func (l *printout) printOpen(v any) {
	type open struct{ Inside any }
	for _, v := range []any{v, open{v}, []any{v}, map[string]any{"a": v}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			_, _ = fmt.Fprintf(l, verb+"\n", v)
		}
		l.logger().Info("value", "v", v)
	}
}

// secrets returns all strings that must not appear in the output: the secrets that were sent or received.
func (b *bench) secrets() []string {
	var all []string
	for _, r := range b.seen {
		for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "assertion",
			"client_assertion", "subject_token", "state"} {
			all = append(all, r.form[name]...)
		}
		if scheme, value, ok := strings.Cut(r.header.Get("Authorization"), " "); ok {
			all = append(all, value)
			if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && scheme == "Basic" {
				_, secret, _ := strings.Cut(string(decoded), ":")
				all = append(all, secret)
			}
		}
	}
	for token := range b.as.access {
		all = append(all, token)
	}
	for token := range b.as.refresh {
		all = append(all, token)
	}
	for _, c := range b.as.clients {
		if s, ok := c["client_secret"].(string); ok {
			all = append(all, s)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// echo returns an error text that repeats the whole request of the client, in several encodings.
func echo(form url.Values, header http.Header) string {
	return form.Encode() + " " + fmt.Sprint(form) + " " + fmt.Sprint(header)
}

func TestOutputsContainNoSecret(t *testing.T) {
	key := newKey(t)
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		options func(*auth.Options)
	}{
		{"success", func(*bench) {}, nil},
		{"tokens bound to a key", withDPoP, nil},
		{"client credentials", func(*bench) {}, machine},
		{"client credentials with a key", func(b *bench) { b.as.noDescription = true }, func(o *auth.Options) {
			machine(o)
			o.PrivateKey = &auth.PrivateKey{PEM: key}
			o.Credentials.TokenAuthMethod = "private_key_jwt"
		}},
		{"JWT bearer", func(b *bench) { b.as.noDescription = true }, workload("workload-jwt")},
		{"enterprise", func(b *bench) {
			b.hosts[idpHost] = &provider{w: b}
		}, enterprise(func(g *auth.EnterpriseManaged) { g.Client.ClientSecret = "idp-secret" })},
		{"enterprise refused", func(b *bench) {
			b.hosts[idpHost] = &provider{w: b, refuses: &failure{400, "id-token", "idp-secret id-token"}}
		}, enterprise(func(g *auth.EnterpriseManaged) { g.Client.ClientSecret = "idp-secret" })},
		{"echo in the description", func(b *bench) {
			b.as.token = func(f url.Values) *failure { return &failure{400, "invalid_grant", echo(f, nil)} }
		}, nil},
		{"echo as the code", func(b *bench) {
			b.as.token = func(f url.Values) *failure { return &failure{400, echo(f, nil), "no"} }
		}, nil},
		{"echo of the client's secret", func(b *bench) {
			b.as.token = func(url.Values) *failure {
				return &failure{401, "invalid_client",
					"it is not machine-secret " + base64.StdEncoding.EncodeToString([]byte("machine:machine-secret"))}
			}
		}, machine},
		{"echo in a page", func(b *bench) {
			b.as.token = func(f url.Values) *failure {
				b.as.raw = func(rw http.ResponseWriter) bool {
					rw.WriteHeader(500)
					_, _ = rw.Write([]byte("<html>" + echo(f, nil)))
					return true
				}
				return &failure{400, "use_dpop_nonce", echo(f, nil)}
			}
		}, nil},
		{"token in a broken answer", func(b *bench) {
			b.as.response = func(out object) { out["token_type"] = []any{out["access_token"]} }
		}, nil},
		{"the person's answer is wrong", func(b *bench) {
			b.as.redirects = func(q url.Values) { q.Set("iss", q.Get("code")) }
		}, nil},
		{"echo in the redirect", func(b *bench) {
			b.as.redirects = func(q url.Values) {
				q.Set("error", "access_denied")
				q.Set("error_description", q.Get("code")+q.Get("state"))
			}
		}, nil},
		{"a refusal repeats the token", func(b *bench) { b.mcp.rejects = func(string) bool { return true } }, nil},
		{"the store is broken", func(*bench) {}, func(o *auth.Options) { o.Store = brokenStore{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				hourly(b)
				b.as.clients["machine"] = object{"client_secret": "machine-secret"}
				c.arrange(b)
				out := &printout{}
				ctx, span := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
				var options auth.Options
				a := b.authorizer(func(o *auth.Options) {
					if c.options != nil {
						c.options(o)
					}
					o.Logger = out.logger()
					options = *o
				})
				for range 3 {
					_, err := b.call(ctx, a, "tools/list")
					out.print(err)
					for err := err; err != nil; {
						out.print(err)
						u, ok := err.(interface{ Unwrap() error })
						if !ok {
							break
						}
						err = u.Unwrap()
					}
					time.Sleep(2 * time.Hour)
				}
				out.print(a)
				out.printOpen(options)
				out.printOpen(&options)
				for _, asked := range b.person.asked {
					out.printOpen(asked)
				}
				span.End()
				for _, s := range rec.Spans() {
					out.print(s.Name())
					out.print(s.Attributes())
					out.print(s.Status())
					out.print(s.Events())
				}
				secrets := append(b.secrets(), "machine-secret", "idp-secret", "workload-jwt for", string(key[40:60]))
				if len(secrets) < 6 {
					t.Fatalf("want secrets to look for, got %d", len(secrets))
				}
				for _, s := range secrets {
					if s != "" && strings.Contains(out.text.String(), s) {
						at := strings.Index(out.text.String(), s)
						t.Errorf("want %q nowhere, got it in …%.300s…", s, out.text.String()[max(0, at-150):])
					}
				}
			})
		})
	}
}

func TestEveryStepHasASpanWithItsOutcome(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		ctx, span := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
		if _, err := b.call(ctx, a, "tools/list"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := b.call(ctx, a, "tools/list"); err != nil {
			t.Fatal(err)
		}
		b.as.set(func(s *authServer) {
			clear(s.access)
			s.token = func(url.Values) *failure { return &failure{400, "invalid_grant", ""} }
		})
		if _, err := b.call(ctx, a, "tools/list"); err == nil {
			t.Fatal("want an error")
		}
		span.End()
	})
	var got []string
	for _, s := range rec.Spans() {
		name, ok := strings.CutPrefix(s.Name(), "mcp_client.auth ")
		if !ok {
			continue
		}
		for _, kv := range s.Attributes() {
			if kv.Key == "error.type" {
				name += "!" + kv.Value.AsString()
			}
		}
		got = append(got, name)
	}
	want := []string{
		"discover_resource", "discover_server", "register", "authorize", "token", "refresh",
		"discover_resource", "discover_server", "refresh!invalid_grant", "authorize", "token!invalid_grant",
	}
	if !slices.Equal(got, want) {
		t.Errorf("want spans %q, got %q", want, got)
	}
}

func TestFlowKeepsCallersSpanAfterCallerIsCancelled(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		ctx, span := rec.TracerProvider().Tracer("test").Start(t.Context(), "caller")
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		_, _ = b.call(ctx, a, "tools/list")
		span.End()
		close(b.person.wait)
		synctest.Wait()
		b.ok(a, "tools/list")
		if got := rec.Span("mcp_client.auth token").SpanContext().TraceID(); got != span.SpanContext().TraceID() {
			t.Errorf("want the token request in the caller's trace %v, got %v", span.SpanContext().TraceID(), got)
		}
	})
}
