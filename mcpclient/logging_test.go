package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// ask makes a call that the server answers. It returns the log level in the request.
func (r *revision) ask(options ...mcpclient.CallOption) string {
	r.t.Helper()
	done := background(func() error { return r.c.Call(r.t.Context(), "x/y", nil, nil, options...) })
	f := r.Expect("x/y")
	r.Answer(f, `{}`)
	if err := <-done; err != nil {
		r.t.Error(err)
	}
	return metaOf(r.t, f, mcp.MetaLogLevel)
}

// setLevel sets a level. In legacy revisions, it also plays the server's answer.
func (r *revision) setLevel(level mcp.LoggingLevel) {
	r.t.Helper()
	done := background(func() error { return r.c.SetLogLevel(r.t.Context(), level) })
	if !r.modern() && level != "" {
		f := r.Expect(mcp.MethodSetLevel)
		if got, want := paramsOf(r.t, f), fmt.Sprintf(`{"level":%q}`, level); got != want {
			r.t.Errorf("want %s sent, got %s", want, got)
		}
		r.Answer(f, `{}`)
	}
	if err := <-done; err != nil {
		r.t.Errorf("set level %q: %v", level, err)
	}
}

func TestLogLevelIsRestoredInNewSession(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		if got := r.ask(); got != "" {
			t.Errorf("want no level in the request before SetLogLevel, got %s", got)
		}
		r.setLevel(mcp.LevelDebug)
		r.setLevel(mcp.LevelWarning)
		r.reconnect(all)
		if !r.modern() {
			f := r.Expect(mcp.MethodSetLevel)
			if got := paramsOf(t, f); got != `{"level":"warning"}` {
				t.Errorf("want the last level restored, got %s", got)
			}
			r.Answer(f, `{}`)
		}
		want := map[bool]string{true: `"warning"`}[r.modern()]
		if got := r.ask(); got != want {
			t.Errorf("want the level %s in the request, got %s", want, got)
		}
		r.setLevel("")
		if got := r.ask(); got != "" {
			t.Errorf("want no level in the request after the level was withdrawn, got %s", got)
		}
		r.reconnect(all)
		r.silent()
	})
}

func TestRefusedLogLevelIsNotRestored(t *testing.T) {
	inRevisions(t, legacyOnly, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		r.setLevel(mcp.LevelInfo)
		done := background(func() error { return r.c.SetLogLevel(t.Context(), mcp.LevelDebug) })
		r.Refuse(r.Expect(mcp.MethodSetLevel), mcp.CodeInternalError, "no")
		if err := <-done; !errors.As(err, new(*mcp.Error)) {
			t.Errorf("want the server's error, got %v", err)
		}
		r.reconnect(all)
		f := r.Expect(mcp.MethodSetLevel)
		if got := paramsOf(t, f); got != `{"level":"info"}` {
			t.Errorf("want the previous level, got %s", got)
		}
		r.Refuse(f, mcp.CodeInternalError, "not now") // only the telemetry reports the refusal
		r.reconnect(strings.Replace(all, `,"logging":{}`, "", 1))
		r.silent() // the client sends no level to a server without logging
	})
}

func TestLogLevelsAreSentSequentially(t *testing.T) {
	inRevisions(t, legacyOnly, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		first := background(func() error { return r.c.SetLogLevel(t.Context(), mcp.LevelInfo) })
		f := r.Expect(mcp.MethodSetLevel)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.c.SetLogLevel(ctx, mcp.LevelDebug); !errors.Is(err, context.DeadlineExceeded) ||
			!mcpclient.SafeToRetry(err) {
			t.Errorf("want the second to wait for the first, got %v", err)
		}
		r.Answer(f, `{}`)
		if err := <-first; err != nil {
			t.Error(err)
		}
		r.silent()
	})
}

func TestUnknownLogLevelIsInvalid(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		err := r.c.SetLogLevel(t.Context(), "verbose")
		if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindInvalid ||
			!mcpclient.SafeToRetry(err) {
			t.Errorf("want an error of kind invalid, got %v", err)
		}
		if r.modern() {
			err = r.c.Call(t.Context(), "x/y", nil, nil, mcpclient.WithLogLevel("verbose"))
			if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindInvalid ||
				!mcpclient.SafeToRetry(err) {
				t.Errorf("want an error of kind invalid, got %v", err)
			}
		}
		r.silent()
	})
}

