package bearer_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

const issuer = "https://as.example.com"

type object = map[string]any

// authority signs tokens.
type authority struct {
	t   *testing.T
	key crypto.Signer
	alg jose.SignatureAlgorithm
	id  string
}

func newAuthority(t *testing.T, id string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, key, jose.ES256, id}
}

func (a *authority) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: a.key.Public(), KeyID: a.id, Algorithm: string(a.alg), Use: "sig"}
}

func (a *authority) set(others ...any) []byte {
	data, err := json.Marshal(object{"keys": append([]any{a.public()}, others...)})
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

func (a *authority) sign(payload string, header object) string {
	a.t.Helper()
	options := &jose.SignerOptions{}
	for name, v := range header {
		options.WithHeader(jose.HeaderKey(name), v)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: a.alg, Key: jose.JSONWebKey{Key: a.key, KeyID: a.id}},
		options)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		a.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// token signs the usual claims with some changes. A nil value in change removes the claim.
func (a *authority) token(change object) string {
	claims := object{
		"iss": issuer, "sub": "alice", "aud": resource, "client_id": "app", "scope": "a b", "exp": 2_000_000_000,
		"extra": true,
	}
	maps.Copy(claims, change)
	for name, v := range claims {
		if v == nil {
			delete(claims, name)
		}
	}
	data, err := json.Marshal(claims)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.sign(string(data), object{"typ": "at+jwt"})
}

func newJWT(t *testing.T, j bearer.JWT) bearer.Verifier {
	t.Helper()
	j.Issuer = issuer
	v, err := bearer.NewJWT(j)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJWTVerifyReturnsPrincipal(t *testing.T) {
	a := newAuthority(t, "1")
	v := newJWT(t, bearer.JWT{Keys: a.set()})
	for name, tt := range map[string]struct {
		change object
		want   func(*bearer.Principal)
	}{
		"usual": {nil, func(*bearer.Principal) {}},
		"many audiences": {object{"aud": []string{"x", resource}}, func(p *bearer.Principal) {
			p.Audience = []string{"x", resource}
		}},
		"no audience": {object{"aud": nil}, func(p *bearer.Principal) { p.Audience = nil }},
		"scp as a list": {object{"scope": nil, "scp": []string{"c", "d"}}, func(p *bearer.Principal) {
			p.Scopes = []string{"c", "d"}
		}},
		"scp as a text": {object{"scope": nil, "scp": "c d"}, func(p *bearer.Principal) { p.Scopes = []string{"c", "d"} }},
		"azp":           {object{"client_id": nil, "azp": "party"}, func(p *bearer.Principal) { p.ClientID = "party" }},
		"nbf": {object{"nbf": 1_900_000_000.5}, func(p *bearer.Principal) {
			p.NotBefore = time.Unix(1_900_000_000, 0)
		}},
		"a far expiry":  {object{"exp": 1e300}, func(p *bearer.Principal) { p.Expiry = time.Unix(1<<40, 0) }},
		"a past expiry": {object{"exp": -1e300}, func(p *bearer.Principal) { p.Expiry = time.Unix(-1<<40, 0) }},
	} {
		got, err := v.Verify(t.Context(), a.token(tt.change), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Claims["extra"] != true {
			t.Errorf("%s: claims are %v, want all of them", name, got.Claims)
		}
		got.Claims = nil
		want := &bearer.Principal{
			Subject: "alice", ClientID: "app", Issuer: issuer, Audience: []string{resource}, Scopes: []string{"a", "b"},
			Expiry: time.Unix(2_000_000_000, 0),
		}
		tt.want(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: principal, want - got +:\n%s", name, diff)
		}
	}
}

func TestJWTRefusesInvalidTokens(t *testing.T) {
	a, stranger := newAuthority(t, "1"), newAuthority(t, "1")
	nameless := newAuthority(t, "")
	v := newJWT(t, bearer.JWT{Keys: a.set()})
	good := a.token(nil)
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"no JWT":                "abc",
		"nothing":               "",
		"too long":              good + strings.Repeat("A", 20_000),
		"another key":           stranger.token(nil),
		"a key without id":      nameless.token(nil),
		"a changed payload":     parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2],
		"no signature":          parts[0] + "." + parts[1] + ".",
		"none":                  "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"another issuer":        a.token(object{"iss": issuer + "/"}),
		"no issuer":             a.token(object{"iss": nil}),
		"no expiry":             a.token(object{"exp": nil}),
		"an expiry as text":     a.token(object{"exp": "never"}),
		"an audience of number": a.token(object{"aud": 1}),
		"bound to a key":        a.token(object{"cnf": object{"jkt": "x"}}),
		"another type":          a.sign(`{"iss":"`+issuer+`","exp":2000000000}`, object{"typ": "logout+jwt"}),
		"a proof":               a.sign(`{"iss":"`+issuer+`","exp":2000000000}`, object{"typ": "dpop+jwt"}),
		"a type of number":      a.sign(`{"iss":"`+issuer+`","exp":2000000000}`, object{"typ": 1}),
		"two audiences in one":  a.sign(`{"iss":"`+issuer+`","exp":2000000000,"aud":"x","aud":"`+resource+`"}`, nil),
		"no claims":             a.sign("alice", nil),
	} {
		p, err := v.Verify(t.Context(), token, nil)
		if !errors.Is(err, bearer.ErrInvalidToken) || p != nil {
			t.Errorf("%s: %+v, %v, want ErrInvalidToken", name, p, err)
		}
		if err != nil && len(token) > 20 && strings.Contains(err.Error(), token[:20]) {
			t.Errorf("%s: error %q quotes the token", name, err)
		}
	}
	if _, err := v.Verify(t.Context(), a.sign(`{"iss":"`+issuer+`","exp":2000000000,"AUD":"`+resource+`"}`, nil),
		nil); err != nil {
		t.Errorf("a claim of another case: %v, want it to mean nothing", err)
	}
}

// TestSymmetricSignaturesAreRejected uses the public key as the secret of a symmetric signature.
func TestSymmetricSignaturesAreRejected(t *testing.T) {
	a := newAuthority(t, "1")
	public, err := json.Marshal(a.public())
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: public},
		(&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(`{"iss":"` + issuer + `","exp":2000000000}`))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := newJWT(t, bearer.JWT{Keys: a.set()}).
		Verify(t.Context(), token, nil); !errors.Is(err, bearer.ErrInvalidToken) {
		t.Errorf("%+v, %v, want ErrInvalidToken", p, err)
	}
}

