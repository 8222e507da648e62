package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// everythingOver are the transports to server-everything.
var everythingOver = map[string]func(t *testing.T) transport.Transport{
	"stdio": func(t *testing.T) transport.Transport { return npm(everything)(t, "") },
	"HTTP": func(t *testing.T) transport.Transport {
		return &transport.HTTP{URL: script(everything, "streamableHttp")(t, "", "").url + "/mcp"}
	},
	"SSE": func(t *testing.T) transport.Transport {
		return &transport.HTTP{URL: script(everything, "sse")(t, "", "").url + "/sse"}
	},
}

// TestAllFeaturesOfEverything uses all that server-everything offers to a client with all capabilities, over each of
// its transports.
func TestAllFeaturesOfEverything(t *testing.T) {
	for name, dial := range everythingOver {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			person := newPerson()
			x := explore(t, dial(t), person.options())
			if want := "Everything Server"; !strings.Contains(x.client.Instructions(), want) {
				t.Errorf("want instructions with %q, got %q", want, x.client.Instructions())
			}
			if err := x.client.Ping(x.ctx); err != nil {
				t.Errorf("ping: %v", err)
			}
			tasks := x.begin() // takes some seconds
			x.everythingTools()
			x.everythingOffline()
			x.everythingProgress()
			x.everythingAsks(person)
			x.everythingResources()
			x.everythingUpdates(person)
			x.everythingPrompts()
			x.everythingCompletions()
			x.everythingLogging(person)
			x.finish(tasks)
			x.done()
		})
	}
}

func (x *explorer) everythingTools() {
	x.Helper()
	x.says("echo", map[string]string{"message": "hi"}, "Echo: hi")
	x.says("get-sum", addends{1, 2}, "The sum of 1 and 2 is 3.")
	x.gives("get-structured-content", map[string]string{"location": "Chicago"},
		`{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`)
	x.refuses("get-structured-content", map[string]string{"location": "Paris"}, "Input validation error")

	var env map[string]string
	if err := json.Unmarshal([]byte(x.call("get-env", nil).Text()), &env); err != nil || env["PATH"] == "" ||
		env["GOPROXY"] != "off" {
		x.Errorf("get-env: want the environment it was given, got %v, %v", env, err)
	}

	image := x.call("get-tiny-image", nil).Content
	if len(image) != 3 {
		x.Fatalf("get-tiny-image: want 3 blocks, got %d", len(image))
	}
	x.png("get-tiny-image", image[1])

	said := x.call("get-annotated-message", map[string]any{"messageType": "success", "includeImage": true}).Content
	equal(x.T, "get-annotated-message", mcp.Content(&mcp.TextContent{
		Text:        "Operation completed successfully",
		Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: new(0.7)},
	}), said[0])
	x.png("get-annotated-message", said[1])

	links := x.call("get-resource-links", map[string]int{"count": 2}).Content
	equal(x.T, "get-resource-links", mcp.Content(&mcp.ResourceLink{
		URI: "demo://resource/dynamic/text/2", Name: "Text Resource 2", Description: "Resource 2: plaintext resource",
		MIMEType: "text/plain",
	}), links[2])

	embedded, ok := x.call("get-resource-reference", map[string]any{"resourceType": "Blob", "resourceId": 3}).
		Content[1].(*mcp.EmbeddedResource)
	if !ok || embedded.Resource.URI != "demo://resource/dynamic/blob/3" || embedded.Resource.Blob == nil {
		x.Errorf("get-resource-reference: want the blob of resource 3, got %+v", embedded)
	}
	x.gzip()
}

// png checks that a block is a visible image.
func (x *explorer) png(what string, block mcp.Content) {
	x.Helper()
	image, ok := block.(*mcp.ImageContent)
	if !ok || image.MIMEType != "image/png" {
		x.Fatalf("%s: want an image, got %+v", what, block)
	}
	if data, err := base64.StdEncoding.DecodeString(image.Data); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		x.Errorf("%s: want the data of a PNG, got %q, %v", what, image.Data, err)
	}
}

// gzip creates a resource of the session, by value and by link, and reads it.
func (x *explorer) gzip() {
	x.Helper()
	arguments := map[string]any{"name": "hi.gz", "data": "data:text/plain,hi", "outputType": "resource"}
	embedded, ok := x.call("gzip-file-as-resource", arguments).Content[0].(*mcp.EmbeddedResource)
	if !ok {
		x.Fatal("gzip-file-as-resource: want an embedded resource")
	}
	unzipped(x, embedded.Resource)
	arguments["outputType"] = "resourceLink"
	link, ok := x.call("gzip-file-as-resource", arguments).Content[0].(*mcp.ResourceLink)
	if !ok || link.MIMEType != "application/gzip" {
		x.Fatalf("gzip-file-as-resource: want a link, got %+v", link)
	}
	unzipped(x, x.contents(link.URI))
}

func unzipped(x *explorer, r *mcp.ResourceContents) {
	x.Helper()
	data, err := base64.StdEncoding.DecodeString(*r.Blob)
	if err != nil {
		x.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		x.Fatal(err)
	}
	if text, err := io.ReadAll(reader); err != nil || string(text) != "hi" {
		x.Errorf(`%s: want "hi", got %q, %v`, r.URI, text, err)
	}
}

// everythingOffline calls tools that need the network, and expects them to fail for that reason.
func (x *explorer) everythingOffline() {
	x.Helper()
	for _, tc := range []struct{ tool, arguments, reason, want string }{
		{"gzip-file-as-resource", `{"data":"http://127.0.0.1:1/"}`,
			"nothing is fetched in these tests, and nobody listens there", "fetch failed"},
		{"gzip-file-as-resource", `{"data":"file:///etc/passwd"}`, "files are not for this server",
			"Unsupported URL protocol"},
	} {
		r, err := x.client.CallTool(x.ctx, tc.tool, json.RawMessage(tc.arguments))
		var text string
		if failure, ok := errors.AsType[*mcp.Error](err); ok {
			text = failure.Message
		} else if err == nil && r.IsError {
			text = r.Text()
		}
		if !strings.Contains(text, tc.want) {
			x.Errorf("%s %s (%s): want it to fail with %q, got %q, %v", tc.tool, tc.arguments, tc.reason, tc.want, text, err)
		}
	}
}

func (x *explorer) everythingProgress() {
	x.Helper()
	const tool = "trigger-long-running-operation"
	x.called[tool] = true
	var reports []float64
	for p, err := range mcpclient.FollowProgress(x.ctx, func(ctx context.Context, follow mcpclient.CallOption) error {
		_, err := x.client.CallTool(ctx, tool, json.RawMessage(`{"duration":0.1,"steps":4}`), follow)
		return err
	}) {
		if err != nil {
			x.Fatalf("%s: %v", tool, err)
		}
		reports = append(reports, p.Progress)
	}
	equal(x.T, "progress", []float64{1, 2, 3, 4}, reports)

	ctx, cancel := context.WithCancel(x.ctx)
	_, err := x.client.CallTool(ctx, tool, json.RawMessage(`{"duration":60,"steps":3000}`),
		mcpclient.WithProgress(func(*mcp.ProgressParams) {
			cancel()
		}))
	if !errors.Is(err, context.Canceled) {
		x.Errorf("want the call cancelled, got %v", err)
	}
	x.says("echo", map[string]string{"message": "still here"}, "Echo: still here")
}
