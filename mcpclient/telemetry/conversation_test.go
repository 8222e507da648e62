package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// membersOf returns the members of ctx's baggage that the other end of a connection gets.
func membersOf(t interface{ Fatal(...any) }, ctx context.Context) map[string]string {
	b, err := baggage.Parse(baggage.FromContext(ctx).String())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range b.Members() {
		all[m.Key()] = m.Value()
	}
	return all
}

func carrying(t *testing.T, text string) context.Context {
	b, err := baggage.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(t.Context(), b)
}

func TestConversationIsInBaggage(t *testing.T) {
	ctx, err := telemetry.ContextWithConversation(carrying(t, "tenant=acme;p=1,gen_ai.agent.name=before"),
		telemetry.Conversation{ID: "c 1, ü", Agent: "planner", Session: "s-1", User: "ada@example.com",
			UserKey: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"tenant": "acme", "gen_ai.conversation.id": "c 1, ü", "gen_ai.agent.name": "planner", "session.id": "s-1",
		// echo -n ada@example.com | openssl dgst -sha256 -hmac k
		"user.hash": "12016e848bcbd7077260c2422bc708e7e1ed5325b751a6985c22253d7a5d87ff",
	}
	if got := membersOf(t, ctx); !maps.Equal(got, want) {
		t.Errorf("the baggage: got %q, want %q", got, want)
	}
	if got := baggage.FromContext(ctx).Member("tenant").String(); got != "tenant=acme;p=1" {
		t.Errorf("another member: got %q, want it unchanged", got)
	}

	ctx, err = telemetry.ContextWithConversation(ctx, telemetry.Conversation{Agent: "searcher", User: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	want["gen_ai.agent.name"] = "searcher"
	// echo -n ada@example.com | sha256sum
	want["user.hash"] = "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"
	if got := membersOf(t, ctx); !maps.Equal(got, want) {
		t.Errorf("the baggage of a called agent: got %q, want %q", got, want)
	}
}

func TestInvalidConversationIsError(t *testing.T) {
	large := strings.Repeat("a", 8100)
	for _, at := range []struct {
		name, before string
		c            telemetry.Conversation
		want         string
	}{
		{"too long", "", telemetry.Conversation{ID: strings.Repeat("i", 257)},
			"telemetry: gen_ai.conversation.id has 257 bytes, more than 256"},
		{"invalid UTF-8", "", telemetry.Conversation{Agent: "\xff"}, "telemetry: gen_ai.agent.name: invalid value"},
		{"no room", "tenant=" + large, telemetry.Conversation{Session: strings.Repeat("s", 200)},
			"telemetry: the baggage cannot hold the conversation: "},
	} {
		before := carrying(t, at.before)
		ctx, err := telemetry.ContextWithConversation(before, at.c)
		if err == nil || !strings.HasPrefix(err.Error(), at.want) || ctx != before {
			t.Errorf("%s: got error %v, want an error that begins with %q, and the context unchanged", at.name, err, at.want)
		}
	}
}

// For any conversation, either the other end gets the conversation and all earlier members of the baggage, or there is
// an error and the baggage is unchanged. The user's id appears nowhere.
func TestConversationKeepsOtherBaggage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := map[string]string{}
		ctx := context.Background()
		for _, key := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-z]{1,8}|session\.id`), rapid.ID).Draw(t, "keys") {
			value := rapid.String().Draw(t, "value")
			m, err := baggage.NewMemberRaw(key, value)
			b, full := baggage.FromContext(ctx).SetMember(m)
			if err == nil && full == nil && len(b.String()) < 8000 && b.Len() <= 64 {
				ctx, before[key] = baggage.ContextWithBaggage(ctx, b), value
			}
		}
		c := telemetry.Conversation{
			ID: rapid.String().Draw(t, "id"), Agent: rapid.String().Draw(t, "agent"),
			Session: rapid.String().Draw(t, "session"), User: rapid.StringMatching(`(USER[0-9]{4})?`).Draw(t, "user"),
			UserKey: rapid.SliceOf(rapid.Byte()).Draw(t, "key"),
		}
		after, err := telemetry.ContextWithConversation(ctx, c)
		if err != nil {
			if after != ctx {
				t.Fatalf("with the error %v the context has changed", err)
			}
			return
		}
		want := maps.Clone(before)
		for key, value := range map[string]string{"gen_ai.conversation.id": c.ID, "gen_ai.agent.name": c.Agent,
			"session.id": c.Session} {
			if value != "" {
				want[key] = value
			}
		}
		got := membersOf(t, after)
		if hash := got["user.hash"]; c.User != "" {
			if len(hash) != 64 {
				t.Fatalf("the user's hash is %q", hash)
			}
			want["user.hash"] = hash
		}
		if !maps.Equal(got, want) || c.User != "" && strings.Contains(baggage.FromContext(after).String(), c.User) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestLogLinesHaveConversation(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(&b, nil), telemetry.ConversationKeys()...))
	log = log.With("a", 1).WithGroup("g").With("b", 2)
	ctx, err := telemetry.ContextWithConversation(carrying(t, "tenant=acme,user.hash="+strings.Repeat("x", 257)),
		telemetry.Conversation{ID: "c-1", Agent: "planner"})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"in a conversation", ctx, `"a":1,"g":{"b":2,"c":3},"gen_ai.conversation.id":"c-1","gen_ai.agent.name":"planner"}`},
		{"without a conversation", t.Context(), `"a":1,"g":{"b":2,"c":3}}`},
	} {
		b.Reset()
		log.InfoContext(at.ctx, "m", "c", 3)
		if !json.Valid(b.Bytes()) || !strings.HasSuffix(b.String(), at.want+"\n") {
			t.Errorf("%s: got %s, want it to end with %s", at.name, b.String(), at.want)
		}
	}
}
