package receiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

// Links are the addresses to which messages link. Empty fields mean no link.
type Links struct {
	// Trace is the address of the page of a trace, with traceVariable in place of the id.
	Trace string

	// Search is the address of a Jaeger, whose search page is the link if no trace is found.
	Search string

	// Runbook is the address of the page with a section for each alert. The anchor of a section is the name of the alert,
	// in lower case.
	Runbook string
}

// traceVariable stands for the id of the trace in Links.Trace.
const traceVariable = "{trace_id}"

// DefaultRunbook is the address of the runbook of this module.
var DefaultRunbook = func() string {
	base, _, _ := strings.Cut(dashboard.Alerts()[0].RunbookURL(), "#")
	return base
}()

// Check validates the addresses.
func (l Links) Check() error {
	if l.Trace != "" && !strings.Contains(l.Trace, traceVariable) {
		return errors.New("the address of traces has no " + traceVariable)
	}
	for _, address := range []string{strings.ReplaceAll(l.Trace, traceVariable, "0"), l.Search, l.Runbook} {
		u, err := url.Parse(address)
		if address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
			return errors.New("want an address with http or https, and without a user")
		}
	}
	return nil
}

// trace returns the link to a trace. shows is false if the trace does not show the cause.
func (l Links) trace(id string, shows bool) *Link {
	if l.Trace == "" {
		return nil
	}
	text := "Trace"
	if !shows {
		text = "Trace of that time, which may not show the cause"
	}
	return &Link{Text: text, URL: strings.ReplaceAll(l.Trace, traceVariable, url.PathEscape(id)), TraceID: id}
}

// search returns the link to the search for traces of a service with these attributes.
func (l Links) search(service string, attributes map[string]string, since, until time.Time) *Link {
	if l.Search == "" || service == "" {
		return nil
	}
	q := url.Values{"service": {service}, "lookback": {"custom"}, "start": {strconv.FormatInt(since.UnixMicro(), 10)},
		"end": {strconv.FormatInt(until.UnixMicro(), 10)}}
	if tags, err := json.Marshal(attributes); err == nil && len(attributes) > 0 { // strings can always be encoded
		q.Set("tags", string(tags))
	}
	return &Link{Text: "Search for traces", URL: strings.TrimSuffix(l.Search, "/") + "/search?" + q.Encode()}
}

// runbook returns the link to the section of an alert. An alert that is not of the dashboards has a link only if its
// own address is on the page of the configuration.
func (l Links) runbook(a *Alert) *Link {
	if l.Runbook == "" {
		return nil
	}
	if known(a.Name()) != nil {
		return &Link{Text: "Runbook", URL: l.Runbook + "#" + strings.ToLower(a.Name())}
	}
	if section, ok := strings.CutPrefix(a.Annotations["runbook_url"], l.Runbook+"#"); ok {
		return &Link{Text: "Runbook", URL: l.Runbook + "#" + url.PathEscape(section)}
	}
	return nil
}

// unlinked returns the note about an address of the alert that is not of the configuration.
func (l Links) unlinked(a *Alert) string {
	if given := a.Annotations["runbook_url"]; given != "" && l.runbook(a) == nil {
		return fmt.Sprintf("a link to the runbook of the alert, %q, which is not on the page of --runbook", given)
	}
	return ""
}
