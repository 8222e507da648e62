package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/scrape"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// probeCommand is one run of the command "probe".
type probeCommand struct {
	doctorCommand
	listen string
	call   string

	words     []string // the words of call
	arguments *given   // the arguments of call
	members   []mcpclient.Member
	places    chan struct{}          // one for each probe that runs
	busy      map[string]*lock.Mutex // held by the probe of a server, by its name
}

// The modules of a probe.
const (
	moduleDoctor = "doctor"
	moduleCall   = "call"
)

func newProbe(s streams) *cobra.Command {
	c := &probeCommand{}
	c.connection = connection{examines: true, endless: true, paged: true, remote: remote{stored: true}}
	cmd := c.command(s, &cobra.Command{
		Use: "probe [flags]" + behind, Short: "check servers for Prometheus, as the blackbox exporter does for web sites",
		Long: "Prometheus asks /probe?target=NAME for the health of a server. The module doctor, the default, makes the " +
			"checks of \"mcpotel doctor\"; module=call makes the call of --call instead. /targets lists the servers for the " +
			"http_sd_configs of Prometheus. Only the servers of the command line can be probed.",
		Example: "mcpotel probe --config mcp.json\n" +
			"mcpotel probe --listen 127.0.0.1:9115 --call 'search q=health' --url https://mcp.example.com/mcp",
	}, c.run, func(f *pflag.FlagSet) {
		f.StringVar(&c.listen, "listen", ":9115", "serve the probes at this `ADDRESS`. Without a host it listens on all "+
			"interfaces. The pages are unauthenticated; they contain names of servers, but no arguments and results")
		f.StringVar(&c.call, "call", "", "the `CALL` of the module call: a tool and its arguments, such as 'search "+
			"q=health'. The server must mark the tool as read-only")
		f.DurationVar(&c.each, "timeout", doctor.DefaultTimeout, "limit a probe to this `DURATION`. A shorter "+
			"scrape_timeout of Prometheus takes precedence")
	})
	withStoredTokens(cmd)
	return cmd
}

// run serves probes until it is interrupted.
func (c *probeCommand) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	if c.each <= 0 {
		return misuse("--timeout must be above zero")
	}
	if err := c.readCall(); err != nil {
		return err
	}
	c.console.person = false // a probe asks nobody
	members, free, err := c.patients()
	if err != nil {
		return err
	}
	defer free()
	if len(c.server) > 0 {
		members[0].Name = filepath.Base(c.server[0]) // arguments may be secrets
	}
	c.members, c.places, c.busy = members, make(chan struct{}, atOnce), map[string]*lock.Mutex{}
	for _, m := range members {
		c.busy[m.Name] = new(lock.Mutex)
	}
	address := withColon(c.listen)
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return taken("listen", address, err)
	}
	if err != nil {
		return misuse("--listen: %w; give a port, such as :9115, or an address of this machine with a port", err)
	}
	handler := c.handler()
	if hostname.LoopbackAddr(l.Addr()) {
		handler = loopback.Named(handler)
	}
	failed := make(chan error, 1)
	server := scrape.Serve(l, handler, func(err error) { failed <- err })
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastScrape)
		defer cancel()
		_ = server.Shutdown(ctx) // on failure, a probe was cut
	}()
	c.console.say("probes are at http://%v/probe?target=NAME, for %s", l.Addr(), memberNames(members))
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// readCall parses --call.
func (c *probeCommand) readCall() (err error) {
	if c.call == "" {
		return nil
	}
	if c.words, err = lineWords(c.call); err != nil {
		return misuse("--call: %w", err)
	}
	if slices.ContainsFunc(c.words, func(w string) bool { return w == "-" || strings.HasSuffix(w, "=@-") }) {
		return misuse("--call: the arguments cannot come from standard input")
	}
	if len(c.words) == 0 {
		return misuse("--call: the name of the tool is missing")
	}
	c.arguments, err = c.readArguments(c.words[1:])
	return err
}

func (c *probeCommand) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.index)
	mux.HandleFunc("GET /targets", c.targets)
	mux.HandleFunc("GET /probe", c.probe)
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) { _ = printLine(w, "ok") })
	return mux
}

// index links to a probe of each server.
func (c *probeCommand) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_ = probeIndex.Execute(w, c.members) // an error means that the HTTP client has disconnected
}

var probeIndex = template.Must(template.New("index").Parse(`<!DOCTYPE html><html lang="en"><title>mcpotel probe</title>
<h1>mcpotel probe</h1><ul>{{range .}}<li><a href="/probe?target={{.Name}}">{{.Name}}</a>{{end}}</ul>
`))

