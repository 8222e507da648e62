package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds the time of one step.
const patience = 30 * time.Second

// A Browser is a running Chromium.
type Browser struct {
	ctx    context.Context
	cancel []context.CancelFunc
	folder string
}

// Chromium returns the path of Chromium.
func Chromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("Chromium not found; install it with testenv/browser/install, or set CHROMIUM to its path")
}

// Start starts Chromium with an empty profile. [Browser.Close] ends it. If Chromium crashes at its start, which happens
// occasionally, Start starts it once more.
func Start(ctx context.Context) (*Browser, error) {
	path, err := Chromium()
	if err != nil {
		return nil, err
	}
	b, err := start(ctx, path)
	if err != nil && ctx.Err() == nil {
		b, err = start(ctx, path)
	}
	return b, err
}

func start(ctx context.Context, path string) (*Browser, error) {
	folder, err := os.MkdirTemp("", "mcpotel-browser-")
	if err != nil {
		return nil, err
	}
	fonts := filepath.Join(folder, "fonts.conf")
	if err := os.WriteFile(fonts, []byte(fontsConf), 0o600); err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(folder, "profile")), chromedp.Env("FONTCONFIG_FILE="+fonts),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(patience),
	)
	b := &Browser{folder: folder}
	allocated, cancel := chromedp.NewExecAllocator(ctx, options...)
	b.cancel = append(b.cancel, cancel)
	b.ctx, cancel = chromedp.NewContext(allocated)
	b.cancel = append(b.cancel, cancel)
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Close ends Chromium.
func (b *Browser) Close() {
	_ = chromedp.Cancel(b.ctx) // waits until it has ended
	for _, cancel := range b.cancel {
		cancel()
	}
	os.RemoveAll(b.folder)
}

// fontsConf selects the fonts of a desktop system's interface from those of Debian, if they are installed.
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <match target="pattern"><test name="family"><string>system-ui</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
  <match target="pattern"><test name="family"><string>sans-serif</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
  <match target="pattern"><test name="family"><string>ui-monospace</string></test><edit name="family" mode="prepend" binding="strong"><string>JetBrains Mono</string></edit></match>
  <match target="pattern"><test name="family"><string>monospace</string></test><edit name="family" mode="prepend" binding="strong"><string>JetBrains Mono</string></edit></match>
</fontconfig>
`

// A Look is the size and the style of a tab.
type Look struct {
	Width, Height int64
	Scale         float64 // device pixels for each pixel of the page; zero means 1
	Dark          bool
	Phone         bool // emulates a phone with touch
}

// The looks in which pages are tested.
var (
	Desktop = Look{Width: 1280, Height: 800}
	Night   = Look{Width: 1280, Height: 800, Dark: true}
	Phone   = Look{Width: 360, Height: 740, Phone: true}
)

// A Tab is one tab. Only one goroutine at a time may call its methods.
type Tab struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu         sync.Mutex
	complaints []string // guarded by mu
	hosts      map[string]bool
}

// Open opens a tab.
func (b *Browser) Open(l Look) (*Tab, error) {
	t := &Tab{hosts: make(map[string]bool)}
	t.ctx, t.cancel = chromedp.NewContext(b.ctx)
	if err := chromedp.Listen(t.ctx, t.hear); err != nil {
		return nil, err
	}
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	if l.Scale == 0 {
		l.Scale = 1
	}
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(l.Scale)}
	if l.Phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	if _, err := chromedp.Call(t.ctx, network.Enable, network.EnableParams{}); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(t.ctx, log.Enable, cdp.Empty{}); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		return nil, err
	}
	return t, t.do(chromedp.EmulateViewport(l.Width, l.Height, options...))
}

// Close closes the tab.
func (t *Tab) Close() { t.cancel() }

// hear records the messages that the developer tools would show.
func (t *Tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
			t.hosts[u.Host] = true
		}
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "a status of 422") { // a form with errors
			return
		}
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			t.complaints = append(t.complaints, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		t.complaints = append(t.complaints, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		t.complaints = append(t.complaints, "console."+string(e.Type))
	}
}

// Complaints returns the errors and warnings in the console since the tab was opened.
func (t *Tab) Complaints() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complaints
}

// Hosts returns the hosts to which the tab has sent requests.
func (t *Tab) Hosts() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for h := range t.hosts {
		all = append(all, h)
	}
	return all
}

func (t *Tab) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// Go opens a page.
func (t *Tab) Go(address string) error {
	if err := t.do(chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// Click clicks on the first element that a CSS selector matches.
func (t *Tab) Click(selector string) error {
	if err := t.do(chromedp.Click(chromedp.CSS(selector))); err != nil {
		return fmt.Errorf("click on %s: %w", selector, err)
	}
	return nil
}

// Await waits until a JavaScript expression is true.
func (t *Tab) Await(expression string) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for %s: %w", patience, expression, errors.Join(context.Cause(ctx), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("%.80s: %w", strings.TrimSpace(expression), err)
	}
	return v, err
}

// Picture returns a PNG of the tab: the viewport, or the whole page up to a height.
func (t *Tab) Picture(upTo float64) ([]byte, error) {
	type size struct{ Width, Height float64 }
	s, err := Eval[size](t, "({Width: innerWidth, Height: "+
		"Math.ceil(document.documentElement.getBoundingClientRect().height)})")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: s.Width, Height: min(s.Height, upTo), Scale: 1},
	})
	if err != nil {
		return nil, err
	}
	return shot.Data, nil
}
