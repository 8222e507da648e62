package inspectview

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/loopback"
)

// A guard admits browsers to the pages, one after the other. The command prints an address with a token. The first
// request with the token gets a cookie; then the command prints a new address, for another browser. The pages require
// the cookie, which neither other users of the machine nor other web sites have.
//
// Package loopback refuses other hosts, and CrossOriginProtection refuses forms of other sites.
type guard struct {
	host   string // a name below localhost, which browsers resolve to the loopback
	cookie string // name of the cookie; cookies of other ports of this machine have other names
	secret string // value of the cookie
	say    func(url string)

	mu    sync.Mutex
	token string // admits once
}

func newGuard(say func(url string)) guard {
	return guard{host: "mcpotel-" + strings.ToLower(rand.Text()[:12]) + ".localhost",
		cookie: "mcpotel_inspect_" + rand.Text()[:8], secret: rand.Text(), token: rand.Text(), say: say}
}

// address returns the address that admits the next browser. port is the port of the pages.
func (g *guard) address(port string) string { return "http://" + g.host + ":" + port + g.path() }

// path returns the path that admits the next browser.
func (g *guard) path() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "/?token=" + g.token
}

// use reports whether the token admits, and replaces it.
func (g *guard) use(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1 {
		return false
	}
	g.token = rand.Text()
	return true
}

// protect returns a handler that serves h to an admitted browser, and refused to others.
func (g *guard) protect(h, refused http.Handler) http.Handler {
	admitted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/" && g.use(r.URL.Query().Get("token")) {
			// Lax, because a person may click on the address in another page, such as a terminal in the browser
			http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.secret, Path: "/", HttpOnly: true,
				SameSite: http.SameSiteLaxMode})
			g.say("http://" + r.Host + g.path())
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Referrer-Policy", "no-referrer")
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(g.cookie); err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.secret)) == 1 {
			h.ServeHTTP(w, r)
			return
		}
		refused.ServeHTTP(w, r)
	})
	return loopback.Only(http.NewCrossOriginProtection().Handler(admitted))
}
