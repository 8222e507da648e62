package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/testenv/browser"
)

// debugPage takes pictures of the debug page with clients and servers in trouble.
func (p pictures) debugPage(ctx context.Context, bin string) error {
	trouble, url, err := browser.Trouble(ctx, bin)
	if err != nil {
		return err
	}
	defer trouble.Stop()
	time.Sleep(4 * time.Second) // gives the calls an age
	day, phone := browser.Look{Width: 1200, Height: 780, Scale: 1.5}, browser.Phone
	night := day
	night.Dark, phone.Scale = true, 2
	return p.take(url,
		picture{"debug-page", day, list, 1060},
		picture{"debug-page-client", day, of("weather"), 1250},
		picture{"debug-page-backoff-dark", night, of("calendar"), 960},
		picture{"debug-page-server-dark", night, ofServer, 1000},
		picture{"debug-page-phone", phone, list, 1500},
	)
}

// of returns a function that opens the page of a client.
func of(name string) func(*browser.Tab, string) error {
	return func(t *browser.Tab, url string) error {
		return follow(t, url, fmt.Sprintf(
			`[...document.querySelectorAll("table.clients a")].find(a => a.textContent === %q).href`, name))
	}
}

func ofServer(t *browser.Tab, url string) error {
	return follow(t, url, `document.querySelector("table.servers a").href`)
}

// follow opens a page and then the link that the expression href returns.
func follow(t *browser.Tab, url, href string) error {
	if err := t.Go(url); err != nil {
		return err
	}
	to, err := browser.Eval[string](t, href)
	if err != nil {
		return err
	}
	return t.Go(to)
}
