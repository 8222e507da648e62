package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	gomcp "github.com/mark3labs/mcp-go/mcp"
	goserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	ours "github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Libraries are the libraries of the servers.
var Libraries = []string{"mcpotel", "gosdk", "mcpgo"}

// Descriptions of the tools.
const (
	searchText   = "Search products by category and price range"
	cartText     = "Get the cart and the recent orders of a user"
	checkoutText = "Buy products"
)

// Server returns a stateless server with the tools of the shop, at /mcp, with its health at /health. The library has
// its defaults.
func Server(library string, s *Shop) (http.Handler, error) {
	var handler http.Handler
	var err error
	switch library {
	case "mcpotel":
		handler, err = oursServer(s)
	case "gosdk":
		handler = goSDKServer(s)
	case "mcpgo":
		handler = mcpGoServer(s)
	default:
		err = fmt.Errorf("unknown library %q: want one of %q", library, Libraries)
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"status": "ok"})
	})
	return mux, nil
}

func oursServer(s *Shop) (http.Handler, error) {
	server := mcpserver.New(ours.Implementation{Name: "shop", Version: "1.0"}, nil)
	err := errors.Join(
		mcpserver.AddTool(server, &ours.Tool{Name: "search_products", Description: searchText}, s.Search),
		mcpserver.AddTool(server, &ours.Tool{Name: "get_user_cart", Description: cartText}, s.UserCart),
		mcpserver.AddTool(server, &ours.Tool{Name: "checkout", Description: checkoutText}, s.Checkout))
	return server.HTTPHandler(&mcpserver.HTTPOptions{Stateless: true}), err
}

func goSDKServer(s *Shop) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search_products", Description: searchText}, goSDKTool(s.Search))
	mcp.AddTool(server, &mcp.Tool{Name: "get_user_cart", Description: cartText}, goSDKTool(s.UserCart))
	mcp.AddTool(server, &mcp.Tool{Name: "checkout", Description: checkoutText}, goSDKTool(s.Checkout))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func goSDKTool[In, Out any](f func(context.Context, In) (Out, error)) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := f(ctx, in)
		return nil, out, err
	}
}

func mcpGoServer(s *Shop) http.Handler {
	server := goserver.NewMCPServer("shop", "1.0", goserver.WithToolCapabilities(false))
	server.AddTool(gomcp.NewTool("search_products", gomcp.WithDescription(searchText),
		gomcp.WithInputSchema[SearchParams]()), mcpGoTool(s.Search))
	server.AddTool(gomcp.NewTool("get_user_cart", gomcp.WithDescription(cartText),
		gomcp.WithInputSchema[CartParams]()), mcpGoTool(s.UserCart))
	server.AddTool(gomcp.NewTool("checkout", gomcp.WithDescription(checkoutText),
		gomcp.WithInputSchema[CheckoutParams]()), mcpGoTool(s.Checkout))
	return goserver.NewStreamableHTTPServer(server, goserver.WithStateLess(true))
}

func mcpGoTool[In, Out any](f func(context.Context, In) (Out, error)) goserver.ToolHandlerFunc {
	return gomcp.NewTypedToolHandler(func(ctx context.Context, _ gomcp.CallToolRequest, in In) (*gomcp.CallToolResult,
		error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return gomcp.NewToolResultText(string(text)), nil
	})
}
