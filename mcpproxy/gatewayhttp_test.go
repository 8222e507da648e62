package mcpproxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// get returns what a handler answers.
func get(h http.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
}
