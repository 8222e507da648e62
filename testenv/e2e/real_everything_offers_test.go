package e2e

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// contents reads a resource with one part, and records it as read.
func (x *explorer) contents(uri string) *mcp.ResourceContents {
	x.Helper()
	x.read[uri] = true
	return x.part(uri)
}

func (x *explorer) part(uri string) *mcp.ResourceContents {
	x.Helper()
	r, err := x.client.ReadResource(x.ctx, uri)
	if err != nil {
		x.Fatalf("%s: %v", uri, err)
	}
	if len(r.Contents) != 1 || r.Contents[0].URI != uri {
		x.Fatalf("%s: want one part with this URI, got %+v", uri, r.Contents)
	}
	return r.Contents[0]
}

func (x *explorer) everythingResources() {
	x.Helper()
	for document, want := range map[string]string{
		"architecture.md": "Architecture", "extension.md": "Extension", "features.md": "Features",
		"how-it-works.md": "How It Works",
		"instructions.md": "Instructions", "startup.md": "Startup", "structure.md": "Structure",
	} {
		c := x.contents("demo://resource/static/document/" + document)
		if c.MIMEType != "text/markdown" || !strings.Contains(strings.SplitN(c.Text, "\n", 2)[0], want) {
			x.Errorf("%s: want Markdown about %s, got %s %.80q", document, want, c.MIMEType, c.Text)
		}
	}
	x.expanded["demo://resource/dynamic/text/{resourceId}"] = true
	if c := x.part("demo://resource/dynamic/text/7"); !strings.HasPrefix(c.Text,
		"Resource 7: This is a plaintext resource") {
		x.Errorf("want the text of resource 7, got %+v", c)
	}
	x.expanded["demo://resource/dynamic/blob/{resourceId}"] = true
	c := x.part("demo://resource/dynamic/blob/7")
	if text, err := base64.StdEncoding.DecodeString(*c.Blob); err != nil ||
		!strings.HasPrefix(string(text), "Resource 7: This is a base64 blob") {
		x.Errorf("want the blob of resource 7, got %q, %v", text, err)
	}
	for _, uri := range []string{"demo://resource/dynamic/text/none", "demo://none"} {
		_, err := x.client.ReadResource(x.ctx, uri)
		if failure, ok := errors.AsType[*mcp.Error](err); !ok || !strings.Contains(failure.Message, uri) {
			x.Errorf("%s: want an error that names it, got %v", uri, err)
		}
	}
}

// everythingUpdates subscribes to a resource, receives an update, unsubscribes, and receives no more updates.
func (x *explorer) everythingUpdates(p *person) {
	x.Helper()
	const uri = "demo://resource/static/document/features.md"
	x.says("toggle-subscriber-updates", nil, "Started") // sends an update at once, and then every 5 s
	x.says("toggle-subscriber-updates", nil, "Stopped")
	if err := x.client.SubscribeResource(x.ctx, uri); err != nil {
		x.Fatal(err)
	}
	x.says("toggle-subscriber-updates", nil, "Started")
	if got := next(x.T, x.ctx, "an update of "+uri, p.updated); got != uri {
		x.Errorf("want an update of %s, got %s", uri, got)
	}
	x.says("toggle-subscriber-updates", nil, "Stopped")
	if err := x.client.UnsubscribeResource(x.ctx, uri); err != nil {
		x.Fatal(err)
	}
	next(x.T, x.ctx, "word that there is a new resource", p.changed) // the tool gzip has created it
}

func (x *explorer) everythingPrompts() {
	x.Helper()
	for _, tc := range []struct {
		prompt    string
		arguments map[string]string
		want      string
	}{
		{"simple-prompt", nil, "This is a simple prompt without arguments."},
		{"args-prompt", map[string]string{"city": "Paris"}, "What's weather in Paris?"},
		{"args-prompt", map[string]string{"city": "Paris", "state": "Texas"}, "What's weather in Paris, Texas?"},
		{"completable-prompt", map[string]string{"department": "Sales", "name": "Eve"},
			"Please promote Eve to the head of the Sales team."},
		{"resource-prompt", map[string]string{"resourceType": "Text", "resourceId": "2"},
			"This prompt includes the Text resource with id: 2."},
	} {
		r := x.prompt(tc.prompt, tc.arguments)
		if text, ok := r.Messages[0].Content.(*mcp.TextContent); !ok || !strings.HasPrefix(text.Text, tc.want) ||
			r.Messages[0].Role != mcp.RoleUser {
			x.Errorf("%s: want %q, got %+v", tc.prompt, tc.want, r.Messages[0])
		}
	}
	r := x.prompt("resource-prompt", map[string]string{"resourceType": "Blob", "resourceId": "2"})
	if e, ok := r.Messages[1].Content.(*mcp.EmbeddedResource); !ok || e.Resource.URI != "demo://resource/dynamic/blob/2" ||
		e.Resource.Blob == nil {
		x.Errorf("resource-prompt: want the blob of resource 2, got %+v", r.Messages[1].Content)
	}
	_, err := x.client.GetPrompt(x.ctx, "args-prompt", nil)
	if failure, ok := errors.AsType[*mcp.Error](err); !ok || failure.Code != mcp.CodeInvalidParams {
		x.Errorf("args-prompt without a city: want %d, got %v", mcp.CodeInvalidParams, err)
	}
}

