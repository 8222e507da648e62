package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// console represents standard error, for all output except results, and the person at the terminal, if any. Its methods
// are safe for concurrent use.
type console struct {
	w        io.Writer
	terminal bool       // w is a terminal, so the console can overwrite a line
	columns  func() int // width of the terminal; 0 if unknown
	person   bool       // a person can be asked
	in       *bufio.Reader

	said map[string]bool // texts that the method once has printed, at most maxSaid; guarded by mu

	turn lock.Mutex  // held by the goroutine that asks the person
	read chan answer // receives the line that is being read; capacity 1; nil if no line is being read; guarded by turn

	mu     sync.Mutex
	shown  bool               // the status line is on the screen; guarded by mu
	asking bool               // the person is answering a question, so no status line is shown; guarded by mu
	clocks map[*pausable]bool // clocks to pause during a question to the person; guarded by mu
}

// answer is a line from the person, or the error of reading it.
type answer struct {
	line string
	err  error
}

func newConsole(s streams) *console {
	return &console{
		w: s.err, terminal: isTerminal(s.err), person: s.person, in: bufio.NewReader(s.in),
		clocks: map[*pausable]bool{}, columns: func() int { return columns(s.err) },
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal, or 0 if it is unknown.
func columns(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// cut shortens a line to less than the width of a terminal, so that the console can overwrite it. Characters that may
// be wide count as two columns.
func cut(line string, columns int) string {
	if columns <= 0 {
		return line
	}
	const firstWide = 0x1100
	taken := 0
	for i, r := range line {
		taken++
		if r >= firstWide {
			taken++
		}
		if taken >= columns {
			return line[:i]
		}
	}
	return line
}

// say prints a message of this program. It indents every line except the first, so that a server's text cannot imitate
// another message.
func (c *console) say(format string, args ...any) {
	c.print("mcpotel: " + visible.Indented(fmt.Sprintf(format, args...)) + "\n")
}

// maxSaid bounds the texts that a console remembers. When there are more, it forgets all of them.
const maxSaid = 1000

// once prints a message like say, but only the first time for each text.
func (c *console) once(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.mu.Lock()
	before := c.said[text]
	if len(c.said) >= maxSaid || c.said == nil {
		c.said = map[string]bool{}
	}
	c.said[text] = true
	c.mu.Unlock()
	if !before {
		c.say("%s", text)
	}
}

// print prints text, without control characters except line breaks.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	io.WriteString(c.w, visible.Text(text))
}

// wipe erases the status line. The caller holds mu.
func (c *console) wipe() {
	if c.shown {
		io.WriteString(c.w, "\r\x1b[K")
		c.shown = false
	}
}

// clear erases the status line.
func (c *console) clear() { c.print("") }

// progress shows the progress of a call on the status line. Without a terminal it shows nothing.
func (c *console) progress(p *mcp.ProgressParams) {
	text := fmt.Sprintf("%g", p.Progress)
	if p.Total != nil && *p.Total > 0 {
		text = fmt.Sprintf("%3.0f%% (%g of %g)", 100*p.Progress / *p.Total, p.Progress, *p.Total)
	}
	if p.Message != "" {
		text += " " + visible.FirstLine(p.Message)
	}
	c.status(text)
}

// status shows text on the status line. Without a terminal it shows nothing.
func (c *console) status(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.terminal || c.asking {
		return
	}
	c.wipe()
	io.WriteString(c.w, cut(text, c.columns()))
	c.shown = true
}

// asks begins a question to the person, after all earlier questions have ended. done ends the question.
func (c *console) asks(ctx context.Context) (done func(), _ error) {
	if err := c.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	c.setAsking(true)
	return func() {
		c.setAsking(false)
		c.turn.Unlock()
	}, nil
}

func (c *console) setAsking(asking bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	c.asking = asking
	c.pause(asking)
}

// pause stops the clocks if standing is true, and otherwise resumes them. The caller holds mu.
func (c *console) pause(standing bool) {
	for p := range c.clocks {
		p.ask(standing)
	}
}

// watched makes p pause during questions to the person, until forget is called.
func (c *console) watched(p *pausable) (forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clocks[p] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.clocks, p)
	}
}

// elsewhere pauses the clocks while the person is busy in another program, such as a browser. back resumes them.
func (c *console) elsewhere() (back func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause(true)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pause(c.asking)
	}
}

// ask prints a prompt and reads one line from the person. It trims surrounding spaces. At the end of the input it
// returns [io.EOF].
func (c *console) ask(ctx context.Context, prompt string) (string, error) {
	c.print(prompt)
	if c.read == nil {
		read := make(chan answer, 1)
		c.read = read
		go func() { // ends after a line or with the program: a read from a terminal cannot be interrupted
			line, err := c.in.ReadString('\n')
			read <- answer{line, err}
		}()
	}
	select {
	case a := <-c.read:
		c.read = nil
		if a.err != nil && a.line == "" {
			c.print("\n")
			return "", a.err
		}
		return strings.TrimSpace(a.line), nil
	case <-ctx.Done():
		c.print("\n")
		return "", context.Cause(ctx)
	}
}
