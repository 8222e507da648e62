package receiver

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Slack posts messages to an incoming webhook of Slack
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
type Slack struct{ hook *webhook }

// NewSlack returns a sink for the webhook at address. The address is a secret.
func NewSlack(address string) (*Slack, error) {
	hook, err := newWebhook(address, "")
	return &Slack{hook}, err
}

// Name implements [Sink].
func (s *Slack) Name() string { return "slack" }

// Deliver implements [Sink].
func (s *Slack) Deliver(ctx context.Context, m *Message) error {
	return s.hook.post(ctx, slackMessage(m))
}

// Limits of Slack, in characters (https://docs.slack.dev/reference/block-kit/blocks). A cut text ends with an ellipsis.
const (
	maxHeader  = 150
	maxSection = 3000
)

// slackPost is the body of an incoming webhook. Text is shown where blocks cannot be, such as in notifications.
type slackPost struct {
	Text        string       `json:"text"`
	Markdown    bool         `json:"mrkdwn"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
	Blocks      []slackBlock `json:"blocks,omitempty"`
}

type slackBlock struct {
	Type string    `json:"type"` // header or section
	Text slackText `json:"text"`
}

// slackText is a text object. Untrusted texts are plain_text, in which Slack interprets no markup. In addition, they
// have no control characters of Slack.
type slackText struct {
	Type     string `json:"type"` // plain_text or mrkdwn
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitempty"`    // of plain_text: whether :names: become emoji
	Verbatim bool   `json:"verbatim,omitempty"` // of mrkdwn: no links for names and addresses in the text
}

// slackMessage returns the message in Slack's format.
func slackMessage(m *Message) slackPost {
	post := slackPost{Text: slackEscape(m.title(), maxSection)}
	if m.Summary != "" {
		post.Text = slackEscape(m.title()+": "+m.Summary, maxSection)
	}
	if m.Status == Resolved {
		post.Text = slackEscape(m.resolvedLine(), maxSection)
		return post
	}
	add := func(kind, text string, most int) {
		if text = strings.TrimSpace(text); text != "" {
			post.Blocks = append(post.Blocks, slackBlock{kind,
				slackText{Type: "plain_text", Text: slackEscape(text, most), Emoji: new(false)}})
		}
	}
	add("header", m.title(), maxHeader)
	add("section", m.summary(), maxSection)
	for i := range m.Causes {
		add("section", causeText(&m.Causes[i]), maxSection)
	}
	add("section", m.rest(), maxSection)
	var links []string
	for _, l := range m.links() {
		links = append(links, "<"+slackURL(l.URL)+"|"+l.Text+">")
	}
	if links != nil {
		post.Blocks = append(post.Blocks, slackBlock{"section",
			slackText{Type: "mrkdwn", Text: strings.Join(links, " · "), Verbatim: true}})
	}
	return post
}

// slackEscaper replaces the control characters of Slack
// (https://docs.slack.dev/messaging/formatting-message-text#escaping).
var slackEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackEscape returns at most n characters of escaped text. It does not cut an escape sequence.
func slackEscape(text string, n int) string {
	escaped := slackEscaper.Replace(text)
	if utf8.RuneCountInString(escaped) <= n {
		return escaped
	}
	var b strings.Builder
	left := n - 1 // one for the ellipsis
	for _, r := range text {
		part := slackEscaper.Replace(string(r))
		if left -= utf8.RuneCountInString(part); left < 0 {
			break
		}
		b.WriteString(part)
	}
	return b.String() + "…"
}

// slackURL prepares a configured URL for a Slack link, <URL|text>: it escapes &, <, > and |, which have a meaning in
// the link.
func slackURL(address string) string {
	return strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C").Replace(visible.Line(address))
}
