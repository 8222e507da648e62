package bearer

import (
	"errors"
	"net/http"
	"strings"
)

// tokenOf returns the token of a request (RFC 6750 §2.1). A request with credentials of another scheme has none.
func tokenOf(r *http.Request) (string, *refusal) {
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		return "", &refusal{status: http.StatusUnauthorized}
	}
	if len(fields) > 1 {
		return "", malformed("there is more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(strings.Trim(fields[0], " \t"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", &refusal{status: http.StatusUnauthorized}
	}
	token = strings.TrimLeft(token, " ")
	if body := strings.TrimRight(token, "="); body == "" || strings.ContainsFunc(body, notInToken) {
		return "", malformed("the Authorization header has no token of RFC 6750")
	}
	return token, nil
}

func malformed(why string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", err: errors.New(why)}
}

func notInToken(r rune) bool {
	alphanumeric := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !alphanumeric && !strings.ContainsRune("-._~+/", r)
}
