package auth

import (
	"fmt"
	"log/slog"
)

// secret keeps a text from everything that prints what it is given, package fmt with any verb included. The text is
// behind a pointer because fmt calls no method of a value in an unexported field: it prints what it finds, and of a
// pointer there it prints the address. The zero secret is empty.
type secret struct{ text *string }

func newSecret(s string) secret {
	if s == "" {
		return secret{}
	}
	return secret{&s}
}

// reveal returns the text, for a request's body or header and nothing else.
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
