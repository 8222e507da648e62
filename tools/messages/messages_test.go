package messages

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// These tests provoke the errors that users may meet, and keep the messages on one page: testdata/messages.txt. Read
// the page aloud before you commit it. A message first states the failure in plain words, without the name of an
// internal step in front. Then it states the cause, and the next step (an option or a page) unless that is obvious.

var updateMessages = flag.Bool("update", false, "write testdata/messages.txt anew")

const messagesPage = "testdata/messages.txt"

// complaint is one failure and its message.
type complaint struct {
	when    string // the action of the user, or the event
	provoke func(t *testing.T) error
}

// chapter is a part of the page.
type chapter struct {
	title      string
	complaints []complaint
}

func TestMessagesSayWhatWentWrongAndWhatToDo(t *testing.T) {
	var page strings.Builder
	page.WriteString("What users are told when something goes wrong.\n" +
		"go -C tools test ./messages -update writes this page; read it aloud.\n")
	for _, c := range []chapter{processMessages, httpMessages, callMessages, serverAsksMessages, optionMessages} {
		fmt.Fprintf(&page, "\n== %s ==\n", c.title)
		for _, m := range c.complaints {
			err := m.provoke(t)
			if err == nil {
				t.Errorf("%s: want an error", m.when)
				continue
			}
			text := settledText(err.Error())
			if step := privateStep.FindString(text); step != "" {
				t.Errorf("%s: the message %q begins with a step of ours, %q", m.when, text, step)
			}
			fmt.Fprintf(&page, "\n%s\n    %s\n", m.when, strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	if *updateMessages {
		if err := os.WriteFile(messagesPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(messagesPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("messages have changed; if they are better now, run the test with -update (-want +got):\n%s", diff)
	}
}

// privateStep matches the names of internal steps, which mean nothing to a user.
var privateStep = regexp.MustCompile(`^(await|dial|probe|handshake|negotiate|decode|encode|open|send|receive): `)

// settledText returns text with a fixed replacement for each part that varies between runs.
func settledText(text string) string {
	for _, r := range []struct {
		what *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`process \d+`), "process 4711"},
		{regexp.MustCompile(`json: unable to`), "json: cannot"}, // each process of the library picks one of the two at random
		{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "$1:8080"},
		{regexp.MustCompile(`127\.0\.0\.1:8080->127\.0\.0\.1:8080`), "127.0.0.1:9090->127.0.0.1:8080"},
		{regexp.MustCompile(`/tmp/[^ "':,]+/`), "/tmp/"},
	} {
		text = r.what.ReplaceAllString(text, r.with)
	}
	return text
}

// once returns options of a client that makes one attempt to connect.
func once() *mcpclient.Options {
	return &mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}, Telemetry: telemetry.Off()}
}

// hasty returns options of a client that does not wait long for its server.
func hasty() *mcpclient.Options {
	o := once()
	o.Timeouts.Init, o.Timeouts.Start = time.Second, time.Second
	return o
}

// connecting returns the error of a client with these options that cannot connect to a server. nil stands for the
// options of once.
func connecting(t *testing.T, server transport.Transport, o *mcpclient.Options) error {
	if o == nil {
		o = once()
	}
	c, err := mcpclient.Connect(t.Context(), server, o)
	if err == nil {
		stop(t, c)
	}
	return err
}

// connected returns a client that is ready.
func connected(t *testing.T, server transport.Transport, o *mcpclient.Options) *mcpclient.Client {
	t.Helper()
	if o == nil {
		o = &mcpclient.Options{Telemetry: telemetry.Off()}
	}
	c, err := mcpclient.Connect(t.Context(), server, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
