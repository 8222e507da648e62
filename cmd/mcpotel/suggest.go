package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
)

// patienceVariable is the environment variable that limits the time for a completion: a duration such as 10s.
const patienceVariable = "MCPOTEL_COMPLETE_WITHIN"

// suggestWithin returns the time limit for a completion.
func suggestWithin() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(patienceVariable)); err == nil && d > 0 {
		return d
	}
	return 3 * time.Second
}

// suggester returns the completions from a server. args are the arguments before the one that is being completed, and
// typed is the text of that argument up to the cursor.
type suggester func(ctx context.Context, c *connection, s *servers, args []string, typed string) []string

// suggest completes arguments of a command from its server. On a timeout or any other error there are no completions
// and no message.
func (c *connection) suggest(cmd *cobra.Command, ask suggester) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if cmd.ArgsLenAtDash() < cmd.Flags().NArg() { // there is an earlier --: cobra itself appends a second
			return nil, cobra.ShellCompDirectiveDefault // the server's command
		}
		none := cobra.ShellCompDirectiveNoFileComp
		if strings.HasPrefix(typed, "@") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		c.readLine(cmd)
		c.streams = streams{strings.NewReader(""), io.Discard, io.Discard, false}
		c.console = newConsole(c.streams)
		if c.checkServer(sessionOf(cmd.Context())) != nil || c.remote.check(c.file.path != "" || c.file.only != "") != nil {
			return nil, none
		}
		c.remote.auth = false // it could open a browser
		c.chaos, c.record = chaosFlags{}, recorder{}
		ctx, cancel := context.WithTimeout(cmd.Context(), suggestWithin())
		defer cancel()
		c.adapt = func(_ string, o *mcpclient.Options) { o.Timeouts.Close = 100 * time.Millisecond }
		s, err := c.openAll(ctx, &observation{})
		if err != nil {
			return nil, none
		}
		defer s.close()
		found := ask(ctx, c, s, args, typed)
		if slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "=") }) {
			none |= cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
		}
		return found, none
	}
	return cmd
}

// readLine adds the flags and the server's command that follow the cursor in the line that is being completed.
func (c *connection) readLine(cmd *cobra.Command) {
	words := shellSplit(os.Getenv(lineVariable))
	if len(words) < 2 {
		return
	}
	found, rest, err := cmd.Root().Find(words[1:])
	if err != nil || found != cmd {
		return
	}
	c.remote.headers.given, c.roots = nil, nil // the whole line is parsed again, which would add these a second time
	if cmd.ParseFlags(rest) != nil {
		return
	}
	if dash := slices.Index(rest, "--"); dash >= 0 { // cobra has set ArgsLenAtDash, and appends a --
		c.server = rest[dash+1:]
	}
}

// shellSplit splits a line like a shell, up to the end of the command. It does not expand variables.
func shellSplit(line string) []string {
	words, _ := splitLine(line)
	return words
}

// lineWords splits a line like a shell. It returns an error for a second command, and for a quotation without an end.
func lineWords(line string) ([]string, error) {
	words, rest := splitLine(line)
	switch {
	case rest == "":
		return words, nil
	case strings.ContainsAny(rest[:1], "'\"\\"):
		return nil, fmt.Errorf("the quotation %s has no end", rest)
	}
	return nil, fmt.Errorf("%q is not possible here; quote it if it is a part of an argument", rest[:1])
}

// splitLine splits a line into words, up to an operator of the shell or the end of the line. rest begins with the
// operator. For a quotation without an end, rest is the quotation.
func splitLine(line string) (words []string, rest string) {
	var word strings.Builder
	var quote rune
	begun := false
	end := func() {
		if begun {
			text := word.String()
			if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(text, "~/") {
				text = filepath.Join(home, text[2:])
			}
			words = append(words, text)
		}
		word.Reset()
		begun = false
	}
	escaped := false
	opened := 0 // index of the last quotation mark or backslash
	for i, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
			if quote == 0 {
				opened = i
			}
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun, opened = r, true, i
		case unicode.IsSpace(r):
			end()
		case strings.ContainsRune("|;&<>()", r):
			end()
			return words, line[i:]
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	if quote != 0 || escaped {
		rest = line[opened:]
	}
	return words, rest
}

// completable returns a completion with a description. It returns nil for a name that a shell or terminal could
// interpret.
func completable(name, about string) []string {
	const allowed = "-_./:@%+=,~{}"
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(allowed, r) {
			return nil
		}
	}
	about = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./,?", r) {
			return r
		}
		return -1
	}, visible.FirstLine(about))
	if name == "" {
		return nil
	}
	return []string{cobra.CompletionWithDesc(name, about)}
}

