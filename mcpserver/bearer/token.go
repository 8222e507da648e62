package bearer

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// tokenOf returns the bearer token of a request (RFC 6750 §2.1). Credentials of another scheme count as no token.
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
	if !hostname.Token68(token) {
		return "", malformed("the Authorization header has no token of RFC 6750")
	}
	return token, nil
}

func malformed(why string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", err: errors.New(why)}
}
