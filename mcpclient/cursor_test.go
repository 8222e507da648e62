package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// listingAll is the discover result of a modern server that has all kinds of lists and declares how long they are
// fresh.
const listingAll = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},` +
	`"prompts":{},` +
	`"resources":{}},"ttlMs":0,"cacheScope":"private"}`

// toolsPage returns a page of tools. names contains the tools' names, separated by spaces; more contains further
// members of the page.
func toolsPage(names, more string) string {
	var tools []string
	for name := range strings.FieldsSeq(names) {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	return `{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[` + strings.Join(tools,
		",") + `]` + more + `}`
}

// namesOf lists the tools in the background. The channel receives their names and the error that ended the list.
func namesOf(c *mcpclient.Client) <-chan string {
	done := make(chan string, 1)
	go func() {
		var names []string
		for tool, err := range c.Tools(context.Background()) {
			if err != nil {
				names = append(names, err.Error())
				break
			}
			names = append(names, tool.Name)
		}
		done <- strings.Join(names, " ")
	}()
	return done
}

// wantPage receives a request for a page of the tools, which must have this cursor. The cursor "none" means that the
// request has no cursor.
func (c *conversation) wantPage(cursor string) frame {
	c.t.Helper()
	f := c.Expect(mcp.MethodListTools)
	if got := paramsOf(c.t, f); cursor == "none" && strings.Contains(got, "cursor") || cursor != "none" &&
		got != `{"cursor":`+cursor+`}` {
		c.t.Fatalf("want a request for the page with the cursor %s, got %s", cursor, got)
	}
	return f
}

// stranger calls a tool, which the server answers. It reports whether the metrics omit the tool's name. The metrics
// omit the name if the client knows that the server does not list the tool.
func (c *conversation) stranger(of *mcpclient.Client, rec *telemetrytest.Recording, tool string) bool {
	c.t.Helper()
	named := func() uint64 {
		return rec.Count(names.MetricMCPClientOperationDuration, names.KeyGenAIToolName, tool)
	}
	before := named()
	c.calls(of, tool)
	return named() == before
}

// An empty cursor is a valid cursor. A list ends only if a page has no cursor. (specification 2026-07-28,
// server/utilities/pagination)
func TestEmptyCursorIsSentForNextPage(t *testing.T) {
	for _, null := range []string{``, `,"nextCursor":null`} {
		rec := telemetrytest.Recorder(t)
		bubble(t, &mcpclient.Options{Telemetry: rec.Telemetry()}, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			v.Answer(v.Expect(mcp.MethodDiscover), listingAll)
			await(t, c)
			done := namesOf(c)
			v.Answer(v.wantPage("none"), toolsPage("one", `,"nextCursor":""`))
			v.Answer(v.wantPage(`""`), toolsPage("two", `,"nextCursor":"3"`))
			third := v.wantPage(`"3"`)
			if v.stranger(c, rec, "three") {
				t.Error("the client considers the list complete after its first page, want after the last page")
			}
			v.Answer(third, toolsPage("three", null))
			if got := <-done; got != "one two three" {
				t.Errorf("the list has %q, want the tools of all three pages", got)
			}
			if got := <-namesOf(c); got != "one two three" { // each page is cached under its own cursor
				t.Errorf("the cached list has %q, want the tools of all three pages", got)
			}
			if !v.stranger(c, rec, "four") {
				t.Error("the client considers the list incomplete after its last page")
			}
		})
	}
}

// Some servers end a list with an empty cursor. If the client asks for the next page, they begin the list again, or
// refuse.
func TestEmptyCursorMayEndTheList(t *testing.T) {
	for name, answer := range map[string]func(v *conversation){
		"begins again": func(v *conversation) { v.Answer(v.wantPage(`""`), toolsPage("a b", `,"nextCursor":""`)) },
		"refuses":      func(v *conversation) { v.Refuse(v.wantPage(`""`), mcp.CodeInvalidParams, "no such page") },
	} {
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := namesOf(c)
			v.Answer(v.wantPage("none"), toolsPage("a b", `,"nextCursor":""`))
			answer(v)
			if got := <-done; got != "a b" {
				t.Errorf("a server that %s: got %q, want each tool once", name, got)
			}
		})
	}
}

// If the server no longer knows a cursor, the list has changed. (specification 2026-07-28, server/utilities/caching,
// "Interaction with Pagination")
func TestInvalidCursorRestartsTheList(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := namesOf(c)
		v.Answer(v.wantPage("none"), toolsPage("a b", `,"nextCursor":"2"`))
		v.Refuse(v.wantPage(`"2"`), mcp.CodeInvalidParams, "no such page")
		// the client requests the first page again, and does not use the cached one
		v.Answer(v.wantPage("none"), toolsPage("b c", `,"nextCursor":"2"`))
		v.Answer(v.wantPage(`"2"`), toolsPage("d a", ``))
		if got := <-done; got != "a b c d" {
			t.Errorf("the list has %q, want each tool once", got)
		}
		for tool, gone := range map[string]bool{"a": false, "b": false, "c": false, "d": false, "e": true} {
			if v.stranger(c, rec, tool) != gone {
				t.Errorf("is %s missing in the list: got %v, want %v", tool, !gone, gone)
			}
		}

		v.toolsChanged(c)
		done = namesOf(c)
		v.Answer(v.wantPage("none"), toolsPage("a x", `,"nextCursor":"2"`))
		v.Refuse(v.wantPage(`"2"`), mcp.CodeInvalidParams, "no such page")
		v.Answer(v.wantPage("none"), toolsPage("a", ``))
		if got := <-done; got != "a x" || !v.stranger(c, rec, "x") {
			t.Errorf("the list has %q; want x removed, because the new list does not have it", got)
		}
	})
}

func TestListRestartsAtMostOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		serve func(v *conversation)
	}{
		{"the cursor is refused again", func(v *conversation) {
			for range 2 {
				v.Answer(v.wantPage("none"), toolsPage("a", `,"nextCursor":"2"`))
				v.Refuse(v.wantPage(`"2"`), mcp.CodeInvalidParams, "no such page")
			}
		}},
		{"the first page is refused", func(v *conversation) {
			v.Refuse(v.wantPage("none"), mcp.CodeInvalidParams, "no such page")
		}},
		{"another error", func(v *conversation) {
			v.Answer(v.wantPage("none"), toolsPage("a", `,"nextCursor":"2"`))
			v.Refuse(v.wantPage(`"2"`), mcp.CodeInternalError, "no such page")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				done := namesOf(c)
				test.serve(v)
				if got := <-done; !strings.HasSuffix(got, "no such page") {
					t.Errorf("got %q, want the server's error at the end", got)
				}
			})
		})
	}
}

// Some servers do not support pages, and answer each cursor with the first page.
func TestListWithRepeatedCursorYieldsEachItemOnce(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := make(chan error)
		var names []string
		go func() {
			var last error
			for tool, err := range c.Tools(t.Context(), mcpclient.WithoutCache()) {
				if last = err; err == nil {
					names = append(names, tool.Name)
				}
			}
			done <- last
		}()
		v.Answer(v.wantPage("none"), toolsPage("a b", `,"nextCursor":"2"`))
		v.Answer(v.wantPage(`"2"`), toolsPage("a b c", `,"nextCursor":"2"`))
		err := <-done
		if e, ok := errors.AsType[*mcpclient.Error](err); !errors.Is(err, mcpclient.ErrListCutShort) || !ok ||
			e.Kind != mcpclient.KindProtocol {
			t.Errorf("got %v, want %v of kind %s", err, mcpclient.ErrListCutShort, mcpclient.KindProtocol)
		}
		if got := strings.Join(names, " "); got != "a b c" {
			t.Errorf("the list has %q, want each tool once", got)
		}
	})
}

// If the caller requests a single page, it gets the server's refusal. The client cannot restart the list, because only
// the caller knows the previous pages.
func TestSinglePageIsNotRestarted(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.ListTools(t.Context(), new("")); return err })
		v.Refuse(v.wantPage(`""`), mcp.CodeInvalidParams, "no such page")
		if e, ok := errors.AsType[*mcpclient.Error](<-done); !ok || e.Server == nil {
			t.Errorf("got %v, want the server's error", e)
		}
	})
}
