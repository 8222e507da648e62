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

// policy is the Content-Security-Policy. It allows only the stylesheet, the script, requests of the script to this
// host, images and sounds in the page itself, and forms to this host.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; connect-src 'self'; img-src data:; "+
	"media-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", hashOf(style), hashOf(script))

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A Page is the content of one page and the settings of its frame.
type Page struct {
	Title   string        // title of the document
	Home    string        // target of the name in the header; empty for none
	Nav     []Link        // links beside the name
	Note    string        // text at the foot; empty for none
	Refresh time.Duration // interval at which the script fetches the page; zero for never
	Data    any           // for the page's template
}

// A Link is a link in the header.
type Link struct {
	Text, Href string
	Here       bool // the link leads to this page
}

// Templates are the templates of pages, which Write renders in the frame. They are safe for concurrent use.
type Templates struct{ all *template.Template }

// Parse parses templates. It panics if they are invalid, because they are part of the program. Templates can use the
// functions of text/template and these:
//
//	cut N TEXT     the first N characters, and the length of the text
//	duration D     "1.23ms"
//	size BYTES     "1.50 KiB"
//	number FLOAT   "42", "0.123"
//	clock TIME     "15:04:05.000"
//	date TIME      "2006-01-02 15:04:05.000Z"
//	iso TIME       for <time datetime>
//	plural N WORD  "1 span", "2 spans"
//	parts KEY      a dotted name with possible line breaks between its parts
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

// Part returns a template as a part of another page.
func (t *Templates) Part(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := t.all.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err // escaped by its template
}

// Write responds with a template in the frame, or with Not Modified if the client has the same page.
func (t *Templates) Write(w http.ResponseWriter, r *http.Request, status int, name string, p Page) error {
	var main, whole bytes.Buffer
	if err := t.all.ExecuteTemplate(&main, name, p.Data); err != nil {
		return err
	}
	err := t.all.ExecuteTemplate(&whole, "frame", map[string]any{
		"Page":  p,
		"Main":  template.HTML(main.String()), // already escaped by its template
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

// WriteJSON responds with v as indented JSON.
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

// WantsJSON reports whether a request prefers JSON over a page, according to its path or its Accept header.
func WantsJSON(r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, ".json") {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// send sends a body with headers that forbid caching, because the body changes and may be private. If the request's
// ETag matches, send responds with Not Modified instead.
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
		_, _ = w.Write(body) // a client that has disconnected needs no body
	}
}
