package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// argumentsUsage is the part of a usage line for the arguments of a tool or a prompt.
const argumentsUsage = " [NAME=VALUE... | '{json}' | - | @FILE]"

// aboutToolArguments is the help text for argumentsUsage, for a tool.
const aboutToolArguments = "Arguments are NAME=VALUE, with the types of the tool's schema. For an array, repeat the\n" +
	"name or write JSON. to.city=Oslo sets a member of an object, lines[0].qty=2 a member of an item of an array.\n" +
	aboutSources

// aboutPromptArguments is the help text for argumentsUsage, for a prompt.
const aboutPromptArguments = "Arguments are NAME=VALUE.\n" + aboutSources

const aboutSources = "NAME=@FILE reads the value from a file, NAME=@- from standard input; NAME=@@x is the text @x.\n" +
	"Or give one JSON object: as an argument, with - from standard input, or with @FILE from a file."

// given holds the arguments of a tool or a prompt from the command line.
type given struct {
	object json.RawMessage  // the JSON object, if the arguments were given as JSON
	fields []toolargs.Field // the NAME=VALUE arguments in their order, if the arguments were not given as JSON
}

// readArguments parses the arguments that follow the name of a tool or a prompt.
func (c *connection) readArguments(args []string) (*given, error) {
	if len(args) == 0 {
		return &given{}, nil
	}
	if first := args[0]; first == "-" || strings.HasPrefix(first, "@") || strings.HasPrefix(first, "{") {
		if len(args) > 1 {
			return nil, fmt.Errorf("%w; give either one JSON object, or only NAME=VALUE arguments", c.unexpected(args[1]))
		}
		object, err := c.readObject(first)
		return &given{object: object}, err
	}
	g := &given{}
	inputs := 0
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%w: not a JSON object; want NAME=VALUE, or '{json}', - or @FILE", c.unexpected(a))
		}
		if value == "@-" {
			if inputs++; inputs > 1 {
				return nil, misuse("%s: standard input is already the value of another argument", name)
			}
		}
		f, err := c.field(name, value)
		if err != nil {
			return nil, err
		}
		g.fields = append(g.fields, f)
	}
	return g, nil
}

// field returns the argument NAME=VALUE. If VALUE is @FILE or @-, the value is the content of the file or of standard
// input; @@ stands for the text @.
func (c *connection) field(name, value string) (toolargs.Field, error) {
	text, isFile := strings.CutPrefix(value, "@")
	if !isFile || strings.HasPrefix(text, "@") {
		return toolargs.Field{Name: name, Value: text}, nil
	}
	from, content, err := c.readSource(text)
	if err != nil {
		return toolargs.Field{}, fmt.Errorf("%s: %w; write %[1]s=@%[3]s for the text %[3]s", name, err, value)
	}
	return toolargs.Field{Name: name, Value: string(content), From: from}, nil
}

// readObject reads a JSON object from the command line, from standard input or from a file.
func (c *connection) readObject(from string) (json.RawMessage, error) {
	where, text := "the arguments", []byte(from)
	if path, isFile := strings.CutPrefix(from, "@"); isFile || from == "-" {
		var err error
		if where, text, err = c.readSource(path); err != nil {
			return nil, err
		}
	}
	if err := toolargs.CheckObject(where, text); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return bytes.TrimSpace(text), nil
}

// readSource reads up to 16 MiB from a file, or from standard input if path is "-". It returns the name of the source
// for error messages.
func (c *connection) readSource(path string) (name string, content []byte, err error) {
	source := c.streams.in
	name = "standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", nil, misuse("%w", err)
		}
		defer f.Close()
		name, source = path, f
	}
	if content, err = io.ReadAll(io.LimitReader(source, mcpclient.DefaultFrameLimit+1)); err != nil {
		return "", nil, misuse("%s: %w", name, err)
	}
	if len(content) > mcpclient.DefaultFrameLimit {
		return "", nil, misuse("%s: more than %d bytes, which is the limit for a message", name, mcpclient.DefaultFrameLimit)
	}
	return name, content, nil
}

// toTool returns the arguments of a tool. NAME=VALUE arguments get their types from the input schema in the list of
// tools.
func (g *given) toTool(ctx context.Context, c *connection, client *mcpclient.Client, name string) (any, error) {
	switch {
	case g.object != nil:
		return g.object, nil
	case len(g.fields) == 0:
		return nil, nil
	}
	tool, err := c.findTool(ctx, client, name)
	if err != nil {
		return nil, err
	}
	arguments, err := toolargs.Read(tool.InputSchema).Assign(g.fields)
	if err != nil {
		return nil, misuse("%w", err)
	}
	return arguments, nil
}

// findTool returns the tool of this name.
func (c *connection) findTool(ctx context.Context, client *mcpclient.Client, name string) (*mcp.Tool, error) {
	tools, err := collect(c, client.Tools(ctx)) // the whole list: unknownTool needs all names
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, unknownTool(name, names)
}

// unlisted explains the error of a refused call. If the server does not list the tool, unlisted adds the error of
// unknownTool; otherwise it returns err.
func (c *connection) unlisted(ctx context.Context, client *mcpclient.Client, tool string, err error) error {
	if !errors.Is(err, mcp.ErrInvalidParams) && !errors.Is(err, mcp.ErrMethodNotFound) {
		return err
	}
	_, missing := c.findTool(ctx, client, tool)
	if no, ok := errors.AsType[*exitError](missing); ok {
		return &exitError{no.code, fmt.Errorf("%w: %w", no, err)}
	}
	return err
}

// unknownTool reports a missing tool and suggests a similar name, or lists up to 30 tools.
func unknownTool(name string, known []string) error {
	const most = 30
	text := typing.Hint(name, known)
	if text == "" && len(known) > 0 {
		text = "; the tools are " + strings.Join(known[:min(len(known), most)], ", ")
		if len(known) > most {
			text += " and more"
		}
	}
	return &exitError{exitTool, fmt.Errorf("no tool %q%s", name, text)}
}

// toPrompt returns the arguments of a prompt. It checks their names if the server lists the prompt.
func (g *given) toPrompt(ctx context.Context, client *mcpclient.Client, name string) (map[string]string, error) {
	values := map[string]string{}
	if g.object != nil {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(g.object, &members); err != nil {
			return nil, misuse("%w", err)
		}
		for member, raw := range members {
			var text string
			if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
				return nil, misuse("arguments of prompts must be strings; %q is %s", member,
					toolargs.KindName(jsontext.Value(raw).Kind()))
			}
			values[member] = text
		}
	}
	for _, f := range g.fields {
		if _, twice := values[f.Name]; twice {
			return nil, misuse("%q is given twice; want NAME=VALUE, each name once", f.Name)
		}
		if !utf8.ValidString(f.Value) {
			return nil, misuse("%s: not UTF-8 text; arguments of prompts must be text", f.Name)
		}
		values[f.Name] = f.Value
	}
	if len(values) == 0 {
		return values, nil
	}
	for p, err := range client.Prompts(ctx) {
		if err != nil {
			return nil, err
		}
		if p.Name != name {
			continue
		}
		var known []string
		for _, a := range p.Arguments {
			known = append(known, a.Name)
		}
		for given := range values {
			if !slices.Contains(known, given) {
				return nil, misuse("%w", toolargs.UnknownArgument(given, known))
			}
		}
		break
	}
	return values, nil
}
