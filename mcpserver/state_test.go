package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/server/engine"
)

func sealerOf(t testing.TB, keys ...[]byte) *sealer {
	t.Helper()
	s, err := newSealer(keys, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keyOfByte(b byte) []byte { return bytes.Repeat([]byte{b}, stateKeySize) }

var someTime = time.UnixMilli(1_800_000_000_000)

func drawState(t *rapid.T) state {
	st := state{Round: rapid.IntRange(1, 1<<20).Draw(t, "round"), Own: rapid.String().Draw(t, "own")}
	for _, key := range rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "keys") {
		if st.Answers == nil {
			st.Answers, st.Done = map[string]json.RawMessage{}, map[string]json.RawMessage{}
		}
		st.Answers[key] = json.RawMessage(`{"action":"accept","content":{"n":9007199254740993}}`)
		st.Done[key] = json.RawMessage(`"<done>"`)
	}
	return st
}

func TestSealedStateRoundTrips(t *testing.T) {
	s := sealerOf(t)
	rapid.Check(t, func(t *rapid.T) {
		st, binding := drawState(t), rapid.SliceOf(rapid.Byte()).Draw(t, "binding")
		text, err := s.seal(st, binding, someTime)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.seal(st, binding, someTime)
		if err != nil || again == text {
			t.Errorf("a state sealed twice gave the same text, %v, want another nonce", err)
		}
		got, err := s.open(text, binding, someTime.Add(time.Minute-time.Millisecond))
		st.Expires = someTime.Add(time.Minute).UnixMilli()
		if diff := cmp.Diff(st, got); err != nil || diff != "" {
			t.Errorf("opened with error %v, want the sealed state (-want +got):\n%s", err, diff)
		}
	})
}

func TestModifiedSealedStateIsRejected(t *testing.T) {
	s := sealerOf(t)
	rapid.Check(t, func(t *rapid.T) {
		text, err := s.seal(drawState(t), []byte("binding"), someTime)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			bit := rapid.IntRange(0, 8*len(raw)-1).Draw(t, "bit")
			changed := bytes.Clone(raw)
			changed[bit/8] ^= 1 << (bit % 8)
			if _, err := s.open(base64.RawURLEncoding.EncodeToString(changed), []byte("binding"), someTime); !errors.Is(err,
				errStateInvalid) {
				t.Errorf("with bit %d flipped the state opens with %v, want %v", bit, err, errStateInvalid)
			}
			i := rapid.IntRange(0, len(text)-1).Draw(t, "character")
			other := []byte(text)
			other[i] = rapid.SampledFrom([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"+
				"0123456789-_+/= \n")).Draw(t, "to")
			if string(other) == text {
				continue
			}
			if _, err := s.open(string(other), []byte("binding"), someTime); !errors.Is(err, errStateInvalid) {
				t.Errorf("with character %d changed the state opens with %v, want %v", i, err, errStateInvalid)
			}
		}
		for _, other := range []string{"", text + "A", text + "-TAMPERED", text + "\n", text[:len(text)-1], text + "=",
			text[:8]} {
			if _, err := s.open(other, []byte("binding"), someTime); !errors.Is(err, errStateInvalid) {
				t.Errorf("%q opens with %v, want %v", other, err, errStateInvalid)
			}
		}
	})
}

func TestSealedStateHasBindingAndExpiry(t *testing.T) {
	s := sealerOf(t)
	text, err := s.seal(state{Round: 1}, []byte("mine"), someTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, binding string
		after         time.Duration
		want          error
	}{
		{"in time", "mine", time.Minute - time.Millisecond, nil},
		{"of another", "yours", 0, errStateInvalid},
		{"of another, expired", "yours", time.Hour, errStateInvalid},
		{"at its expiry", "mine", time.Minute, errStateExpired},
	} {
		if _, err := s.open(text, []byte(tt.binding), someTime.Add(tt.after)); !errors.Is(err, tt.want) {
			t.Errorf("%s: opened with %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestStateKeysCanBeRotated(t *testing.T) {
	first, both, second := sealerOf(t, keyOfByte(1)), sealerOf(t, keyOfByte(2), keyOfByte(1)), sealerOf(t, keyOfByte(2))
	old, err := first.seal(state{Own: "old"}, nil, someTime)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := both.seal(state{Own: "new"}, nil, someTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		by         *sealer
		want       error
	}{
		{"old by both", old, both, nil},
		{"new by both", fresh, both, nil},
		{"new by the new key", fresh, second, nil},
		{"old by the new key", old, second, errStateInvalid},
		{"new by the old key", fresh, first, errStateInvalid},
		{"by a random key", old, sealerOf(t), errStateInvalid},
	} {
		if _, err := tt.by.open(tt.text, nil, someTime); !errors.Is(err, tt.want) {
			t.Errorf("%s: opened with %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := newSealer([][]byte{keyOfByte(1), make([]byte, 16)}, time.Minute); err == nil ||
		!strings.Contains(err.Error(), "StateKeys[1] has 16 bytes, want 32") {
		t.Errorf("a short key gave %v, want an error that names it", err)
	}
}

func TestSealedStateSizeIsLimited(t *testing.T) {
	s := sealerOf(t)
	if _, err := s.seal(state{Own: strings.Repeat("x", maxState)}, nil, someTime); !errors.Is(err, errStateTooLarge) {
		t.Errorf("a large state was sealed with %v, want %v", err, errStateTooLarge)
	}
	if _, err := s.open(strings.Repeat("A", maxState+1), nil, someTime); !errors.Is(err, errStateInvalid) {
		t.Errorf("a large text was opened with %v, want %v", err, errStateInvalid)
	}
}

func TestBindingIgnoresEncodingOfParams(t *testing.T) {
	bindingOf := func(principal, method, params string) string {
		x := &exchange{s: &Server{}}
		x.Client = &engine.Peer{Principal: principal}
		c := &call{x: x, params: json.RawMessage(params)}
		c.info.Method = method
		b, err := c.binding()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const params = `{"name":"order","arguments":{"item":"caf\u00e9","count":9007199254740993,"list":[1,2]},` +
		`"_meta":{"a":1}}`
	mine := bindingOf("alice", "tools/call", params)
	for _, same := range []string{
		`{ "arguments" : {"count":9007199254740993, "list":[1,2], "item":"café"}, "name":"order" }`,
		`{"name":"order","arguments":{"item":"café","count":9007199254740993,"list":[1,2]},"inputResponses":{},` +
			`"requestState":"x"}`,
	} {
		if bindingOf("alice", "tools/call", same) != mine {
			t.Errorf("%s has another binding, want the binding of the same params", same)
		}
	}
	for _, other := range [][3]string{
		{"bob", "tools/call", params},
		{"", "tools/call", params},
		{"alice", "prompts/get", params},
		{"alice", "tools/call", strings.Replace(params, "order", "refund", 1)},
		{"alice", "tools/call", strings.Replace(params, "740993", "740992", 1)},
		{"alice", "tools/call", strings.Replace(params, "[1,2]", "[2,1]", 1)},
		{"alice", "tools/call", strings.Replace(params, `"_meta"`, `"more"`, 1)},
		{"alice", "tools/call", `{}`},
		{"alic", "etools/call", params},
	} {
		if bindingOf(other[0], other[1], other[2]) == mine {
			t.Errorf("%q has the same binding, want another", other)
		}
	}
}
