package auth

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// redacted replaces secrets in printed values.
const redacted = "[redacted]"

// redact returns redacted for a text and the empty string for an empty text.
func redact(s string) string {
	if s == "" {
		return ""
	}
	return redacted
}

// withoutQuery returns a URL without its query, which may contain secrets.
func withoutQuery(u string) string {
	page, _, _ := strings.Cut(u, "?")
	return page
}

// show prints the LogValue of a value, for all verbs of package fmt.
func show(f fmt.State, name string, shown slog.Value) {
	_, _ = fmt.Fprintf(f, "%s%v", name, shown)
}

// marshalLogValue encodes the LogValue of a value. Log handlers encode nested values with encoding/json, which calls
// MarshalJSON.
func marshalLogValue(shown slog.Value) ([]byte, error) { return json.Marshal(plain(shown)) }

func plain(v slog.Value) any {
	if v.Kind() != slog.KindGroup {
		return v.Any()
	}
	members := map[string]any{}
	for _, a := range v.Group() {
		members[a.Key] = plain(a.Value)
	}
	return members
}

// LogValue returns all fields without the secrets.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("access_token", redact(t.AccessToken)),
		slog.String("refresh_token", redact(t.RefreshToken)),
		slog.String("token_type", t.TokenType),
		slog.Time("expiry", t.Expiry),
		slog.String("scope", strings.Join(t.Scopes, " ")),
		slog.String("id_token", redact(t.IDToken)),
	)
}

// LogValue returns all fields without the secret.
func (c Credentials) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("issuer", c.Issuer),
		slog.String("client_id", c.ClientID),
		slog.String("client_secret", redact(c.ClientSecret)),
		slog.Time("secret_expiry", c.SecretExpiry),
		slog.String("token_auth_method", c.TokenAuthMethod),
		slog.Any("redirect_uris", c.RedirectURIs),
	)
}

// LogValue returns all fields without the secrets.
func (r Record) LogValue() slog.Value {
	var attrs []slog.Attr
	if r.Credentials != nil {
		attrs = append(attrs, slog.Attr{Key: "credentials", Value: r.Credentials.LogValue()})
	}
	if r.Token != nil {
		attrs = append(attrs, slog.Attr{Key: "token", Value: r.Token.LogValue()})
	}
	return slog.GroupValue(append(attrs,
		slog.String("requested_scope", strings.Join(r.RequestedScopes, " ")),
		slog.String("dpop_key", redact(string(r.DPoPKey))),
	)...)
}

// LogValue returns all fields without the URL's query and the state.
func (r InteractionRequest) LogValue() slog.Value {
	page := withoutQuery(r.URL)
	return slog.GroupValue(
		slog.String("url", page),
		slog.String("redirect_uri", r.RedirectURI),
		slog.String("state", redact(r.State)),
		slog.String("resource", withoutQuery(r.Resource)),
		slog.String("issuer", r.Issuer),
		slog.String("scope", strings.Join(r.Scopes, " ")),
	)
}

// LogValue returns all fields without code and state.
func (r Redirect) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("code", redact(r.Code)),
		slog.String("state", redact(r.State)),
		slog.String("iss", r.Issuer),
		slog.String("error", r.Error),
		slog.String("error_description", r.ErrorDescription),
	)
}

// Format prints LogValue for all verbs.
func (t Token) Format(f fmt.State, _ rune) { show(f, "Token", t.LogValue()) }

// MarshalJSON encodes LogValue. Stores must use [EncodeRecord] instead.
func (t Token) MarshalJSON() ([]byte, error) { return marshalLogValue(t.LogValue()) }

// Format prints LogValue for all verbs.
func (c Credentials) Format(f fmt.State, _ rune) { show(f, "Credentials", c.LogValue()) }

// MarshalJSON encodes LogValue. Stores must use [EncodeRecord] instead.
func (c Credentials) MarshalJSON() ([]byte, error) { return marshalLogValue(c.LogValue()) }

// Format prints LogValue for all verbs.
func (r Record) Format(f fmt.State, _ rune) { show(f, "Record", r.LogValue()) }

// MarshalJSON encodes LogValue. Stores must use [EncodeRecord] instead.
func (r Record) MarshalJSON() ([]byte, error) { return marshalLogValue(r.LogValue()) }

// Format prints LogValue for all verbs.
func (r InteractionRequest) Format(f fmt.State, _ rune) { show(f, "InteractionRequest", r.LogValue()) }

// MarshalJSON encodes LogValue.
func (r InteractionRequest) MarshalJSON() ([]byte, error) { return marshalLogValue(r.LogValue()) }

// Format prints LogValue for all verbs.
func (r Redirect) Format(f fmt.State, _ rune) { show(f, "Redirect", r.LogValue()) }

// MarshalJSON encodes LogValue.
func (r Redirect) MarshalJSON() ([]byte, error) { return marshalLogValue(r.LogValue()) }
