package snippets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// block is a block of Go in a page, with the comment before it, if there is one.
var block = regexp.MustCompile("(?m)^(?:<!-- go: (\\S+)#(\\S+) -->\n)?```go\n((?:.*\n)*?)```$")

// indented matches a block in a list, which no part can fill.
var indented = regexp.MustCompile("(?m)^[ \t]+```go$")

// Renew returns the page with each block of Go replaced by its part. read returns a file by its name. The error names a
// block without a source, or a missing part.
func Renew(page string, read func(file string) (string, error)) (string, error) {
	if indented.MatchString(page) {
		return "", errors.New("a block of Go is indented; put it behind the list")
	}
	var out strings.Builder
	rest := page
	for {
		at := block.FindStringSubmatchIndex(rest)
		if at == nil {
			return out.String() + rest, nil
		}
		if at[2] < 0 {
			return "", fmt.Errorf("this block has no comment with its source:\n%s", rest[at[6]:at[7]])
		}
		file, name := rest[at[2]:at[3]], rest[at[4]:at[5]]
		source, err := read(file)
		if err != nil {
			return "", err
		}
		code, err := Part(source, name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		out.WriteString(rest[:at[6]] + code)
		rest = rest[at[7]:]
	}
}

// Part returns the lines of the part, without the tabs that all of them begin with.
func Part(source, name string) (string, error) {
	var lines []string
	inside, found := false, false
	for line := range strings.Lines(source) {
		switch strings.TrimSpace(line) {
		case "// docs:" + name:
			inside, found = true, true
		case "// docs:end":
			inside = false
		default:
			if inside {
				lines = append(lines, line)
			}
		}
	}
	if !found || len(lines) == 0 {
		return "", fmt.Errorf("part %q not found", name)
	}
	tabs := -1
	for _, line := range lines {
		if text := strings.TrimLeft(line, "\t"); text != "\n" && (tabs < 0 || len(line)-len(text) < tabs) {
			tabs = len(line) - len(text)
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", tabs))
	}
	return strings.Trim(strings.Join(lines, ""), "\n") + "\n", nil
}
