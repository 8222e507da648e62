package examples

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/server.md.

// docs:tool

type Booking struct {
	Train string `json:"train" jsonschema:"the number of the train, such as IC 703"`
	Seats int    `json:"seats" keywords:"minimum=1,maximum=8"`
}

type Ticket struct {
	Number string `json:"number"`
	Price  int    `json:"price" jsonschema:"in cents"`
}

func book(ctx context.Context, in Booking) (Ticket, error) {
	request := mcpserver.RequestFrom(ctx)
	for seat := range in.Seats {
		if in.Train != "IC 703" {
			return Ticket{}, fmt.Errorf("train %s not found; ask for IC 703", in.Train) // the model reads this
		}
		if err := request.Progress(ctx, float64(seat+1), float64(in.Seats), "a seat is reserved"); err != nil {
			return Ticket{}, err // the client has cancelled the call
		}
	}
	return Ticket{Number: "703-1", Price: 4900 * in.Seats}, nil
}

// docs:end

// docs:ask

type Passenger struct {
	Name  string `json:"name" jsonschema:"as in the passport"`
	Class string `json:"class"`
}

func checkIn(ctx context.Context, in Ticket) (string, error) {
	passenger, action, err := mcpserver.ElicitAs[Passenger](ctx, "Who travels?", func(f *mcp.FormSchema) {
		f.Field("class").Enum = []string{"first", "second"}
	})
	switch {
	case errors.Is(err, mcpserver.ErrUnsupported):
		return "", errors.New("check in at the station: this client cannot ask its user")
	case err != nil:
		return "", err // return err unchanged: a modern client repeats the call with the answer
	case action != mcp.ElicitAccept:
		return "not checked in", nil
	}
	return fmt.Sprintf("%s travels with %s in %s class", passenger.Name, in.Number, passenger.Class), nil
}

// docs:end

func addAll(s *mcpserver.Server) error {
	// docs:add
	no := new(bool) // for hints that are false
	err := errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{
			Name:        "book",
			Description: "Books seats. Ask the user before.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: no, IdempotentHint: no},
		}, book),
		mcpserver.AddTool(s, &mcp.Tool{Name: "check_in", Description: "Checks a passenger in."}, checkIn),
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: "timetable://{station}", Name: "timetable", MIMEType: "text/plain",
		}, func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if r.Variables["station"] != "basel" {
				return nil, mcpserver.ResourceNotFound(r.URI)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "IC 703 07:03"}}}, nil
		}),
		s.AddPrompt(&mcp.Prompt{Name: "trip", Arguments: []mcp.PromptArgument{{Name: "to", Required: true}}},
			func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				text := mcp.Text("Plan a trip to " + r.Arguments["to"] + ".")
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: text}}}, nil
			}),
	)
	// docs:end
	return err
}

// docs:test

func TestATrainIsBooked(t *testing.T) {
	server := mcptest.NewServer(t, nil)
	if err := addAll(server.Server); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	ticket, err := mcpclient.CallToolAs[Ticket](t.Context(), client, "book", Booking{Train: "IC 703", Seats: 2})
	if err != nil || ticket.Price != 9800 {
		t.Errorf("got %+v and %v", ticket, err)
	}
	_, err = mcpclient.CallToolAs[Ticket](t.Context(), client, "book", Booking{Train: "IC 703", Seats: 9})
	if _, refused := errors.AsType[*mcp.ToolError](err); !refused {
		t.Errorf("nine seats: got %v, want to be told of eight", err)
	}
}

// docs:end

func TestGuideServerElicitsInput(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
		if err := addAll(server.Server); err != nil {
			t.Fatal(err)
		}
		fill := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			filled := map[string]any{"name": "Ada", "class": "first"}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: filled}, nil
		}
		client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{
			Versions: []mcp.Version{version}, Telemetry: telemetry.Off(),
			Features: []mcpclient.Feature{mcpclient.HandleElicitation(fill)},
		})
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]any{"number": "703-1", "price": 1}
		result, err := client.CallTool(t.Context(), "check_in", in)
		if err != nil || result.Text() != "Ada travels with 703-1 in first class" {
			t.Errorf("%s: got %v and %v", version, result, err)
		}
		read, err := client.ReadResource(t.Context(), "timetable://basel")
		if err != nil || read.Contents[0].Text != "IC 703 07:03" {
			t.Errorf("%s: got %v and %v", version, read, err)
		}
		if _, err := client.ReadResource(t.Context(), "timetable://rome"); !errors.Is(err, mcp.ErrResourceNotFound) {
			t.Errorf("%s: got %v, want a resource that is not there", version, err)
		}
		prompt, err := client.GetPrompt(t.Context(), "trip", map[string]string{"to": "Rome"})
		if err != nil || len(prompt.Messages) != 1 {
			t.Errorf("%s: got %v and %v", version, prompt, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGuideServerReportsAnErrorWithoutElicitation(t *testing.T) {
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	if err := addAll(server.Server); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil {
		t.Fatal(err)
	}
	result, err := client.CallTool(t.Context(), "check_in", Ticket{Number: "703-1"})
	if err == nil {
		err = result.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "at the station") {
		t.Errorf("got %v, want to be sent to the station", err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
