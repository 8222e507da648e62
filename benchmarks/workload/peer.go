package workload

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Client has the methods that every peer supports.
type Client interface {
	// Call calls a tool with the arguments of the connection (see [ArgumentsOf]), decodes the result into the library's
	// type, and returns the size of its content in bytes: of texts, and of images in base64.
	Call(ctx context.Context, tool string) (contentBytes int, err error)

	// List lists one page of tools and returns their number. It always sends a request.
	List(ctx context.Context) (tools int, err error)

	// Close ends the connection and waits for everything that the client has started. It closes the streams of Peer.Pipe.
	Close() error
}

// Peer is a client library or a floor. Its functions return after the handshake. The context holds the revision of the
// server, see [EraOf], for peers that must know it. The end of the context does not end the connection. A nil function
// means that the peer does not support the transport; its cases are skipped.
type Peer struct {
	Name string // as in peer=ours

	// Observes reports that the peer uses the [Installation] in its connection's context. For other peers, the benchmark
	// measures and traces each call by hand.
	Observes bool

	// Stdio starts the command, a program with its arguments. env is its whole environment.
	Stdio func(ctx context.Context, command, env []string) (Client, error)

	// Pipe uses a pair of streams, with a line for each frame. Both are ends of operating system pipes.
	Pipe func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (Client, error)

	// HTTP uses Streamable HTTP with a server that answers with JSON or with a stream of one event, has no sessions and
	// refuses GET.
	HTTP func(ctx context.Context, url string) (Client, error)
}

// Server is a server library or a floor that serves both revisions. It has two tools: [TinyTool], whose handler ignores
// its raw arguments and returns the text [HelloText], and [EchoTool], whose handler gets [Arguments], validated and
// decoded, and returns their text. A nil function means that the server does not support the transport.
type Server struct {
	Name string

	// Pipe serves one client over a pair of streams, with a line for each frame, until r ends. It closes both streams.
	Pipe func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error

	// HTTP returns a handler for Streamable HTTP that answers with JSON and needs no sessions.
	HTTP func() http.Handler
}

// Arguments is the type of every call's arguments, such as a typical user defines.
type Arguments struct {
	Text string `json:"text"`
}

// TinyTool is the tool that clients call; EchoTool is the other tool of a [Server].
const (
	TinyTool  = "tiny"
	EchoTool  = "echo"
	HelloText = "hello, world"
)

// Code has arguments of 112 KiB, as for a tool that writes files: a file with many quotes, brackets and line breaks.
var Code = map[string]any{"text": strings.Repeat("func main() {\n\tfmt.Println(\"hello, world\")\n}\n", 2400)}

// Hello has the default arguments of a call. HelloMap, HelloStruct and HelloRaw have the same content: HelloMap for
// callers that discover tools at run time, HelloStruct for callers that pass a struct instead of a pointer, and
// HelloRaw for callers that already have JSON.
var (
	Hello       = &Arguments{Text: HelloText}
	HelloMap    = map[string]any{"text": HelloText}
	HelloStruct = *Hello
	HelloRaw    = json.RawMessage(`{"text":"` + HelloText + `"}`)
)

type argumentsKey struct{}

// WithArguments returns a context for a connection with these arguments in its calls, encoded like [Hello].
func WithArguments(ctx context.Context, arguments any) context.Context {
	return context.WithValue(ctx, argumentsKey{}, arguments)
}

// ArgumentsOf returns the arguments of a connection's calls; the default is [Hello].
func ArgumentsOf(ctx context.Context) any {
	if a := ctx.Value(argumentsKey{}); a != nil {
		return a
	}
	return Hello
}

type httpClientKey struct{}

// WithHTTPClient returns a context for an HTTP connection with the user's client.
func WithHTTPClient(ctx context.Context, c *http.Client) context.Context {
	return context.WithValue(ctx, httpClientKey{}, c)
}

// HTTPClientOf returns the user's HTTP client, or nil.
func HTTPClientOf(ctx context.Context) *http.Client {
	c, _ := ctx.Value(httpClientKey{}).(*http.Client)
	return c
}

// Era is a revision of the protocol, as the representative of its era.
type Era string

// The revisions that are measured.
const (
	Legacy Era = "2025-11-25" // begins with initialize
	Modern Era = "2026-07-28" // each request identifies the client in its _meta
)

// Eras lists both eras in order.
var Eras = []Era{Legacy, Modern}

type eraKey struct{}

// WithEra returns a context with the revision of the server.
func WithEra(ctx context.Context, e Era) context.Context { return context.WithValue(ctx, eraKey{}, e) }

// EraOf returns the revision of a connection's server; the default is Legacy.
func EraOf(ctx context.Context) Era {
	if e, ok := ctx.Value(eraKey{}).(Era); ok {
		return e
	}
	return Legacy
}
