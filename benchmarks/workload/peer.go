package workload

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Client is what every peer can do.
type Client interface {
	// Call calls a tool with the arguments of its connection (see [ArgumentsOf]), decodes the result into the type that
	// the library has for it, and returns how many bytes its content has: the texts as they are, images as their base64.
	Call(ctx context.Context, tool string) (contentBytes int, err error)

	// List lists one page of tools and returns how many there are. It asks the server each time.
	List(ctx context.Context) (tools int, err error)

	// Close ends the connection and waits for what the client has started. It closes what Peer.Pipe was given.
	Close() error
}

// Peer is a client library, or a floor. Its functions return when the handshake is over; the context has the revision
// that the server speaks, see [EraOf], for those who have to be told, and does not bound the connection. A nil function
// means that the peer has no such thing; the case is left out.
type Peer struct {
	Name string // as in peer=ours

	// Observes says that it uses the [Installation] of its connection's context itself. Others are observed by hand.
	Observes bool

	// Stdio starts the command, a program with its arguments, with env as its whole environment.
	Stdio func(ctx context.Context, command, env []string) (Client, error)

	// Pipe talks over a pair of streams, a line a frame. Both are ends of pipes of the operating system.
	Pipe func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) (Client, error)

	// HTTP talks Streamable HTTP to a server that answers with JSON or with a stream of one event, has no sessions and
	// refuses GET.
	HTTP func(ctx context.Context, url string) (Client, error)
}

// Server is a server library, or a floor, that serves both revisions and has two tools: [TinyTool], whose handler gets
// raw arguments, looks at none of them and returns the text [HelloText], and [EchoTool], whose handler gets
// [Arguments], checked and decoded, and returns their text. A nil function means that it has no such thing.
type Server struct {
	Name string

	// Pipe serves one client over a pair of streams, a line a frame, and returns when r has ended. It closes both.
	Pipe func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error

	// HTTP returns a handler of Streamable HTTP that answers with JSON and needs no sessions.
	HTTP func() http.Handler
}

// Arguments are those of every call, typed as a user's are.
type Arguments struct {
	Text string `json:"text"`
}

// TinyTool is the tool that clients call, EchoTool the other one that a Server has; see there.
const (
	TinyTool  = "tiny"
	EchoTool  = "echo"
	HelloText = "hello, world"
)

// Code are arguments of 112 KiB: a file with many quotes, brackets and line breaks, as tools are given that write one.
var Code = map[string]any{"text": strings.Repeat("func main() {\n\tfmt.Println(\"hello, world\")\n}\n", 2400)}

// Hello are the arguments of every call. The others are the same: HelloMap for those who do not know a tool before they
// call it, HelloStruct for those who give a struct and not a pointer to it, HelloRaw for those who have JSON already.
var (
	Hello       = &Arguments{Text: HelloText}
	HelloMap    = map[string]any{"text": HelloText}
	HelloStruct = *Hello
	HelloRaw    = json.RawMessage(`{"text":"` + HelloText + `"}`)
)

type argumentsKey struct{}

// WithArguments returns a context for a connection whose calls have these arguments, encoded as [Hello] is.
func WithArguments(ctx context.Context, arguments any) context.Context {
	return context.WithValue(ctx, argumentsKey{}, arguments)
}

// ArgumentsOf returns the arguments of a connection's calls, [Hello] if ctx does not say.
func ArgumentsOf(ctx context.Context) any {
	if a := ctx.Value(argumentsKey{}); a != nil {
		return a
	}
	return Hello
}

type httpClientKey struct{}

// WithHTTPClient returns a context for a connection over HTTP by a client of the user's.
func WithHTTPClient(ctx context.Context, c *http.Client) context.Context {
	return context.WithValue(ctx, httpClientKey{}, c)
}

// HTTPClientOf returns the user's HTTP client, or nil.
func HTTPClientOf(ctx context.Context) *http.Client {
	c, _ := ctx.Value(httpClientKey{}).(*http.Client)
	return c
}

// Era is a revision of the protocol, one of each era.
type Era string

// The revisions that are measured.
const (
	Legacy Era = "2025-11-25" // begins with initialize
	Modern Era = "2026-07-28" // each request says in its _meta who asks
)

// Eras are both, in order.
var Eras = []Era{Legacy, Modern}

type eraKey struct{}

// WithEra returns a context that says what the server speaks.
func WithEra(ctx context.Context, e Era) context.Context { return context.WithValue(ctx, eraKey{}, e) }

// EraOf returns the revision that the server of a connection speaks, Legacy if ctx does not say.
func EraOf(ctx context.Context) Era {
	if e, ok := ctx.Value(eraKey{}).(Era); ok {
		return e
	}
	return Legacy
}
