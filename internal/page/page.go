package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
)

//go:embed frame.html
var frameText string

//go:embed style.css
var style string

//go:embed refresh.js
var script string

// policy allows the stylesheet, the script, what the script fetches, the icon, and forms that lead to this host.
// Nothing else.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; connect-src 'self'; img-src data:; "+
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'", hashOf(style), hashOf(script))

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A Page is one page, in its frame.
type Page struct {
	Title   string        // of the document
	Home    string        // where the name in the header leads; empty for nowhere
	Nav     []Link        // beside it
	Note    string        // at the foot; empty for none
	Refresh time.Duration // how often the script looks for news; zero for never
	Data    any           // for the page's template
}

// A Link is one of the header.
type Link struct {
	Text, Href string
	Here       bool // it leads to this page
}

// Templates are pages' own templates, each to be put into the frame. They may be used from any goroutine.
type Templates struct{ all *template.Template }

// Parse reads templates; it panics if they are wrong, for they are part of the program. Besides the functions of
// text/template they have
//
//	cut N TEXT     the first N characters, and how many there were
//	duration D     "1.23ms"
//	size BYTES     "1.50 KiB"
//	number FLOAT   "42", "0.123"
//	clock TIME     "15:04:05.000"
//	date TIME      "2006-01-02 15:04:05.000Z"
//	iso TIME       for <time datetime>
//	plural N WORD  "1 span", "2 spans"
//	parts KEY      a dotted name in the parts between which a line may break
func Parse(files fs.FS, patterns ...string) *Templates {
	all := template.Must(template.New("frame").Funcs(functions).Parse(frameText))
	return &Templates{template.Must(all.ParseFS(files, patterns...))}
}

var functions = template.FuncMap{
	"cut":      Cut,
	"duration": unit.Duration,
	"size":     unit.Size,
	"number":   unit.Number,
	"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
	"date":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") },
	"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"parts":    parts,
	"plural": func(n int, word string) string {
		if n == 1 {
			return "1 " + word
		}
		if stem, ok := strings.CutSuffix(word, "ry"); ok {
			word = stem + "rie" // entries
		}
		return fmt.Sprintf("%d %ss", n, word)
	},
}

// Write answers a request with the template of that name in the frame. If the client has the page already, it says so.
func (t *Templates) Write(w http.ResponseWriter, r *http.Request, status int, name string, p Page) error {
	var main, whole bytes.Buffer
	if err := t.all.ExecuteTemplate(&main, name, p.Data); err != nil {
		return err
	}
	err := t.all.ExecuteTemplate(&whole, "frame", map[string]any{
		"Page":  p,
		"Main":  template.HTML(main.String()), // escaped by its own template
		"Style": template.CSS(style), "Script": template.JS(script),
		"Refresh": p.Refresh.Milliseconds(),
	})
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	send(w, r, status, shown(whole.Bytes()))
	return nil
}

// WriteJSON answers a request with v, indented.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	send(w, r, status, append(visible.JSON(raw), '\n'))
	return nil
}

// WantsJSON reports whether a request prefers JSON over a page: by its path, or by what it accepts.
func WantsJSON(r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, ".json") {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// send writes what must not be cached, because it changes and may be private; but a browser that shows by its ETag that
// they have it is not sent it again.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h.Set("ETag", tag)
	if status == http.StatusOK && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // who has gone away misses nothing
	}
}
