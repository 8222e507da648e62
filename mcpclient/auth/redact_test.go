package auth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// secretMark is part of every secret in this file and of no other text.
const secretMark = "hush-hush"

func secrets() (auth.Token, auth.Credentials, auth.Record, auth.InteractionRequest, auth.Redirect) {
	token := auth.Token{
		AccessToken: secretMark + "1", RefreshToken: secretMark + "2", IDToken: secretMark + "3",
		TokenType: "Bearer", Expiry: time.Unix(0, 0), Scopes: []string{"shown"},
	}
	credentials := auth.Credentials{
		Issuer: "https://shown.example", ClientID: "shown", ClientSecret: secretMark + "4", TokenAuthMethod: "client_secret_post",
	}
	record := auth.Record{
		Credentials: &credentials, Token: &token, RequestedScopes: []string{"shown"}, DPoPKey: []byte(secretMark + "5"),
	}
	request := auth.InteractionRequest{
		URL: "https://shown.example/authorize?state=" + secretMark, RedirectURI: "http://127.0.0.1/callback", State: secretMark + "6",
	}
	back := auth.Redirect{Code: secretMark + "7", State: secretMark + "8", Issuer: "https://shown.example"}
	return token, credentials, record, request, back
}

func TestPrintedValuesContainNoSecret(t *testing.T) {
	token, credentials, record, request, back := secrets()
	for _, v := range []any{
		token, &token, credentials, &credentials, record, &record, request, &request, back, &back,
		[]auth.Token{token}, map[string]*auth.Credentials{"a": &credentials}, struct{ R auth.Record }{record},
		struct{ R *auth.Record }{&record}, [1]any{back},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%08.3f", "%T"} {
			if out := fmt.Sprintf(verb, v); leaks(out) {
				t.Errorf("%s of %T is %s", verb, v, out)
			}
		}
		secretParameters := struct{ v any }{&v}
		if out := fmt.Sprintf("%v %+v %#v", secretParameters, secretParameters, secretParameters); leaks(out) {
			t.Errorf("%T behind an unexported pointer is %s", v, out)
		}
		if out := fmt.Sprint(v) + fmt.Errorf("%w: %v", auth.ErrClosed, v).Error(); leaks(out) {
			t.Errorf("%T is printed as %s", v, out)
		}
	}
}

func TestLoggedAndEncodedValuesContainNoSecret(t *testing.T) {
	token, credentials, record, request, back := secrets()
	for _, v := range []any{
		token, &token, credentials, &credentials, record, &record, request, &request, back, &back,
		[]auth.Token{token}, map[string]*auth.Credentials{"a": &credentials}, struct{ R auth.Record }{record},
		struct{ R *auth.Record }{&record}, [1]any{back},
	} {
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("", "value", v, slog.Group("g", "value", v))
		data, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T as JSON: %v", v, err)
		}
		out.Write(data)
		if leaks(out.String()) {
			t.Errorf("%T is logged or encoded as %s", v, &out)
		}
		if !strings.Contains(out.String(), "shown") {
			t.Errorf("%T is logged as %s, want the fields that are not secret", v, &out)
		}
	}
}

func TestEmptyValuesAreNotRedacted(t *testing.T) {
	if out := fmt.Sprint(auth.Token{AccessToken: "x"}); strings.Count(out, "[redacted]") != 1 {
		t.Errorf("a token without refresh token is %s, want one secret in it", out)
	}
	if out := fmt.Sprint(auth.Record{}, auth.Redirect{}); strings.Contains(out, "[redacted]") {
		t.Errorf("values without secrets are %s, want none in them", out)
	}
}

// leaks reports whether out contains a secret, in any notation of a verb.
func leaks(out string) bool {
	for _, form := range []string{secretMark, fmt.Sprintf("%x", secretMark), fmt.Sprintf("%X", secretMark),
		strings.Trim(fmt.Sprint([]byte(secretMark)), "[]"), "aHVzaC1odXNo"} {
		if strings.Contains(out, form) {
			return true
		}
	}
	return false
}
