package assertion_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/assertion"
)

// keys generates one key of each kind, once, because RSA is slow.
var keys = sync.OnceValue(func() map[string]crypto.Signer {
	r, err1 := rsa.GenerateKey(rand.Reader, 2048)
	p256, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, err3 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p521, err4 := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	_, ed, err5 := ed25519.GenerateKey(rand.Reader)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			panic(err)
		}
	}
	return map[string]crypto.Signer{"RSA": r, "P-256": p256, "P-384": p384, "P-521": p521, "Ed25519": ed}
})

func pkcs8(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func TestAssertionVerifies(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, tt := range []struct{ key, alg, want string }{
		{"RSA", "", "RS256"},
		{"RSA", "RS512", "RS512"},
		{"RSA", "PS256", "PS256"},
		{"P-256", "", "ES256"},
		{"P-256", "ES256", "ES256"},
		{"P-384", "", "ES384"},
		{"P-521", "", "ES512"},
		{"Ed25519", "", "EdDSA"},
	} {
		t.Run(tt.key+" "+tt.alg, func(t *testing.T) {
			key := keys()[tt.key]
			s, err := assertion.PrivateKey(pkcs8(t, key), tt.alg, "key 1")
			if err != nil {
				t.Fatal(err)
			}
			if s.Alg() != tt.want {
				t.Errorf("algorithm is %s, want %s", s.Alg(), tt.want)
			}
			text, err := s.Assertion("client", "https://as.example", now)
			if err != nil {
				t.Fatal(err)
			}
			signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(tt.want)})
			if err != nil {
				t.Fatal(err)
			}
			if id := signed.Signatures[0].Header.KeyID; id != "key 1" {
				t.Errorf("kid is %q, want key 1", id)
			}
			payload, err := signed.Verify(key.Public())
			if err != nil {
				t.Fatalf("signature: %v", err)
			}
			checkClaims(t, payload, now)
		})
	}
}

func checkClaims(t *testing.T, payload []byte, now time.Time) {
	t.Helper()
	var c struct {
		Iss, Sub, Aud, Jti string
		Iat, Exp           int64
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		t.Fatal(err)
	}
	if c.Iss != "client" || c.Sub != "client" || c.Aud != "https://as.example" {
		t.Errorf("iss, sub, aud are %q, %q, %q, want client, client, https://as.example", c.Iss, c.Sub, c.Aud)
	}
	if c.Iat != now.Unix() || c.Exp != now.Unix()+300 {
		t.Errorf("iat, exp are %d, %d, want %d and 300 s later", c.Iat, c.Exp, now.Unix())
	}
	if len(c.Jti) < 20 {
		t.Errorf("jti is %q, want something random", c.Jti)
	}
}

func TestAssertionsHaveUniqueIDs(t *testing.T) {
	s, err := assertion.PrivateKey(pkcs8(t, keys()["Ed25519"]), "", "")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, err1 := s.Assertion("c", "a", now)
	b, err2 := s.Assertion("c", "a", now)
	if err1 != nil || err2 != nil || a == b {
		t.Errorf("two assertions are the same (errors %v, %v), want a unique id in each", err1, err2)
	}
}

func TestPrivateKeyParsesAllPEMTypes(t *testing.T) {
	ec := keys()["P-256"].(*ecdsa.PrivateKey)
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(keys()["RSA"].(*rsa.PrivateKey))
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{1}})
	for name, data := range map[string][]byte{
		"SEC 1 after its parameters": append(parameters,
			pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})...),
		"PKCS 1": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: pkcs1}),
	} {
		if _, err := assertion.PrivateKey(data, "", ""); err != nil {
			t.Errorf("%s: %v, want a signer", name, err)
		}
	}
}

func TestPrivateKeyRejectsInvalidKeys(t *testing.T) {
	short := []byte("-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n")
	for _, tt := range []struct {
		name      string
		pem       []byte
		alg, want string
	}{
		{"nothing", nil, "", "no PEM block"},
		{"no key", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"}), "", "no PEM block"},
		{"encrypted", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("secret")}), "",
			"encrypted"},
		{"encrypted the old way", []byte(
			"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n"), "",
			"encrypted"},
		{"broken", short, "", "asn1"},
		{"another key's algorithm", pkcs8(t, keys()["P-256"]), "RS256", "want one of [ES256]"},
		{"none", pkcs8(t, keys()["RSA"]), "none", "want one of"},
		{"symmetric", pkcs8(t, keys()["RSA"]), "HS256", "want one of"},
		{"an unsupported curve", pkcs8(t, p224(t)), "", "P-224"},
	} {
		_, err := assertion.PrivateKey(tt.pem, tt.alg, "")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want an error with %q", tt.name, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "c2VjcmV0")) {
			t.Errorf("%s: error %q quotes the key", tt.name, err)
		}
	}
}

func p224(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestPrintedSignerContainsNoSecret(t *testing.T) {
	key := keys()["Ed25519"].(ed25519.PrivateKey)
	s, err := assertion.PrivateKey(pkcs8(t, key), "", "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("", "key", s)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "key", s)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		fmt.Fprintf(&out, verb, s)
		fmt.Fprintf(&out, verb, struct{ s *assertion.Signer }{s})
	}
	for _, secret := range []string{fmt.Sprintf("%x", key.Seed()), strings.Trim(fmt.Sprint([]byte(key.Seed())), "[]")} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the private key is in %s", &out)
		}
	}
	if !strings.Contains(out.String(), "EdDSA") {
		t.Errorf("printed is %s, want the algorithm in it", &out)
	}
}
