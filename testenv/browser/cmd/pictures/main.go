// Command pictures makes the pictures of the documentation from the running demo.
//
//	go -C testenv/browser run ./cmd/pictures ../../docs/images
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/mcpotel/mcpotel/testenv/browser"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures DIR")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	bin, err := os.MkdirTemp("", "mcpotel-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	mcpotel, err := browser.Build(ctx, bin)
	if err != nil {
		return err
	}
	if err := os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil { // for pictures of commands
		return err
	}
	b, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p := pictures{b, dir}
	if err := p.debugPage(ctx, bin); err != nil {
		return err
	}
	if err := p.terminal(mcpotel); err != nil {
		return err
	}
	if err := p.inspect(mcpotel); err != nil {
		return err
	}
	demo, url, err := browser.Demo(mcpotel)
	if err != nil {
		return err
	}
	defer demo.Stop()
	return p.pages(url)
}

type pictures struct {
	browser *browser.Browser
	dir     string
}

// A picture is a picture of one page. To add a page, add a line to pages.
type picture struct {
	name string
	look browser.Look
	page func(t *browser.Tab, url string) error // opens the page; url is the URL of the demo
	upTo float64                                // pixels from the top
}

var large = browser.Look{Width: 1240, Height: 600, Scale: 1.5}

func (p pictures) pages(url string) error {
	night, phone := large, browser.Phone
	night.Dark = true
	phone.Scale = 2
	return p.take(url,
		picture{"trace-list", large, list, 800},
		picture{"trace-page", large, timeout, 1100},
		picture{"trace-page-dark", night, success, 1000},
		picture{"trace-page-phone", phone, timeout, 1500},
		picture{"trace-metrics", large, metrics, 900},
	)
}

// take takes pictures of the pages at a URL.
func (p pictures) take(url string, all ...picture) error {
	for _, want := range all {
		tab, err := p.browser.Open(want.look)
		if err != nil {
			return err
		}
		if err := want.page(tab, url); err != nil {
			return fmt.Errorf("%s: %w", want.name, err)
		}
		if err := p.save(tab, want.name, want.upTo); err != nil {
			return err
		}
		tab.Close()
	}
	return nil
}

func (p pictures) save(t *browser.Tab, name string, upTo float64) error {
	png, err := t.Picture(upTo)
	if err == nil {
		png, err = shrink(png)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	path := filepath.Join(p.dir, name+".png")
	fmt.Println(path)
	return os.WriteFile(path, png, 0o644)
}

func list(t *browser.Tab, url string) error { return t.Go(url) }

func metrics(t *browser.Tab, url string) error { return t.Go(url + "metrics") }

func success(t *browser.Tab, url string) error {
	return scene(t, url, "succeeds", "SERVER", "tools/call forecast")
}

func timeout(t *browser.Tab, url string) error {
	return scene(t, url, "times out", "CLIENT", "tools/call wait")
}

// scene opens the trace of a scene and one of its spans.
func scene(t *browser.Tab, url, title, kind, span string) error {
	if err := t.Go(url); err != nil {
		return err
	}
	link, err := browser.Eval[string](t,
		fmt.Sprintf(`[...document.querySelectorAll("#traces a")].find(a => a.textContent.includes(%q)).href`, title))
	if err != nil {
		return err
	}
	if err := t.Go(link); err != nil {
		return err
	}
	_, err = browser.Eval[bool](t, fmt.Sprintf(`(() => {
		const d = [...document.querySelectorAll("details.span")].find(d =>
			d.querySelector(".kind").textContent === %q && d.querySelector(".title").textContent.includes(%q));
		return d.open = true;
	})()`, kind, span))
	return err
}

// terminal takes pictures of the demo in a terminal.
func (p pictures) terminal(mcpotel string) error {
	text, err := browser.InTerminal(110, mcpotel, "demo")
	if err != nil {
		return err
	}
	address, remove, err := browser.TerminalPage("mcpotel demo", shortened(text))
	if err != nil {
		return err
	}
	defer remove()
	tab, err := p.browser.Open(browser.Look{Width: 1024, Height: 600, Scale: 2})
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := tab.Go(address); err != nil {
		return err
	}
	return p.save(tab, "waterfall", 4000)
}

// shortened removes repetitive scenes from the demo's output.
func shortened(text string) string {
	var kept []string
	for i, part := range strings.Split(text, "\n== ") {
		if i > 0 && !strings.HasPrefix(part, "a call that") && !strings.HasPrefix(part, "a server that") {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, "\n== ")
}