// prompt gets a prompt.
func (x *explorer) prompt(name string, arguments map[string]string) *mcp.GetPromptResult {
	x.Helper()
	x.got[name] = true
	r, err := x.client.GetPrompt(x.ctx, name, arguments)
	if err != nil {
		x.Fatalf("%s: %v", name, err)
	}
	return r
}

func (x *explorer) everythingCompletions() {
	x.Helper()
	prompt := func(name string) mcp.CompleteRef { return mcp.CompleteRef{Type: mcp.RefPrompt, Name: name} }
	for _, tc := range []struct {
		ref             mcp.CompleteRef
		argument, value string
		others          map[string]string
		want            []string
	}{
		{prompt("completable-prompt"), "department", "S", nil, []string{"Sales", "Support"}},
		{prompt("completable-prompt"), "name", "", map[string]string{"department": "Engineering"},
			[]string{"Alice", "Bob", "Charlie"}},
		{prompt("completable-prompt"), "name", "E", map[string]string{"department": "Sales"}, []string{"Eve"}},
		{prompt("resource-prompt"), "resourceType", "T", nil, []string{"Text"}},
		{prompt("resource-prompt"), "resourceId", "x", nil, []string{}},
		{mcp.CompleteRef{Type: mcp.RefResource, URI: "demo://resource/dynamic/text/{resourceId}"}, "resourceId", "12", nil,
			[]string{"12"}},
		{mcp.CompleteRef{Type: mcp.RefResource, URI: "demo://resource/dynamic/blob/{resourceId}"}, "resourceId", "0", nil,
			[]string{}},
	} {
		r, err := x.client.Complete(x.ctx, tc.ref, mcp.CompleteArgument{Name: tc.argument, Value: tc.value}, tc.others)
		if err != nil {
			x.Fatalf("%s: %v", tc.argument, err)
		}
		equal(x.T, "completion of "+tc.argument+" "+tc.value, tc.want, r.Completion.Values)
	}
}

// everythingLogging expects log messages of the server, but none below the current level.
func (x *explorer) everythingLogging(p *person) {
	x.Helper()
	const uri = "demo://resource/static/document/startup.md"
	drain(p.logged)
	for _, level := range []mcp.LoggingLevel{mcp.LevelError, mcp.LevelDebug} {
		if err := x.client.SetLogLevel(x.ctx, level); err != nil {
			x.Fatal(err)
		}
		if err := x.client.SubscribeResource(x.ctx, uri); err != nil { // logged at level info, before the answer
			x.Fatal(err)
		}
		if err := x.client.UnsubscribeResource(x.ctx, uri); err != nil {
			x.Fatal(err)
		}
	}
	m := next(x.T, x.ctx, "a log message", p.logged)
	if m.Level != mcp.LevelInfo || !strings.Contains(string(m.Data), "Received Subscribe Resource request for URI: "+uri) {
		x.Errorf("want to hear of the second subscription, got %s %s", m.Level, m.Data)
	}
	next(x.T, x.ctx, "word of its end", p.logged)
	x.says("toggle-simulated-logging", nil, "Started")
	if m := next(x.T, x.ctx, "a simulated log message", p.logged); !m.Level.Defined() ||
		!strings.Contains(string(m.Data), "message") {
		x.Errorf("want a message of some level, got %s %s", m.Level, m.Data)
	}
	x.says("toggle-simulated-logging", nil, "Stopped") // otherwise the process would never end
	select {
	case m := <-p.logged:
		x.Errorf("want no further message, and the first subscription not heard of, got %s %s", m.Level, m.Data)
	default:
	}
}
