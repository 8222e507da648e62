package backend_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/backend"
)

// service starts a server with this handler and returns its URL.
func service(t *testing.T, answer http.HandlerFunc) string {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func echo(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	fmt.Fprintf(w, "%s %s x=%s user=%s:%s tenant=%s", r.Method, r.URL.Path, r.FormValue("x"), user, password,
		r.Header.Get("X-Tenant"))
}

func textOf(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRequestsCarryCredentialsAndHeaders(t *testing.T) {
	base := service(t, echo)
	at, err := backend.New(strings.Replace(base, "//", "//ada:lovelace@", 1)+"/base/", http.Header{"X-Tenant": {"shop"}})
	if err != nil {
		t.Fatal(err)
	}
	const rest = "/base/path x=1 user=ada:lovelace tenant=shop"
	resp, err := at.Get(t.Context(), "/path", url.Values{"x": {"1"}})
	if got := textOf(t, resp, err); got != "GET "+rest {
		t.Errorf("got %q, want GET %s", got, rest)
	}
	resp, err = at.Post(t.Context(), "/path", url.Values{"x": {"1"}})
	if got := textOf(t, resp, err); got != "POST "+rest {
		t.Errorf("got %q, want POST %s", got, rest)
	}
	if got := at.String(); got != base+"/base" {
		t.Errorf("got %s, want no user", got)
	}
}

func TestCredentialsAreNotSentToOtherOrigins(t *testing.T) {
	var elsewhere string
	visited := false
	elsewhere = service(t, func(http.ResponseWriter, *http.Request) { visited = true })
	base := service(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/login":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		default:
			echo(w, r)
		}
	})
	at, err := backend.New(base, http.Header{"X-Tenant": {"shop"}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := at.Get(t.Context(), "/moved", nil)
	if got := textOf(t, resp, err); !strings.Contains(got, "tenant=shop") {
		t.Errorf("got %q, want the header after a redirect to the same origin", got)
	}
	resp, err = at.Get(t.Context(), "/login", nil)
	textOf(t, resp, err)
	if resp.StatusCode != http.StatusFound || visited {
		t.Errorf("got %s, visited %v, want the redirect itself", resp.Status, visited)
	}
}

func TestNoErrorQuotesAPassword(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:9090", "ftp://ada:lovelace@x", "http://", "http://ada:lovelace@x?y",
		"http://ada:lovelace@x#y", "http://ada:lovelace@x:y", ":", "file:///etc"} {
		if _, err := backend.New(base, nil); err == nil || strings.Contains(err.Error(), "lovelace") {
			t.Errorf("%q: got %v, want an error without the password", base, err)
		}
	}
	at, err := backend.New("http://ada:lovelace@127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := at.Get(t.Context(), "/", nil); err == nil || strings.Contains(err.Error(), "lovelace") {
		t.Errorf("got %v, want an error without the password", err)
	}
}