// targets lists the servers in the format of Prometheus's HTTP service discovery.
func (c *probeCommand) targets(w http.ResponseWriter, _ *http.Request) {
	type group struct {
		Targets []string `json:"targets"`
	}
	all := []group{{[]string{}}}
	for _, m := range c.members {
		all[0].Targets = append(all[0].Targets, m.Name)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(all) // an error means that the HTTP client has disconnected
}

// probe examines a server and answers with metrics.
func (c *probeCommand) probe(w http.ResponseWriter, r *http.Request) {
	target, module := r.FormValue("target"), cmp.Or(r.FormValue("module"), moduleDoctor)
	i := slices.IndexFunc(c.members, func(m mcpclient.Member) bool { return m.Name == target })
	switch {
	case target == "" && len(c.members) == 1:
		i = 0
	case i < 0:
		http.Error(w, "target must be one of: "+memberNames(c.members), http.StatusBadRequest)
		return
	}
	if module != moduleDoctor && (module != moduleCall || c.call == "") {
		http.Error(w, "module must be doctor, or call if the command has --call", http.StatusBadRequest)
		return
	}
	limit := c.limit(r)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit + closing + answering)) // see scrape.Serve
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	m := c.members[i]
	if err := c.busy[m.Name].LockContext(ctx); err != nil {
		http.Error(w, "another probe of this server runs", http.StatusServiceUnavailable)
		return
	}
	defer c.busy[m.Name].Unlock()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		http.Error(w, "too many probes run", http.StatusServiceUnavailable)
		return
	}
	registry := prometheus.NewRegistry()
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		registry.MustRegister(g)
		return g
	}
	began := time.Now()
	success := false
	if module == moduleCall {
		err := c.callOf(ctx, m)
		success = err == nil
		if err != nil {
			c.console.say("%s: the call of the probe failed: %v", m.Name, err)
		}
	} else {
		success = c.examineOf(ctx, m, gauge)
	}
	gauge("probe_duration_seconds", "Duration of the probe.").WithLabelValues().Set(time.Since(began).Seconds())
	gauge("probe_success", "Whether the probe found no failure: 1 or 0.").WithLabelValues().Set(oneIf(success))
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

const (
	answering = 500 * time.Millisecond // the part of the time of a scrape that is left for the answer
	closing   = time.Second            // the time to close the connection of a call
)

// limit returns the time for a probe: --timeout, or the time that Prometheus waits, if that is shorter.
func (c *probeCommand) limit(r *http.Request) time.Duration {
	limit := c.each
	if s, err := strconv.ParseFloat(r.Header.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64); err == nil && s > 0 {
		limit = min(limit, max(time.Duration(s*float64(time.Second))-answering, answering))
	}
	return limit
}

// verdicts are the verdicts that are metrics.
var verdicts = []doctor.Verdict{doctor.OK, doctor.Note, doctor.Warn, doctor.Fail}

// examineOf makes the checks of the doctor, and reports whether none failed.
func (c *probeCommand) examineOf(ctx context.Context, m mcpclient.Member,
	gauge func(name, help string, labels ...string) *prometheus.GaugeVec) (success bool) {
	options := c.doctorOptions(nil, m)
	if deadline, ok := ctx.Deadline(); ok {
		options.Timeout = time.Until(deadline)
	}
	report := doctor.Examine(ctx, doctor.Server{Name: m.Name, Transport: m.Transport}, options)
	check := gauge("mcp_probe_check", "Verdict of each check of mcpotel doctor: 1 for the verdict, 0 for the others. "+
		"Checks that were skipped are absent.", "check", "verdict")
	for _, one := range report.Checks {
		if one.Verdict == doctor.Skipped {
			continue
		}
		for _, v := range verdicts {
			check.WithLabelValues(one.Name, string(v)).Set(oneIf(one.Verdict == v))
		}
	}
	gauge("mcp_probe_connected", "Whether a session was established: 1 or 0.").WithLabelValues().
		Set(oneIf(report.Connected))
	return report.Verdict != doctor.Fail
}

// oneIf returns 1 for true and 0 for false.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// callOf makes the call of --call.
func (c *probeCommand) callOf(ctx context.Context, m mcpclient.Member) error {
	options := *m.Options
	options.Timeouts.Close = closing
	client, err := mcpclient.Connect(ctx, m.Transport, &options)
	if err != nil {
		return err
	}
	defer client.Close()
	tool, err := c.findTool(ctx, client, c.words[0])
	if err != nil {
		return err
	}
	if !readOnly(tool) {
		return fmt.Errorf("the server does not mark the tool %s as read-only", tool.Name)
	}
	arguments, err := c.arguments.toTool(ctx, &c.connection, client, tool.Name)
	if err != nil {
		return err
	}
	result, err := client.CallTool(ctx, tool.Name, arguments)
	if err != nil {
		return err
	}
	return result.Err()
}

func readOnly(t *mcp.Tool) bool {
	return t.Annotations != nil && t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
}
