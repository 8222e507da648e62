package browser

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/creack/pty"
)

// InTerminal runs a command in a terminal with this number of columns until it ends, and returns its output to the
// terminal, standard error included.
func InTerminal(columns uint16, path string, args ...string) (string, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = append(Environment(), "TERM=xterm-256color")
	kill := time.AfterFunc(2*patience, func() { cmd.Process.Kill() })
	defer kill.Stop()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 200, Cols: columns})
	if err != nil {
		return "", err
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // returns an error on Linux when the program has ended
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, out.String())
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), nil
}

// sgr matches the only kind of escape sequence that the command sends to a terminal.
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// TerminalPage creates a page with the output of a terminal, in a window with a title. It returns the URL of the page
// and a function that removes it.
func TerminalPage(title, text string) (address string, remove func(), err error) {
	var b strings.Builder
	b.WriteString(strings.Replace(terminalHTML, "TITLE", html.EscapeString(title), 1))
	open, at := 0, 0
	for _, m := range sgr.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(cells(text[at:m[0]]))
		at = m[1]
		if code := text[m[2]:m[3]]; code == "" || code == "0" {
			b.WriteString(strings.Repeat("</span>", open))
			open = 0
		} else {
			fmt.Fprintf(&b, `<span class="f%s">`, code)
			open++
		}
	}
	b.WriteString(cells(text[at:]) + strings.Repeat("</span>", open) + "</pre></div>")
	f, err := os.CreateTemp("", "mcpotel-terminal-*.html")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.Remove(f.Name()) }
	if _, err = f.WriteString(b.String()); err != nil {
		remove()
		return "", nil, err
	}
	return "file://" + f.Name(), remove, f.Close()
}

// blocks maps a character to the part of its cell that a terminal fills: from and to, in eighths from the left.
var blocks = map[rune][2]int{
	'█': {0, 8}, '▉': {0, 7}, '▊': {0, 6}, '▋': {0, 5}, '▌': {0, 4}, '▍': {0, 3}, '▎': {0, 2}, '▏': {0, 1}, '▐': {4, 8},
	'▕': {7, 8},
}

// cells escapes text. It draws block characters from cell to cell like a terminal, because the block characters of a
// font leave gaps.
func cells(text string) string {
	var b strings.Builder
	for _, r := range text {
		if ends, ok := blocks[r]; ok {
			fmt.Fprintf(&b, `<i style="--from:%d;--to:%d">&nbsp;</i>`, ends[0], ends[1])
			continue
		}
		b.WriteString(html.EscapeString(string(r)))
	}
	return b.String()
}

const terminalHTML = `<!DOCTYPE html><meta charset="utf-8"><style>
html { background: #fff; }
body { margin: 0; padding: 28px; font: 14px/1.35 "JetBrains Mono", "DejaVu Sans Mono", monospace; font-variant-ligatures: none; }
.window { background: #12161f; color: #dde3ee; border-radius: 12px; box-shadow: 0 12px 40px #0f172a40, 0 2px 8px #0f172a26; overflow: hidden; }
.bar { background: #1c2230; color: #9aa6ba; padding: 9px 14px; display: flex; align-items: center; gap: 8px; font: 13px Inter, "DejaVu Sans", sans-serif; }
.bar b { width: 12px; height: 12px; border-radius: 50%; background: #ff5f57; }
.bar b + b { background: #febc2e; } .bar b + b + b { background: #28c840; }
.bar span { flex: 1; text-align: center; margin-right: 52px; }
pre { margin: 0; padding: 14px 20px 18px; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
i { font-style: normal; display: inline-block; height: 1.35em; vertical-align: top; --a: calc(var(--from) * 12.5%); --b: calc(var(--to) * 12.5%);
  background: linear-gradient(to right, transparent var(--a), currentColor var(--a) var(--b), transparent var(--b)); margin-right: -.02ch; padding-right: .02ch; }
.f1 { font-weight: 700; color: #fff; } .f2 { color: #8b97ab; } .f31 { color: #ff7b72; } .f32 { color: #6fcf85; } .f33 { color: #e8b64c; }
.f34 { color: #79a8ff; } .f35 { color: #d48ff0; } .f36 { color: #4fc3d3; } .f91 { color: #ff7b72; } .f92 { color: #6fcf85; } .f93 { color: #e8b64c; }
</style><div class="window"><div class="bar"><b></b><b></b><b></b><span>TITLE</span></div><pre>`
