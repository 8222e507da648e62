package otlp

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// newConsole returns the handler for people: one line a record, with trace ids and baggage members at the end. On a
// terminal, lines are short if level is above Debug.
func newConsole(w io.Writer, level slog.Leveler, terminal, colour bool, baggageKeys ...string) slog.Handler {
	return telemetry.NewTraceHandler(tint.NewTextHandler(w, &tint.Options{
		Level:      level,
		TimeFormat: "15:04:05.000",
		NoColor:    !colour,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if terminal && level.Level() > slog.LevelDebug && len(groups) == 0 {
				a = short(a)
			}
			return readable(groups, a)
		},
	}), baggageKeys...)
}

// shortNames are the names of the attributes that matter most, in a short line.
var shortNames = map[string]string{
	names.KeyMCPClientName: "client", names.KeyMCPServerName: "server", names.KeyMCPMethodName: "method",
	names.KeyGenAIToolName: "tool", names.KeyErrorType: names.KeyErrorType, names.KeyExceptionMessage: "error",
	names.KeyMCPClientConnectionFrom: "from", names.KeyMCPClientConnectionTo: "to",
	names.KeyMCPClientConnectionReason: "reason", names.KeyMCPClientViolationReason: "reason",
	names.KeyMCPServerRefusalReason: "reason", names.KeyProcessExitCode: "code", names.KeyMCPClientProcessSignal: "signal",
	"trace_id": "trace_id",
}

// ourPrefixes are the prefixes of all other attributes of the telemetry schema.
var ourPrefixes = []string{"mcp_client.", "mcp_server.", "mcp.", "gen_ai.", "jsonrpc.", "network.", "server.", "client.",
	"process.", "rpc.", "http.", "exception.", "span_id"}

// short returns an attribute of a short line; the zero value for an attribute that the line omits. Attributes of the
// program itself stay.
func short(a slog.Attr) slog.Attr {
	if name, ok := shortNames[a.Key]; ok {
		a.Key = name
		return a
	}
	if slices.ContainsFunc(ourPrefixes, func(p string) bool { return strings.HasPrefix(a.Key, p) }) {
		return slog.Attr{}
	}
	return a
}

// console is the output for people: log records, and the output of the console exporters. Texts of peers cannot
// control the terminal: the JSON of the exporters escapes them, and records pass through [harmless].
type console struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.Write(p)
}

// jsonLines writes JSON to the console.
type jsonLines struct{ *console }

func (l jsonLines) Write(p []byte) (int, error) {
	text := p
	if bytes.ContainsFunc(p, isHidden) {
		text = nil
		for _, r := range string(p) {
			if isHidden(r) {
				for _, unit := range utf16.Encode([]rune{r}) {
					text = fmt.Appendf(text, `\u%04x`, unit)
				}
				continue
			}
			text = utf8.AppendRune(text, r)
		}
	}
	if _, err := l.console.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// colourful reports whether w is a terminal and the user did not ask for plain text (no-color.org).
func colourful(w io.Writer, getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && isTerminal(w)
}

// readable removes three things that make a line hard to read: the event's name, which is already the line's message,
// superfluous digits, and the text of a flight record, which is pages long.
func readable(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) == 0 && a.Key == names.KeyEventName, strings.HasSuffix(a.Key, ".flight_record.text"):
		return slog.Attr{}
	case a.Value.Kind() == slog.KindFloat64:
		short, _ := strconv.ParseFloat(strconv.FormatFloat(a.Value.Float64(), 'g', 4, 64), 64)
		return slog.Float64(a.Key, short)
	}
	return harmless(groups, a)
}

// harmless prevents texts of peers (a line of stderr, the text of an error) from controlling the terminal. With
// colour, tint prints escape characters unchanged, and turns the four characters `\x1b` into one.
func harmless(groups []string, a slog.Attr) slog.Attr {
	a.Key = printable(a.Key)
	switch a.Value.Kind() {
	case slog.KindString:
		text := printable(a.Value.String())
		if len(groups) == 0 && a.Key == slog.MessageKey { // the only text that tint never quotes
			text = oneLine.Replace(text)
		}
		a.Value = slog.StringValue(text)
	case slog.KindAny:
		v := a.Value.Any()
		switch v.(type) {
		case slog.Level, *slog.Source, []byte:
			return a
		}
		if text := fmt.Sprintf("%+v", v); text != printable(text) {
			a.Value = slog.StringValue(printable(text))
		}
	}
	return a
}

var oneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// printable escapes unprintable characters as \u and four hex digits, or \U and eight. It keeps line breaks and tabs,
// because tint quotes them.
func printable(s string) string {
	if !strings.ContainsFunc(s, isHidden) && !strings.Contains(s, `\x1b`) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return strings.ReplaceAll(b.String(), `\x1b`, `\u001b`)
}

func isHidden(r rune) bool { return !visible.Rune(r) && r != '\n' && r != '\t' }
