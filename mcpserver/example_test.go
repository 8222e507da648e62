package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Forecast holds the arguments of the tool in the examples; its tags become the input schema.
type Forecast struct {
	City string `json:"city" jsonschema:"name of the city"`
	Days int    `json:"days,omitzero" jsonschema:"how many days ahead, 1 if left out"`
}

// Weather is the output of the tool.
type Weather struct {
	Summary string  `json:"summary"`
	Celsius float64 `json:"celsius"`
}

func forecast(ctx context.Context, in Forecast) (Weather, error) {
	if in.City != "Paris" {
		return Weather{}, fmt.Errorf("no forecast for %s; try Paris", in.City)
	}
	return Weather{Summary: "sunny", Celsius: 21.5}, nil
}

func Example() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast", Description: "Forecasts the weather."}, forecast)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := s.ServeStdio(ctx); err != nil {
		log.Fatal(err)
	}
}

func ExampleAddTool() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast", Description: "Forecasts the weather."}, forecast)
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Paris"}}}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Rome"}}}`)
	ask(s, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"forecast","arguments":{"city":7}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"summary\":\"sunny\",\"celsius\":21.5}"}],"structuredContent":{"summary":"sunny","celsius":21.5}}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"no forecast for Rome; try Paris"}],"isError":true}}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"invalid arguments: /city: got integer, want string (schema /properties/city/type)"}],"isError":true}}
}

func ExampleServer_AddTool() {
	s := mcpserver.New(mcp.Implementation{Name: "media", Version: "1.0"}, nil)
	err := s.AddTool(&mcp.Tool{Name: "pixel"},
		func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{
				mcp.Text("arguments: " + string(r.Arguments)),
				&mcp.ImageContent{Data: "R0lGODlhAQABAAAAACw=", MIMEType: "image/gif"},
			}}, nil
		})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pixel","arguments":{"color":"red"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"arguments: {\"color\":\"red\"}"},{"type":"image","data":"R0lGODlhAQABAAAAACw=","mimeType":"image/gif"}]}}
}

// The tool gets its arguments as JSON that matches its schema: the server fills in the default, and rejects arguments
// that do not match.
func ExampleCheckArguments() {
	s := mcpserver.New(mcp.Implementation{Name: "dice", Version: "1.0"}, nil)
	tool := &mcp.Tool{
		Name:        "roll",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"dice":{"type":"integer","minimum":1,"default":1}}}`),
	}
	roll := func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("arguments: " + string(r.Arguments))}}, nil
	}
	if err := s.AddTool(tool, roll, mcpserver.CheckArguments()); err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"roll","arguments":{}}}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"roll","arguments":{"dice":0}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"arguments: {\"dice\":1}"}]}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"invalid arguments: /dice: got 0, want at least 1 (schema /properties/dice/minimum)"}],"isError":true}}
}

func ExampleServer_HandleRequest() {
	s := mcpserver.New(mcp.Implementation{Name: "stock", Version: "1.0"}, nil)
	err := s.HandleRequest("example.com/stock", func(ctx context.Context, r *mcpserver.Request) (any, error) {
		var p struct {
			Item string `json:"item"`
		}
		if err := r.Decode(&p); err != nil {
			return nil, err
		}
		if p.Item == "" {
			return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "which item?"}
		}
		return map[string]any{"item": p.Item, "count": 3, "asked by": r.Client().Name}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"example.com/stock","params":{"item":"lamp"}}`)
	ask(s, `{"jsonrpc":"2.0","id":2,"method":"example.com/stock"}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"asked by":"example","count":3,"item":"lamp"}}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"which item?"}}
}

func ExampleRequestInfo_Progress() {
	s := mcpserver.New(mcp.Implementation{Name: "files", Version: "1.0"}, nil)
	type copyFiles struct {
		Names []string `json:"names"`
	}
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "copy"}, func(ctx context.Context, in copyFiles) (string, error) {
		request := mcpserver.RequestFrom(ctx)
		for i, name := range in.Names {
			if err := request.Progress(ctx, float64(i+1), float64(len(in.Names)), name); err != nil {
				return "", errors.Join(errors.New("stopped"), err) // the client has cancelled the call
			}
		}
		return "copied", nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ask(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"copy","arguments":{"names":["a","b"]},`+
		`"_meta":{"progressToken":"t"}}}`)
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"total":2,"message":"a"}}
	// {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":2,"total":2,"message":"b"}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"copied"}]}}
}

// ask opens a session, sends one request in it and prints the server's messages.
func ask(s *mcpserver.Server, request string) {
	const open = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"example","version":"1.0"}}}`
	in := io.NopCloser(strings.NewReader(open + "\n" + request + "\n"))
	if err := s.Serve(context.Background(), mcpserver.NewStreamConn(in, &printer{}, 0)); err != nil {
		log.Fatal(err)
	}
}

// printer prints everything that is written to it except the first line.
type printer struct{ begun bool }

func (p *printer) Write(b []byte) (int, error) {
	text := string(b)
	if !p.begun {
		_, text, p.begun = strings.Cut(text, "\n")
	}
	fmt.Fprint(os.Stdout, text)
	return len(b), nil
}

func (p *printer) Close() error { return nil }