// suggestTools completes the name of a tool.
func suggestTools(ctx context.Context, c *connection, s *servers, args []string, _ string) (found []string) {
	if len(args) > 0 {
		return nil
	}
	tools, _ := c.tools(ctx, s)
	for _, t := range tools {
		found = append(found, completable(t.Name, t.Description)...)
	}
	return found
}

// suggestCall completes the name of a tool, then the names of arguments and of members of objects, and enumerated
// values.
func suggestCall(ctx context.Context, c *connection, s *servers, args []string, typed string) (found []string) {
	if len(args) == 0 {
		return suggestTools(ctx, c, s, args, typed)
	}
	tools, _ := c.tools(ctx, s)
	i := slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == args[0] })
	if i < 0 {
		return nil
	}
	for _, p := range toolargs.Read(tools[i].InputSchema).All {
		found = append(found, suggestArgument(p.Name, p, args, typed)...)
		for _, m := range p.Members() {
			found = append(found, suggestArgument(p.Name+"."+m.Name, m, args, typed)...)
		}
	}
	return found
}

// suggestArgument completes an argument of a tool, or a member of an object.
func suggestArgument(name string, p *toolargs.Parameter, args []string, typed string) (found []string) {
	if strings.HasPrefix(typed, name+"=") {
		values := p.Allowed()
		if slices.Contains(p.Type, "boolean") && values == nil {
			values = append(values, []byte("true"), []byte("false"))
		}
		for _, v := range values {
			found = append(found, completable(name+"="+toolargs.TypedAs(v), "")...)
		}
		return found
	}
	if slices.Contains(p.Type, "array") ||
		!slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, name+"=") }) {
		found = completable(name+"=", p.Description)
	}
	return found
}

// suggestPrompts completes the name of a prompt and its arguments.
func suggestPrompts(ctx context.Context, _ *connection, s *servers, args []string, _ string) (found []string) {
	for p, err := range s.all[0].client.Prompts(ctx) {
		switch {
		case err != nil:
			return found
		case len(args) == 0:
			found = append(found, completable(p.Name, p.Description)...)
		case p.Name == args[0]:
			for _, a := range p.Arguments {
				if !slices.ContainsFunc(args, func(given string) bool { return strings.HasPrefix(given, a.Name+"=") }) {
					found = append(found, completable(a.Name+"=", a.Description)...)
				}
			}
		}
	}
	return found
}

// suggestResources completes the URI of a resource.
func suggestResources(ctx context.Context, _ *connection, s *servers, args []string, _ string) (found []string) {
	if len(args) > 0 {
		return nil
	}
	for r, err := range s.all[0].client.Resources(ctx) {
		if err != nil {
			return found
		}
		found = append(found, completable(r.URI, r.Name)...)
	}
	return found
}

// completeFlags registers completions for the flags of all commands below cmd. Only completion runs call it, for two
// reasons: cobra keeps the registrations until the process ends, and completeFlags removes the backquotes in the usages
// of flags, although the help needs these backquotes.
func completeFlags(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	versions := []string{}
	for _, v := range mcp.SupportedVersions() {
		versions = append(versions, string(v))
	}
	for flag, values := range map[string]func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective){
		"pin-version": cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp),
		"level":       cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp),
		"url":         cobra.NoFileCompletions, "header": cobra.NoFileCompletions, "url-env": cobra.NoFileCompletions,
		"header-env": cobra.NoFileCompletions, "timeout": cobra.NoFileCompletions,
		"server": suggestServers,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, values) // fails only if the command has no such flag
		}
	}
	for _, flag := range []string{"root", "output"} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.MarkFlagDirname(flag)
		}
	}
}

// suggestServers completes the name of a server of --config, or of a saved server.
func suggestServers(cmd *cobra.Command, _ []string, _ string) (found []string, _ cobra.ShellCompDirective) {
	path, err := cmd.Flags().GetString("config")
	if err == nil && path == "" {
		all, _ := hostfile.All()
		seen := map[string]bool{}
		for _, s := range all {
			if !seen[s.Name] {
				found = append(found, completable(s.Name, s.Host.Title)...)
			}
			seen[s.Name] = true
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	file, err := config.Load(path, &config.Options{LookupEnv: hostfile.Placeholder})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, s := range file.Servers {
		if !s.Disabled {
			found = append(found, completable(s.Name, string(s.Type))...)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
