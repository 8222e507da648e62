package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsNotPrinted(t *testing.T) {
	s := newSecret("hush-hush")
	type holder struct {
		Seen   secret
		unseen secret
	}
	var out bytes.Buffer
	for _, v := range []any{s, &s, holder{s, s}, &holder{s, s}, []secret{s}, map[string]holder{"a": {s, s}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			_, _ = fmt.Fprintf(&out, verb, v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("", "value", v)
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(out.String(), "hush") || strings.Contains(out.String(), fmt.Sprintf("%x", "hush")) {
		t.Errorf("the secret is in %s", &out)
	}
	if s.reveal() != "hush-hush" {
		t.Errorf("reveal() = %q, want the secret", s.reveal())
	}
	if empty := newSecret(""); empty.reveal() != "" || fmt.Sprint(empty) != "" || empty != (secret{}) {
		t.Errorf("an empty secret is %q and prints as %q, want nothing", empty.reveal(), fmt.Sprint(empty))
	}
}
