package auth

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCanonicalURIs(t *testing.T) {
	for in, want := range map[string]string{
		"https://mcp.example.com/mcp":             "https://mcp.example.com/mcp",
		"https://mcp.example.com":                 "https://mcp.example.com",
		"https://mcp.example.com/":                "https://mcp.example.com",
		"https://mcp.example.com:8443":            "https://mcp.example.com:8443",
		"HTTPS://MCP.Example.com/Server/mcp":      "https://mcp.example.com/Server/mcp",
		"https://u:p@mcp.example.com/mcp?key=1#a": "https://mcp.example.com/mcp",
		"https://mcp.example.com/a%2Fb/":          "https://mcp.example.com/a%2Fb/",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(u); got != want {
			t.Errorf("%s: want %s, got %s", in, want, got)
		}
	}
}

func TestRefreshTimeIsBounded(t *testing.T) {
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ life, early, want time.Duration }{
		{time.Hour, time.Minute, 59 * time.Minute},
		{time.Minute, time.Minute, 54 * time.Second},
		{time.Hour, -1, time.Hour},
		{-time.Hour, time.Minute, -time.Hour},
	} {
		if got := refreshTime(now, now.Add(c.life), c.early).Sub(now); got != c.want {
			t.Errorf("life %v, early %v: want %v, got %v", c.life, c.early, c.want, got)
		}
	}
	if !refreshTime(now, time.Time{}, time.Minute).IsZero() {
		t.Error("want no refresh of a token with unknown expiry")
	}
}

func TestLifetimeParsesNumbersAndStrings(t *testing.T) {
	for in, want := range map[any]time.Duration{
		float64(3600): time.Hour, int64(60): time.Minute, "3600": time.Hour, "1.5": 1500 * time.Millisecond,
		float64(-1): 0, "soon": 0, "NaN": 0, true: 0, float64(1e300): 10 * 365 * 24 * time.Hour,
		"Inf": 10 * 365 * 24 * time.Hour,
	} {
		if got := lifetime(in); got != want {
			t.Errorf("%v: want %v, got %v", in, want, got)
		}
	}
}

func TestInvalidScopesAreDropped(t *testing.T) {
	for in, want := range map[string][]string{
		"":                        nil,
		" a  b ":                  {"a", "b"},
		"a \"b\" c\\d é e\x7f":    {"a"},
		strings.Repeat("x ", 200): slices.Repeat([]string{"x"}, 100),
	} {
		if got := parseScopes(in); !slices.Equal(got, want) {
			t.Errorf("%.20q: want %v, got %v", in, want, got)
		}
	}
}

func TestQuotableTextHasNoSecretsAndOnlyPrintableCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-z]{4,8}`).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + rapid.SampledFrom([]string{"", secret}).Draw(t, "middle") +
			rapid.String().Draw(t, "after")
		got := quotable(text, 20, []string{"", secret})
		if strings.Contains(got, secret) || len(got) > 20 || !strings.HasPrefix(text, got) {
			t.Fatalf("%q: want a prefix without %q, got %q", text, secret, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q: want printable ASCII, got %q", text, got)
		}
	})
}

func TestScopeChoiceInvariants(t *testing.T) {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", scopeOffline}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		r := scopeRequest{
			configured: names.Draw(t, "configured"), challenged: names.Draw(t, "challenged"),
			supported: names.Draw(t, "supported"),
			previous:  names.Draw(t, "previous"), server: names.Draw(t, "server"), offline: rapid.Bool().Draw(t, "offline"),
		}
		got := r.choose()
		for _, s := range slices.Concat(r.configured, r.challenged, r.previous) {
			if s != scopeOffline && !slices.Contains(got, s) {
				t.Fatalf("%+v: want %s among %v", r, s, got)
			}
		}
		if slices.Contains(got, scopeOffline) && !slices.Contains(r.server, scopeOffline) &&
			!slices.Contains(r.configured, scopeOffline) {
			t.Fatalf("%+v: want no offline_access, got %v", r, got)
		}
		if got != nil && len(got) == 0 || len(union(got, nil)) != len(got) {
			t.Fatalf("%+v: want nil or distinct scopes, got %#v", r, got)
		}
	})
}

func TestBudgetLimitsAttemptsInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b budget
		now := time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)
		var taken []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "tries") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 3 * time.Minute}).Draw(t, "pause"))
			if !b.exhausted(now) {
				b.record(now)
				taken = append(taken, now)
			}
		}
		for i := range max(0, len(taken)-budgetSize) {
			if d := taken[i+budgetSize].Sub(taken[i]); d < budgetPeriod {
				t.Fatalf("want at most %d in %v, got one more within %v", budgetSize, budgetPeriod, d)
			}
		}
	})
}

func TestApplicationTypeFollowsTheRedirectURI(t *testing.T) {
	for uri, want := range map[string]string{
		"":                             applicationNative,
		"http://127.0.0.1:80/callback": applicationNative,
		"http://[::1]:80/callback":     applicationNative,
		"http://localhost/callback":    applicationNative,
		"com.example:/callback":        applicationNative,
		"https://app.example/callback": applicationWeb,
	} {
		if got := applicationType(uri); got != want {
			t.Errorf("%q: want %s, got %s", uri, want, got)
		}
	}
}

func TestErrorTextContainsStepCodeAndStatus(t *testing.T) {
	e := answered(StepToken, "invalid_grant", "it has expired", 400, nil)
	if got, want := e.Error(), `authorization: token: invalid_grant: "it has expired" (HTTP 400)`; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if got, want := answered(StepToken, "", "", 502, nil).Error(),
		"authorization: token: the authorization server refused the request (HTTP 502)"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	for code, temporary := range map[string]bool{"invalid_grant": false, "server_error": true,
		"temporarily_unavailable": true} {
		if e := answered(StepToken, code, "", 400, nil); e.Permanent() == temporary {
			t.Errorf("%s: want temporary %t", code, temporary)
		}
	}
	if got := answered(StepToken, "made_up", "", 400, nil).ErrorType(); got != "authorization_failed" {
		t.Errorf("want no unknown code in telemetry, got %s", got)
	}
	if got := fmt.Sprint(failed(StepToken, fmt.Errorf("around: %w", e))); got != e.Error() {
		t.Errorf("want an *Error returned unchanged, got %s", got)
	}
}
