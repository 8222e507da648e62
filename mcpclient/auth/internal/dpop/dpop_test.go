package dpop_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
)

// read verifies a proof with the key that it contains, as a server does, and returns its header and claims.
func read(t *testing.T, proof string) (header jose.Header, claims map[string]any) {
	t.Helper()
	signed, err := jose.ParseSignedCompact(proof, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatalf("the proof cannot be parsed: %v", err)
	}
	header = signed.Signatures[0].Header
	if header.JSONWebKey == nil || !header.JSONWebKey.IsPublic() {
		t.Fatalf("the proof has jwk %v, want a public key", header.JSONWebKey)
	}
	payload, err := signed.Verify(header.JSONWebKey)
	if err != nil {
		t.Fatalf("the proof's signature: %v", err)
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return header, claims
}

func newKey(t *testing.T) *dpop.Key {
	t.Helper()
	k, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProofHasTheClaimsOfTheRequest(t *testing.T) {
	k := newKey(t)
	now := time.Unix(1_800_000_000, 999)
	proof, err := k.Proof("POST", parseURL(t, "https://mcp.example.com/mcp"), "the token", "the nonce", now)
	if err != nil {
		t.Fatal(err)
	}
	header, claims := read(t, proof)
	if typ := header.ExtraHeaders["typ"]; typ != "dpop+jwt" {
		t.Errorf("typ is %v, want dpop+jwt", typ)
	}
	sum := sha256.Sum256([]byte("the token"))
	want := map[string]any{
		"htm":   "POST",
		"htu":   "https://mcp.example.com/mcp",
		"iat":   1_800_000_000.0,
		"ath":   base64.RawURLEncoding.EncodeToString(sum[:]),
		"nonce": "the nonce",
	}
	for name, v := range want {
		if claims[name] != v {
			t.Errorf("%s is %v, want %v", name, claims[name], v)
		}
	}
	if id, _ := claims["jti"].(string); len(id) < 22 {
		t.Errorf("jti is %q, want 96 random bits at least", id)
	}
}

func TestProofOmitsEmptyClaims(t *testing.T) {
	proof, err := newKey(t).Proof("POST", parseURL(t, "https://as.example.com/token"), "", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, claims := read(t, proof)
	for _, name := range []string{"ath", "nonce"} {
		if v, has := claims[name]; has {
			t.Errorf("%s is %v, want none", name, v)
		}
	}
}

func TestProofsHaveUniqueIDs(t *testing.T) {
	k, u, now := newKey(t), parseURL(t, "https://h/"), time.Now()
	var mu sync.Mutex
	seen := map[any]bool{}
	var tasks sync.WaitGroup
	for range 8 {
		tasks.Go(func() {
			for range 8 {
				proof, err := k.Proof("GET", u, "t", "", now)
				if err != nil {
					t.Error(err)
					return
				}
				_, claims := read(t, proof)
				mu.Lock()
				seen[claims["jti"]] = true
				mu.Unlock()
			}
		})
	}
	tasks.Wait()
	if len(seen) != 64 {
		t.Errorf("64 proofs at once have %d different ids, want 64", len(seen))
	}
}

func TestTargetIsNormalizedAndHasNoQuery(t *testing.T) {
	k := newKey(t)
	for in, want := range map[string]string{
		"https://Host.Example:443/a%20b?token=x#y": "https://host.example/a%20b",
		"http://127.0.0.1:80":                      "http://127.0.0.1/",
		"https://h:8443/":                          "https://h:8443/",
		"http://h:443/x":                           "http://h:443/x",
	} {
		proof, err := k.Proof("GET", parseURL(t, in), "", "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, claims := read(t, proof); claims["htu"] != want {
			t.Errorf("htu of %s is %v, want %s", in, claims["htu"], want)
		}
	}
}

func TestKeyRoundTrips(t *testing.T) {
	k := newKey(t)
	data, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := dpop.ParseKey(data)
	if err != nil {
		t.Fatal(err)
	}
	if again.Thumbprint() != k.Thumbprint() {
		t.Errorf("thumbprint is %s after storage, was %s", again.Thumbprint(), k.Thumbprint())
	}
	proof, err := again.Proof("GET", parseURL(t, "https://h/"), "", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	header, _ := read(t, proof)
	print, err := header.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if got := base64.RawURLEncoding.EncodeToString(print); got != k.Thumbprint() {
		t.Errorf("the proof is by %s, want the stored key %s", got, k.Thumbprint())
	}
}

func TestParseKeyRejectsOtherKeys(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("not a key"), "P-384": der} {
		if k, err := dpop.ParseKey(data); err == nil {
			t.Errorf("ParseKey(%s) = %v, want an error", name, k)
		} else if len(data) > 0 && strings.Contains(err.Error(), string(data)) {
			t.Errorf("ParseKey(%s): error %q quotes the key", name, err)
		}
	}
}

func TestPrintedKeyContainsNoSecret(t *testing.T) {
	k := newKey(t)
	der, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		t.Fatal(err)
	}
	private := parsed.(*ecdsa.PrivateKey)
	raw, err := private.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("", "key", k)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "key", k, "in", struct{ Key *dpop.Key }{k})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		fmt.Fprintf(&out, verb, k)
		fmt.Fprintf(&out, verb, struct{ k *dpop.Key }{k})
	}
	for _, secret := range []string{
		fmt.Sprintf("%x", raw), fmt.Sprintf("%v", raw), base64.RawURLEncoding.EncodeToString(raw),
		base64.StdEncoding.EncodeToString(der),
	} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the private key is in %s", &out)
		}
	}
	if !strings.Contains(out.String(), k.Thumbprint()) {
		t.Errorf("printed is %s, want the thumbprint in it", &out)
	}
}
