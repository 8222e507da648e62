package bearer

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// After a redirect to http, an attacker on the network could supply keys.
func TestHTTPSKeyFetchRefusesRedirectToHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"evil",` +
			`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`))
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	s, err := newKeySource(JWT{Issuer: "x", KeysURL: secure.URL})
	if err != nil {
		t.Fatal(err)
	}
	s.(*fetchedKeys).client.Transport = secure.Client().Transport
	if keys, err := s.find(t.Context(), "evil", "EdDSA"); err == nil || len(keys) > 0 {
		t.Errorf("got %d keys, %v, want an error", len(keys), err)
	}
}
