// Command client is the client under test of the MCP conformance suite. The suite starts it with the URL of a mock
// server as its argument. Environment variables name the scenario and the revision, and hold further data of the
// scenario as JSON. The exit status is 0 if the client did everything that the scenario requires, including a required
// refusal.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// patience is slightly shorter than the timeout of the suite.
const patience = 25 * time.Second

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// task is the scenario that the suite requests.
type task struct {
	url      string
	scenario string
	versions []mcp.Version // versions to support; nil for all
	details  details
}

// details are the fields of MCP_CONFORMANCE_CONTEXT. Each scenario has some of them.
type details struct {
	URL string `json:"-"` // URL of the server

	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	Issuer           string `json:"issuer"`
	PrivateKeyPEM    string `json:"private_key_pem"`
	SigningAlgorithm string `json:"signing_algorithm"`

	IDPClientID      string `json:"idp_client_id"`
	IDPIDToken       string `json:"idp_id_token"`
	IDPIssuer        string `json:"idp_issuer"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`

	ValidJWT string `json:"valid_jwt"`

	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// readTask parses the arguments and the environment.
func readTask(args []string) (task, error) {
	if len(args) != 1 {
		return task{}, errors.New("want one argument, the URL of the server")
	}
	t := task{url: args[0], scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	if _, known := scenarios[t.scenario]; !known {
		return task{}, fmt.Errorf("unknown scenario %q", t.scenario)
	}
	// The requested revision is the newest to offer, because some mock servers answer with an older one. Unpinned, the
	// client negotiates the revision itself.
	if newest := mcp.Version(os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")); os.Getenv("MCPOTEL_WAY") != "unpinned" {
		for _, v := range mcp.SupportedVersions() {
			if v <= newest {
				t.versions = append(t.versions, v)
			}
		}
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &t.details); err != nil {
			return task{}, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	t.details.URL = t.url
	return t, nil
}

func run(ctx context.Context, args []string) error {
	t, err := readTask(args)
	if err != nil {
		return err
	}
	s := scenarios[t.scenario]
	err = t.perform(ctx, s)
	if s.refuses {
		return refusal(err)
	}
	return err
}

// perform connects, runs the steps of the scenario and disconnects.
func (t *task) perform(ctx context.Context, s scenario) (err error) {
	server := &transport.HTTP{URL: t.url}
	var seen witness
	if s.authorization != nil {
		authorizer, err := newAuthorizer(s.authorization(t.details))
		if err != nil {
			return err
		}
		defer authorizer.Close()
		seen.Authorizer = authorizer
		server.Authorizer = &seen
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tel := telemetry.New(telemetry.WithLogger(log))
	reached, end, err := reach(server, tel)
	if err != nil {
		return err
	}
	defer end()
	defer func() { err = seen.explain(err) }()
	client, err := mcpclient.Connect(ctx, reached, &mcpclient.Options{
		ClientInfo: mcp.Implementation{Name: "mcpotel-conformance", Version: "1"},
		Versions:   t.versions,
		Features:   s.features,
		Timeouts:   mcpclient.Timeouts{Close: 2 * time.Second},
		Telemetry:  tel,
	})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(s.steps(ctx, client, t.details), client.Close())
}