func TestWithLogLevelAppliesToOneCallToModernServer(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		r.setLevel(mcp.LevelError)
		meta, err := mcp.Meta(nil).With(mcp.MetaLogLevel, "alert")
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name    string
			options []mcpclient.CallOption
			want    string
		}{
			{"a level", []mcpclient.CallOption{mcpclient.WithLogLevel(mcp.LevelDebug)}, `"debug"`},
			{"none", []mcpclient.CallOption{mcpclient.WithLogLevel("")}, ""},
			{"the client's", nil, `"error"`},
			{"a level before metadata", []mcpclient.CallOption{mcpclient.WithMeta(meta), mcpclient.WithLogLevel(mcp.LevelDebug)},
				`"debug"`},
		} {
			if !r.modern() && tc.name != "a level before metadata" {
				tc.want = ""
			} else if !r.modern() {
				tc.want = `"alert"` // the level that the user has set
			}
			if got := r.ask(tc.options...); got != tc.want {
				t.Errorf("%s: want the level %s in the request, got %s", tc.name, tc.want, got)
			}
		}
	})
}

// logMessage returns a notification with a log message.
func logMessage(level, logger, data string) string {
	if logger != "" {
		logger = fmt.Sprintf(`"logger":%q,`, logger)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,%s"data":%s}}`, level,
		logger, data)
}

func TestLogMessagesReachTheHandler(t *testing.T) {
	var said []string
	hear := func(by string) func(context.Context, *mcp.LoggingMessageParams) {
		return func(_ context.Context, m *mcp.LoggingMessageParams) {
			said = append(said, fmt.Sprintf("%s: %s %s %s", by, m.Level, m.Logger, m.Data))
		}
	}
	inEach(t, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleLogMessage(hear("feature"))}},
		func(t *testing.T, r *revision) {
			said = nil
			r.Send(logMessage("info", "db", `{"a":1}`))
			synctest.Wait()
			remove := r.c.Handle(mcpclient.HandleLogMessage(hear("later")))
			r.Send(logMessage("alert", "", `null`))
			synctest.Wait()
			remove()
			r.Send(logMessage("debug", "", `"x"`))
			synctest.Wait()
			want := `feature: info db {"a":1}|feature: alert  null|later: alert  null|feature: debug  "x"`
			if got := strings.Join(said, "|"); got != want {
				t.Errorf("want %s, got %s", want, got)
			}
		})
}

func TestLogMessagesGoToSlog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out,
		&slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.LogMessagesTo(logger)}}
	inRevisions(t, []mcp.Version{mcp.Version20251125, mcp.Version20260728}, all, o, func(t *testing.T, r *revision) {
		out.Reset()
		r.Send(
			logMessage("debug", "db", `"hidden"`),
			logMessage("notice", "db", `"50% of %s\n{} done"`),
			logMessage("emergency", "", `{"error":"Connection failed","port":5432}`),
			logMessage("loud", "", `[1]`),
			logMessage("warning", "", `null`),
		)
		synctest.Wait()
		want := `{"level":"INFO+2","msg":"server log message","logger":"db","data":"50% of %s\n{} done"}
{"level":"ERROR+12","msg":"server log message","data":{"error":"Connection failed","port":5432}}
{"level":"INFO","msg":"server log message","data":[1]}
{"level":"WARN","msg":"server log message","data":null}
`
		if got := out.String(); got != want {
			t.Errorf("want\n%sgot\n%s", want, got)
		}
		out.Reset()
		remove := r.c.Handle(mcpclient.LogMessagesTo(logger))
		r.Send(logMessage("error", "", `"twice"`))
		synctest.Wait()
		remove()
		if n := strings.Count(out.String(), "twice"); n != 2 {
			t.Errorf("want one line for each handler, got %q", out.String())
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("want JSON, got %q", line)
			}
		}
	})
}
