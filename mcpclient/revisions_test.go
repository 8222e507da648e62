package mcpclient_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

var modernOnly = []mcp.Version{mcp.Version20260728}

// all declares every capability of a server. A server of 2024-11-05 has no completions, and the client ignores that
// member.
const all = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,` +
	`"subscribe":true},"completions":{},"logging":{}}`

// greet plays the handshake of a server of one revision, with these capabilities.
func (c *conversation) greet(v mcp.Version, capabilities string) *conversation {
	c.t.Helper()
	if v.Era() == mcp.Modern {
		c.Answer(c.Expect(mcp.MethodDiscover), fmt.Sprintf(
			`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private"}`, v,
			capabilities))
		return c
	}
	c.Answer(c.Expect(mcp.MethodInitialize), fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"legacy","version":"1"}}`, v, capabilities))
	c.Expect(mcp.NotificationInitialized)
	return c
}

// revision is a bubble with a ready client and a server of one revision.
type revision struct {
	*conversation
	v mcp.Version
	s *script
	c *mcpclient.Client

	subscription string // ID of the latest subscription that the server has acknowledged
}

// modern reports whether the revision belongs to the modern era.
func (r *revision) modern() bool { return r.v.Era() == mcp.Modern }

// reconnect ends the connection, and plays the handshake of the next one.
func (r *revision) reconnect(capabilities string) {
	r.t.Helper()
	r.Close()
	t := r.t
	r.conversation = r.s.next(t).greet(r.v, capabilities)
	await(t, r.c)
}

// inRevisions runs f for each of these revisions.
func inRevisions(t *testing.T, versions []mcp.Version, capabilities string, o mcpclient.Options,
	f func(t *testing.T, r *revision)) {
	t.Helper()
	for _, v := range versions {
		t.Run(string(v), func(t *testing.T) {
			o := o
			o.Versions = []mcp.Version{v}
			bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
				r := &revision{v: v, s: s, c: c, conversation: s.next(t).greet(v, capabilities)}
				await(t, c)
				f(t, r)
			})
		})
	}
}

// inEach runs f for each revision, with a server that declares all capabilities.
func inEach(t *testing.T, o mcpclient.Options, f func(t *testing.T, r *revision)) {
	t.Helper()
	inRevisions(t, mcp.SupportedVersions(), all, o, f)
}

// paramsOf returns the params of a frame, without the members of _meta that the revision requires.
func paramsOf(t *testing.T, f frame) string {
	t.Helper()
	if f.Params == nil {
		return ""
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(f.Params, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "_meta")
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metaOf returns a member of a frame's _meta. It is empty if there is none.
func metaOf(t *testing.T, f frame, name string) string {
	t.Helper()
	var params mcp.Params
	if f.Params != nil {
		if err := json.Unmarshal(f.Params, &params); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := params.Meta.Lookup(name)
	return string(raw)
}

// silent fails the test if the client has sent anything. It makes a call, which must be the next message of the client.
func (r *revision) silent() {
	r.t.Helper()
	synctest.Wait()
	done := background(func() error { return r.c.Call(r.t.Context(), "x/silent", nil, nil) })
	for {
		f := r.Receive()
		if f.Method == "x/silent" {
			r.Answer(f, `{}`)
			break
		}
		r.t.Errorf("the client sent %s, want nothing", f.Raw)
	}
	if err := <-done; err != nil {
		r.t.Error(err)
	}
}
