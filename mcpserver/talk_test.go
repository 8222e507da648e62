package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// bare returns a server without tools, resources and prompts.
func bare(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	return mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &o)
}

// talk is a client of one revision on its own connection. It works in a bubble of testing/synctest.
type talk struct {
	*wire
	t       *testing.T
	version mcp.Version
	id      int
}

// speak connects a client of a revision. A legacy client has an open session.
func speak(t *testing.T, s *mcpserver.Server, v mcp.Version) *talk {
	t.Helper()
	c := &talk{wire: serve(t, t.Context(), s), t: t, version: v}
	if v.Era() == mcp.Legacy {
		c.send(initializeAs(string(v)), initialized)
		c.taken()
	}
	return c
}

// request returns a request of the client's revision; params are members without braces.
func (c *talk) request(method, params string) string {
	c.id++
	if c.version.Era() == mcp.Modern {
		return asked(c.id, method, bothMetas, params)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.id, method, params)
}

// ask sends a request and returns the answer, which must be the only message that the server sends.
func (c *talk) ask(method, params string) message {
	c.t.Helper()
	c.send(c.request(method, params))
	return c.reply(c.t)
}

// result returns the result of a request, without the members that all results of modern revisions have.
func (c *talk) result(method, params string) string {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s in %s got the error %v, want a result", method, c.version, m.Error)
	}
	r := strings.Replace(string(m.Result), `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},`,
		"", 1)
	return strings.Replace(r, `"resultType":"complete",`, "", 1)
}

// refused returns the code and message of the error with which the server answers a request.
func (c *talk) refused(method, params string) string {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error == nil {
		c.t.Fatalf("%s in %s got the result %s, want an error", method, c.version, m.Result)
	}
	return fmt.Sprint(m.Error.Code, " ", m.Error.Message)
}

// bye ends the connection. The server must send nothing more.
func (c *talk) bye() {
	c.t.Helper()
	if err := c.finish(); err != nil {
		c.t.Errorf("Serve returned %v, want nil", err)
	}
}

// inEachRevision runs a test for a client of each revision.
func inEachRevision(t *testing.T, s func(t *testing.T) *mcpserver.Server, test func(t *testing.T, c *talk)) {
	for _, v := range slices.Backward(mcp.SupportedVersions()) {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := speak(t, s(t), v)
				test(t, c)
				c.bye()
			})
		})
	}
}

// since returns text for revisions from v on, and before for older revisions.
func (c *talk) since(v mcp.Version, text, before string) string {
	if c.version >= v {
		return text
	}
	return before
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks the text of err.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %s", err, want)
	}
}
