package instrument

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestFiveErrorCodesAreNotErrorsForReceiver(t *testing.T) {
	requestErrorCodes := map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}
	for code := int64(math.MinInt16); code <= math.MaxInt16; code++ {
		if !isError(telemetry.DirectionSent, code) {
			t.Errorf("code %d is not an error for the sender, want an error", code)
		}
		if got, want := isError(telemetry.DirectionReceived, code), !requestErrorCodes[code]; got != want {
			t.Errorf("code %d is an error for the receiver: got %v, want %v", code, got, want)
		}
	}
}

func TestTruncateKeepsWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		got := truncate(s, limit)
		if !strings.HasPrefix(s, got) || len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("truncate(%q, %d): got %q, want valid text of at most that length", s, limit, got)
		}
		if len(s) > limit && len(got) < limit-utf8.UTFMax+1 || len(s) <= limit && got != s {
			t.Fatalf("truncate(%q, %d): got %q, want the longest possible text", s, limit, got)
		}
	})
}

func TestTruncateReplacesInvalidUTF8(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"a\xff", "a?"}, {"\xff\xff\xff\xff\xff\xff", "?"}, {"é\xffé", "é"}, {strings.Repeat("\x80", 9), "?"}, {"", ""},
	} {
		if got := truncate(tt.s, 4); got != tt.want {
			t.Errorf("truncate(%q, 4): got %q, want %q", tt.s, got, tt.want)
		}
	}
}