func TestAlgorithmsCanBeChosen(t *testing.T) {
	a := newAuthority(t, "1")
	v := newJWT(t, bearer.JWT{Keys: a.set(), Algorithms: []string{"EdDSA"}})
	if _, err := v.Verify(t.Context(), a.token(nil), nil); !errors.Is(err, bearer.ErrInvalidToken) {
		t.Errorf("ES256 where EdDSA is wanted: %v, want ErrInvalidToken", err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &authority{t, key, jose.EdDSA, ""}
	v = newJWT(t, bearer.JWT{Keys: a.set(b.public(), object{"kty": "unheard of"}, object{"kty": "oct", "k": "AAAA"}),
		Algorithms: []string{"EdDSA"}})
	if _, err := v.Verify(t.Context(), b.token(nil), nil); err != nil {
		t.Errorf("EdDSA, by a key without id among others: %v, want it good", err)
	}
}

func TestKeyVerifiesOnlyItsAlgorithm(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t, key, jose.RS256, "1"}
	v := newJWT(t, bearer.JWT{Keys: a.set()})
	if _, err := v.Verify(t.Context(), a.token(nil), nil); err != nil {
		t.Errorf("RS256 by a key for RS256: %v, want it good", err)
	}
	a.alg = jose.PS256
	if _, err := v.Verify(t.Context(), a.token(nil), nil); !errors.Is(err, bearer.ErrInvalidToken) {
		t.Errorf("PS256 by a key for RS256: %v, want ErrInvalidToken", err)
	}
}

func TestNewJWTRefusesInvalidOptions(t *testing.T) {
	a := newAuthority(t, "1")
	encryption := a.public()
	encryption.Use = "enc"
	only, err := json.Marshal(object{"keys": []any{encryption}})
	if err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]bearer.JWT{
		"no issuer":             {Keys: a.set()},
		"no keys":               {Issuer: issuer},
		"two kinds of keys":     {Issuer: issuer, Keys: a.set(), KeysURL: "https://h/keys"},
		"no set":                {Issuer: issuer, Keys: []byte("[]")},
		"an empty set":          {Issuer: issuer, Keys: []byte(`{"keys":[]}`)},
		"keys for encryption":   {Issuer: issuer, Keys: only},
		"http":                  {Issuer: issuer, KeysURL: "http://h/keys"},
		"no URL":                {Issuer: issuer, KeysURL: "keys"},
		"a symmetric algorithm": {Issuer: issuer, Keys: a.set(), Algorithms: []string{"HS256"}},
		"no algorithm":          {Issuer: issuer, Keys: a.set(), Algorithms: []string{"none"}},
	} {
		if _, err := bearer.NewJWT(j); err == nil {
			t.Errorf("%s: no error, want one", name)
		}
	}
}

// keyServer is a RoundTripper that serves a set of keys.
type keyServer struct {
	asked  int
	answer func() (status int, body []byte, err error)
}

func (k *keyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	k.asked++
	status, body, err := k.answer()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(string(body))), Request: r}, nil
}

func TestFetchedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, young := newAuthority(t, "old"), newAuthority(t, "young")
		down := errors.New("down")
		server := &keyServer{answer: func() (int, []byte, error) { return 0, nil, down }}
		v := newJWT(t, bearer.JWT{KeysURL: "https://as.example.com/keys", Client: &http.Client{Transport: server}})
		step := func(what string, after time.Duration, token string, want error, asked int) {
			t.Helper()
			time.Sleep(after)
			if _, err := v.Verify(t.Context(), token, nil); !errors.Is(err, want) || (want == nil) != (err == nil) {
				t.Errorf("%s: error is %v, want %v", what, err, want)
			}
			synctest.Wait() // a background fetch may be running
			if server.asked != asked {
				t.Errorf("%s: the server was asked %d times, want %d", what, server.asked, asked)
			}
		}
		step("when the server is down", 0, old.token(nil), down, 1)
		server.answer = func() (int, []byte, error) { return 200, old.set(), nil }
		step("soon after", 29*time.Second, old.token(nil), down, 1)
		step("later", time.Second, old.token(nil), nil, 2)
		step("again", time.Minute, old.token(nil), nil, 2)
		step("with a key nobody has", 0, young.token(nil), bearer.ErrInvalidToken, 3)
		step("with it once more", 29*time.Second, young.token(nil), bearer.ErrInvalidToken, 3)
		server.answer = func() (int, []byte, error) { return 200, young.set(), nil }
		step("when it is there", time.Second, young.token(nil), nil, 4)
		step("with one that is not there any more", 0, old.token(nil), bearer.ErrInvalidToken, 4)
		server.answer = func() (int, []byte, error) { return 0, nil, down }
		step("with an unknown one when the server is down", time.Minute, old.token(nil), down, 5)
		step("after an hour", time.Hour, young.token(nil), nil, 6)
		step("soon after that", time.Second, young.token(nil), nil, 6)
		step("after a day", 24*time.Hour, young.token(nil), down, 7)
		for _, bad := range []struct {
			status int
			body   string
		}{{500, ""}, {200, "<html>"}, {200, strings.Repeat(" ", 2<<20)}} {
			server.answer = func() (int, []byte, error) { return bad.status, []byte(bad.body), nil }
			time.Sleep(time.Minute)
			if _, err := v.Verify(t.Context(), young.token(nil), nil); err == nil || errors.Is(err, bearer.ErrInvalidToken) {
				t.Errorf("answer %d %.10q: error is %v, want that it is not known", bad.status, bad.body, err)
			}
		}
	})
}

func TestRequestsShareOneKeyFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, "1")
		server := &keyServer{answer: func() (int, []byte, error) {
			time.Sleep(time.Second)
			return 200, a.set(), nil
		}}
		v := newJWT(t, bearer.JWT{KeysURL: "https://as.example.com/keys", Client: &http.Client{Transport: server}})
		results := make(chan error)
		for range 10 {
			go func() {
				_, err := v.Verify(t.Context(), a.token(nil), nil)
				results <- err
			}()
		}
		for range 10 {
			if err := <-results; err != nil {
				t.Errorf("error is %v, want the principal", err)
			}
		}
		if server.asked != 1 {
			t.Errorf("the server was asked %d times, want once", server.asked)
		}
	})
}

func TestWaitingForKeysEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, "1")
		server := &keyServer{answer: func() (int, []byte, error) {
			time.Sleep(time.Second)
			return 200, a.set(), nil
		}}
		v := newJWT(t, bearer.JWT{KeysURL: "http://127.0.0.1/keys", Client: &http.Client{Transport: server}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := v.Verify(ctx, a.token(nil), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want the context's", err)
		}
		if _, err := v.Verify(t.Context(), a.token(nil), nil); err != nil || server.asked != 1 {
			t.Errorf("error is %v after %d fetches, want the keys of the one that went on", err, server.asked)
		}
	})
}

// A key server that hangs does not delay tokens with known keys: the verifier uses a set that is an hour old while it
// fetches a new set.
func TestStaleKeysAreUsedDuringFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, "1")
		server := &keyServer{answer: func() (int, []byte, error) { return 200, a.set(), nil }}
		v := newJWT(t, bearer.JWT{KeysURL: "https://as.example.com/keys", Client: &http.Client{Transport: server}})
		verify := func(what string, want error) {
			t.Helper()
			begun := time.Now()
			if _, err := v.Verify(t.Context(), a.token(nil), nil); !errors.Is(err, want) || (want == nil) != (err == nil) {
				t.Errorf("%s: error is %v, want %v", what, err, want)
			}
			if took := time.Since(begun); want == nil && took != 0 {
				t.Errorf("%s: it took %v, want no wait", what, took)
			}
		}
		verify("with new keys", nil)
		hung := errors.New("hung")
		server.answer = func() (int, []byte, error) {
			time.Sleep(10 * time.Second)
			return 0, nil, hung
		}
		time.Sleep(time.Hour)
		for range 3 {
			verify("when new keys are due", nil)
			verify("while they are fetched", nil)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if server.asked != 4 {
			t.Errorf("the server was asked %d times, want once and then again each minute", server.asked)
		}
		time.Sleep(24 * time.Hour)
		verify("after a day", hung)
	})
}
