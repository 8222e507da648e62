package auth

import (
	"encoding/json"
	"errors"
	"time"
)

// recordFormat is the version of the record format. Each encoded record contains it.
const recordFormat = 1

// The stored types contain each secret in plain text, unlike the types that they store, which hide their secrets when
// printed.
type (
	storedRecord struct {
		Format          int                `json:"format"`
		Credentials     *storedCredentials `json:"credentials,omitempty"`
		Token           *storedToken       `json:"token,omitempty"`
		RequestedScopes []string           `json:"requested_scopes,omitempty"`
		DPoPKey         []byte             `json:"dpop_key,omitempty"`
	}
	storedToken struct {
		AccessToken  string    `json:"access_token,omitempty"`
		RefreshToken string    `json:"refresh_token,omitempty"`
		TokenType    string    `json:"token_type,omitempty"`
		Expiry       time.Time `json:"expiry,omitzero"`
		Scopes       []string  `json:"scopes,omitempty"`
		IDToken      string    `json:"id_token,omitempty"`
	}
	storedCredentials struct {
		Issuer          string    `json:"issuer,omitempty"`
		ClientID        string    `json:"client_id,omitempty"`
		ClientSecret    string    `json:"client_secret,omitempty"`
		SecretExpiry    time.Time `json:"secret_expiry,omitzero"`
		TokenAuthMethod string    `json:"token_auth_method,omitempty"`
		RedirectURIs    []string  `json:"redirect_uris,omitempty"`
	}
)

// EncodeRecord returns r as JSON with all its secrets, for a [TokenStore] that only the user can read. It is the only
// function of this package that writes secrets.
func EncodeRecord(r *Record) ([]byte, error) {
	if r == nil {
		return nil, errors.New("no record to encode")
	}
	return json.Marshal(storedRecord{
		Format:          recordFormat,
		Credentials:     (*storedCredentials)(r.Credentials),
		Token:           (*storedToken)(r.Token),
		RequestedScopes: r.RequestedScopes,
		DPoPKey:         r.DPoPKey,
	})
}

// DecodeRecord decodes the output of [EncodeRecord]. Its errors contain no part of data.
func DecodeRecord(data []byte) (*Record, error) {
	var s storedRecord
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, jsonErrorWithoutText(err)
	}
	if s.Format != recordFormat {
		return nil, errors.New("record has a format that this version of the program does not support")
	}
	return &Record{
		Credentials:     (*Credentials)(s.Credentials),
		Token:           (*Token)(s.Token),
		RequestedScopes: s.RequestedScopes,
		DPoPKey:         s.DPoPKey,
	}, nil
}

// jsonErrorWithoutText describes an error of encoding/json without any text of the JSON, which may contain secrets.
func jsonErrorWithoutText(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return errors.New("record has a value of the wrong type in " + wrong.Field)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return errors.New("record is not valid JSON")
	}
	return errors.New("record has a value that cannot be read")
}
