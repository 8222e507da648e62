package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

var _ transport.Authorizer = (*auth.Authorizer)(nil)

func TestTransportGetsItsTokenFromTheAuthorizer(t *testing.T) {
	b := newBench(t)
	h := &transport.HTTP{URL: mcpURL, Client: &http.Client{Transport: b.world}, Authorizer: b.authorizer()}
	conn, err := h.Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	message := transport.Message{
		Kind: transport.KindRequest, ID: 1, Method: "server/discover", ProtocolVersion: "2026-07-28",
		Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`),
	}
	if err := conn.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	f, err := conn.Receive(t.Context())
	if err != nil || f.Err != nil || !strings.Contains(string(f.Data), "result") {
		t.Errorf("want an answer of the server that requires a token, got %s, %v, %v", f.Data, f.Err, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := b.person.times(); n != 1 {
		t.Errorf("want the person asked once, got %d times", n)
	}
}

func TestNewRejectsInvalidOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    auth.Options
		want string
	}{
		{"credentials", auth.Options{Credentials: &auth.Credentials{ClientSecret: "s"}}, "ClientID"},
		{"secret without issuer", auth.Options{Credentials: &auth.Credentials{ClientID: "c", ClientSecret: "s"}}, "Issuer"},
		{"document over http", auth.Options{ClientMetadataURL: "http://client.example/metadata.json"},
			"https URL with a path"},
		{"document without a path", auth.Options{ClientMetadataURL: "https://client.example/"}, "https URL with a path"},
		{"document with a fragment", auth.Options{ClientMetadataURL: "https://client.example/a#b"}, "https URL with a path"},
		{"application type", auth.Options{Registration: auth.Registration{ApplicationType: "mobile"}}, "mobile"},
		{"DPoP mode", auth.Options{DPoP: 9}, "DPoP"},
		{"timeout", auth.Options{InteractionTimeout: -time.Second}, "negative"},
		{"key", auth.Options{PrivateKey: &auth.PrivateKey{PEM: []byte("secret")}}, "private key"},
		{"algorithm", auth.Options{PrivateKey: &auth.PrivateKey{PEM: newKey(t), Algorithm: "RS256"}}, "private key"},
		{"assertion", auth.Options{Grant: auth.JWTBearer{}}, "Assertion"},
		{"ID token", auth.Options{Grant: auth.EnterpriseManaged{}}, "IDToken"},
		{"Interact without a person", auth.Options{Grant: auth.ClientCredentials{}, Interact: &auth.Loopback{}}, "Interact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := auth.New(&c.o)
			if a != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func TestNewCopiesItsOptions(t *testing.T) {
	b := newBench(t)
	b.as.clients["machine"] = object{"client_secret": "machine-secret"}
	var o auth.Options
	machine(&o)
	o.Scopes = []string{"mine"}
	a := b.authorizer(func(p *auth.Options) {
		o.HTTPClient = p.HTTPClient
		*p = o
	})
	o.Credentials.ClientSecret, o.Scopes[0] = "changed", "changed"
	b.ok(a, "tools/list")
	if got := b.only(asHost, "/token").form.Get("scope"); got != "mine" {
		t.Errorf("want scope mine, got %q", got)
	}
}
