package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newResources(s streams) *cobra.Command {
	var c connection
	return c.command(s, &cobra.Command{
		Use: "resources [flags]" + behind, Short: "list the resources of a server, and their templates",
		Example: "mcpotel resources -- mcpotel serve-demo\nmcpotel resources --json --url https://mcp.example.com/mcp",
	}, c.runResources)
}

func (c *connection) runResources(ctx context.Context) error {
	c.spans = []string{"CLIENT " + mcp.MethodListResources}
	return c.list(ctx, "resources", func(ctx context.Context, one *server) (listing, error) {
		l := &resourceList{Server: one.ofSeveral()}
		var err error
		if l.Resources, err = collect(c, one.client.Resources(ctx)); err != nil {
			return nil, err
		}
		if l.Templates, err = collect(c, one.client.ResourceTemplates(ctx)); err != nil && !methodMissing(err) {
			return nil, err
		}
		return l, nil
	})
}

// resourceList holds the resources and templates of a server.
type resourceList struct {
	Server    string                  `json:"server,omitzero"` // set if there are several servers
	Resources []*mcp.Resource         `json:"resources"`
	Templates []*mcp.ResourceTemplate `json:"resourceTemplates"`
}

func (l *resourceList) json() any { return l }

func (l *resourceList) print(w io.Writer, label string) error {
	for _, r := range l.Resources {
		if err := printEntry(w, label+r.URI, []string{r.MIMEType, size(r.Size)}, cmp.Or(r.Title, r.Name),
			r.Description); err != nil {
			return err
		}
	}
	for _, t := range l.Templates {
		if err := printEntry(w, label+t.URITemplate, []string{"template", t.MIMEType}, cmp.Or(t.Title, t.Name),
			t.Description); err != nil {
			return err
		}
	}
	return nil
}

// printEntry prints an entry of a list: its name, known properties, and a line of description.
func printEntry(w io.Writer, name string, known []string, title, description string) error {
	line := visible.Line(name)
	for _, k := range known {
		if k != "" {
			line += "  " + visible.Line(k)
		}
	}
	if err := printLine(w, line); err != nil {
		return err
	}
	about := slices.DeleteFunc([]string{visible.FirstLine(title), visible.FirstLine(description)}, func(s string) bool {
		return s == ""
	})
	if len(about) == 0 {
		return nil
	}
	line = about[0]
	if len(about) == 2 && about[0] != about[1] {
		line += ": " + about[1]
	}
	return printLine(w, "    "+line)
}

func size(bytes *int64) string {
	if bytes == nil {
		return ""
	}
	return fmt.Sprintf("%d bytes", *bytes)
}
