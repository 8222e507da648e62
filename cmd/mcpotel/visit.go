package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// visit asks the person whether to open a page that a server requests, and opens it in the browser. Without a terminal
// it declines.
func (c *console) visit(ctx context.Context, server string, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
	if !c.person {
		c.say("%s requests that you open %s: %s", server, e.URL, visible.Line(e.Message))
		c.say("declined: there is no person at a terminal to ask")
		return mcp.ElicitDecline, nil
	}
	done, err := c.asks(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	c.say("%s requests that you open a page at\n\n%s\n\nThe whole address: %s\nMessage of the server: %s", server,
		visible.Line(e.URL.Host), e.URL, visible.Line(e.Message))
	if e.Warning != "" {
		c.say("take care: %s", e.Warning)
	}
	text, err := c.command(ctx, "Open it? (yes, no) [no]: ")
	switch {
	case errors.Is(err, errDeclined):
		return mcp.ElicitDecline, nil
	case errors.Is(err, io.EOF):
		return mcp.ElicitCancel, nil
	case err != nil:
		return "", err
	}
	if agreed, err := typing.YesNo(text); err != nil || !agreed {
		return mcp.ElicitDecline, nil
	}
	c.browse(e.URL.String())
	return mcp.ElicitAccept, nil
}

// visits bounds the number of retries of a call after its server has requested visits to pages.
const visits = 3

// If a call failed because its server requires visits to pages, visitAll visits these pages. again reports whether the
// person has confirmed all visits, so that the call can be retried.
func (c *connection) visitAll(ctx context.Context, failed error) (again bool, _ error) {
	required, ok := errors.AsType[*mcpclient.URLElicitationRequiredError](failed)
	if !ok {
		return false, nil
	}
	for _, e := range required.Elicitations {
		action, err := c.console.visit(ctx, "the server", e)
		if err != nil {
			return false, err
		}
		if action != mcp.ElicitAccept {
			return false, nil
		}
	}
	done, err := c.console.asks(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	_, err = c.console.command(ctx, "Press Enter when you have finished there: ")
	return err == nil, nil
}

// browse opens a page in the browser, or asks the person to open it.
func (c *console) browse(url string) {
	if hasBrowser() && openPage(url) == nil {
		return
	}
	c.say("open this page:\n%s", url)
}

// openPage starts the system's opener. The URL is a single argument and does not pass through a shell.
func openPage(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // the goroutine ends with the opener, which may be the browser itself
	return nil
}
