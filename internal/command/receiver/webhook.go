package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// A webhook posts JSON to one address. Errors contain neither the address nor the other secret.
type webhook struct {
	address string
	secret  string // another secret of the requests, or empty
	client  http.Client
}

// newWebhook returns a webhook. The address must have https, or http on this machine.
func newWebhook(address, secret string) (*webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" &&
		(u.Scheme != "http" || !hostname.Loopback(u.Hostname())) {
		return nil, errors.New("the address of the webhook is not a URL with https, or with http on this machine")
	}
	return &webhook{address: address, secret: secret, client: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// maxReason bounds the part of a response that an error quotes, in bytes.
const maxReason = 200

// post sends a value as JSON. Any status but 2xx is an error.
func (h *webhook) post(ctx context.Context, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of the webhook is invalid")
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := h.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which is a secret
		}
		return h.redacted(err.Error())
	}
	defer answer.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(answer.Body, maxReason)) // the status suffices
	if answer.StatusCode/100 != 2 {
		return h.redacted(fmt.Sprintf("HTTP %d: %s", answer.StatusCode, visible.Short(string(reason), maxReason)))
	}
	return nil
}

// redacted returns an error without the secrets.
func (h *webhook) redacted(text string) error {
	for _, secret := range []string{h.address, h.secret} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "REDACTED")
		}
	}
	return errors.New(text)
}
