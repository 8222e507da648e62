package main

import (
	"strings"

	"github.com/mcpotel/mcpotel/testenv/browser"
)

// inspect takes pictures of the pages of "mcpotel inspect" with the demo's server.
func (p pictures) inspect(mcpotel string) error {
	command, address, err := browser.Inspect(mcpotel, "mcpotel", "serve-demo")
	if err != nil {
		return err
	}
	defer command.Stop()
	t, err := p.browser.Open(large)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.Go(address); err != nil { // which sets the cookie of the browser
		return err
	}
	site, _, _ := strings.Cut(address, "/?")
	night, phone := large, browser.Phone
	night.Dark, phone.Scale = true, 2
	return p.take(site,
		picture{"inspect-call", large, forecast, 1150},
		picture{"inspect-tool-dark", night, at("/tool?name=divide"), 700},
		picture{"inspect-connection", large, at("/"), 900},
		picture{"inspect-tools-phone", phone, at("/tools"), 1300},
	)
}

func at(path string) func(*browser.Tab, string) error {
	return func(t *browser.Tab, site string) error { return t.Go(site + path) }
}

// forecast calls a tool, and waits for the span of the server.
func forecast(t *browser.Tab, site string) error {
	if err := t.Go(site + "/tool?name=forecast"); err != nil {
		return err
	}
	if _, err := browser.Eval[any](t, `document.getElementsByName("/city")[0].value = "Oslo"`); err != nil {
		return err
	}
	if err := t.Click(`button[value=run]`); err != nil {
		return err
	}
	return t.Await(`[...document.querySelectorAll("details.span .kind")].some(k => k.innerText === "SERVER")`)
}
