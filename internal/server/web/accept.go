package web

import (
	"net/http"
	"strconv"
	"strings"
)

// accept holds the response types that a client accepts.
type accept struct{ json, stream bool }

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// usual is the value that the specification requires clients to send.
const usual = typeJSON + ", " + typeStream

// accepted parses the header Accept. A client without the header accepts both types.
func accepted(h http.Header) (a accept) {
	values := h["Accept"]
	if len(values) == 0 || len(values) == 1 && values[0] == usual {
		return accept{true, true}
	}
	for _, value := range values {
		for entry := range strings.SplitSeq(value, ",") {
			a.add(entry)
		}
	}
	return a
}

// add adds one entry of the header.
func (a *accept) add(entry string) {
	media, params, _ := strings.Cut(entry, ";")
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); strings.EqualFold(strings.TrimSpace(name), "q") &&
			err == nil && q <= 0 {
			return
		}
	}
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "*/*":
		a.json, a.stream = true, true
	case typeJSON, "application/*":
		a.json = true
	case typeStream, "text/*":
		a.stream = true
	}
}

// isJSON reports whether the content type of a request is JSON.
func isJSON(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) != 1 {
		return false
	}
	if values[0] == typeJSON {
		return true
	}
	media, params, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.TrimSpace(media), typeJSON) && knownCharset(params)
}

// knownCharset reports whether the parameters of a media type name no charset other than UTF-8.
func knownCharset(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if strings.EqualFold(strings.TrimSpace(name), "charset") && !strings.EqualFold(value, "utf-8") {
			return false
		}
	}
	return true
}
