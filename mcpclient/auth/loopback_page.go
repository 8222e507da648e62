package auth

import (
	"net/http"
	"strconv"
)

// page is the start of the page that the browser shows. The page contains no text of the redirect, which has not been
// checked yet.
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Authorization</title>
<style>
:root { color-scheme: light dark }
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem; text-align: center }
</style>
<h1>`

const (
	pageReceived = page +
		`You can close this window</h1><p>The program has received the response.</p>`
	pageRejected = page + `Unexpected response</h1><p>This response does not belong to a request of this program. ` +
		`If you were signing in, start again from the program.</p>`
)

// writePage sends the whole page before it returns.
func writePage(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}
