package auth

import (
	"fmt"
	"log/slog"
)

// secret hides a text from all code that prints values, including package fmt with any verb. The text is behind a
// pointer because fmt calls no methods of unexported fields: it prints the contents of such a field, and if the content
// is a pointer, only the address. The zero secret is empty.
type secret struct{ text *string }

func newSecret(s string) secret {
	if s == "" {
		return secret{}
	}
	return secret{&s}
}

// reveal returns the text, only for the body or header of a request.
func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

func (s secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(s.shown())) }
func (s secret) LogValue() slog.Value         { return slog.StringValue(s.shown()) }
func (s secret) MarshalText() ([]byte, error) { return []byte(s.shown()), nil }

func (s secret) shown() string { return redact(s.reveal()) }
