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

// console is standard error, where everything goes that is no result, and the person who may sit there. Its methods may
// be called from any goroutine.
type console struct {
	w        io.Writer
	terminal bool       // w is one, so that a line can be written over
	columns  func() int // how wide the terminal is; 0 for not known
	person   bool       // a person can be asked
	in       *bufio.Reader

	said sync.Map // texts that once has said

	turn lock.Mutex  // held by the goroutine that asks the person
	read chan answer // of one element; nil while no line is read. It belongs to the holder of the turn

	mu     sync.Mutex
	shown  bool               // guarded by mu; there is a line that will be written over
	asking bool               // guarded by mu; the person is about to answer: no such line now
	clocks map[*pausable]bool // guarded by mu; those that stand still while the person is asked
}

// answer is a line that the person has typed, or why there is none.
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

// isTerminal reports whether what is read or written is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns how wide the terminal is that is written to, 0 if that is not known.
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

// cut shortens a line so that it does not reach the end of a terminal, and can be written over. Characters that may be
// wide count as two.
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

// say prints a message of this program. Every line but the first is indented, so that none in what a server says passes
// for another message.
func (c *console) say(format string, args ...any) {
	c.print("mcpotel: " + visible.Indented(fmt.Sprintf(format, args...)) + "\n")
}

// once calls say, but for a text that it has passed to say before.
func (c *console) once(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, before := c.said.LoadOrStore(text, true); !before {
		c.say("%s", text)
	}
}

// print prints text, with no more than line breaks to control the terminal.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	io.WriteString(c.w, visible.Text(text))
}

// wipe takes away the line that is written over. mu is held.
func (c *console) wipe() {
	if c.shown {
		io.WriteString(c.w, "\r\x1b[K")
		c.shown = false
	}
}

// clear takes away the line that is written over.
func (c *console) clear() { c.print("") }

// progress shows how far a call is, on one line that is written over and cleared in the end. Where there is no terminal
// it shows nothing.
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

// status shows text on the line that is written over. Where there is no terminal it shows nothing.
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

// asks begins to ask the person something, and waits until nothing else is asked. done ends it.
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

// pause lets the clocks stand still, or go on. mu is held.
func (c *console) pause(standing bool) {
	for p := range c.clocks {
		p.ask(standing)
	}
}

// watched lets the time of p stand still while the person is asked, until it is forgotten.
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

// elsewhere lets the time stand still while the person is asked in another place, such as a browser. back ends that.
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

// ask asks the person for one line, and returns it without the spaces around it. At the end of what they type the error
// is [io.EOF].
func (c *console) ask(ctx context.Context, prompt string) (string, error) {
	c.print(prompt)
	if c.read == nil {
		read := make(chan answer, 1)
		c.read = read
		go func() { // ends with the line, or with the program: a terminal cannot be interrupted
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
