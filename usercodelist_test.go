package mcpotel_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// callers are the packages that call code of their users.
var callers = []string{
	"mcpclient", "mcpclient/auth", "mcpclient/config", "mcpclient/telemetry", "internal/instrument",
	"mcpclient/telemetry/otlp", "mcpclient/transport",
	"mcpserver", "mcpserver/store", "mcpserver/bearer", "inspect", "inspect/debugpage",
}

// TestEveryCallbackHasAFailureCase finds all through which users hand code to this module: parameters and fields of
// function or interface type, and the methods of those interfaces. Each of them is one that a case fails, or has a
// reason why not.
func TestEveryCallbackHasAFailureCase(t *testing.T) {
	failed := map[string]string{}
	for _, c := range allCases() {
		for _, name := range c.callbacks {
			failed[name] = c.name
		}
	}
	found := callbacksOf(t)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if failed[name] == "" && unfailed[name] == "" {
			t.Errorf("callback %s: want a case that fails it, or a reason why there is none", name)
		}
	}
	for name, c := range failed {
		if !found[name] || unfailed[name] != "" {
			t.Errorf("case %q names %s, want a callback that is there and has no reason not to be failed", c, name)
		}
	}
	for name := range unfailed {
		if !found[name] {
			t.Errorf("there is a reason not to fail %s, want a callback that is there", name)
		}
	}
}

// callbacksOf returns the callbacks of all packages, by what they are called in the documentation.
func callbacksOf(t *testing.T) map[string]bool {
	t.Helper()
	l := &lister{found: map[string]bool{}}
	importPackage := packages(t)
	for _, name := range callers {
		p, err := importPackage(module + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Scope().Names() {
			if o := p.Scope().Lookup(n); o.Exported() {
				l.object(o)
			}
		}
	}
	return l.found
}

// packages returns what reads a package as the compiler has left it.
func packages(t *testing.T) func(path string) (*types.Package, error) {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, name := range callers {
		args = append(args, module+"/"+name)
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no package %s", path)
		}
		return os.Open(files[path])
	})
	return from.Import
}

// lister collects callbacks.
type lister struct{ found map[string]bool }

func (l *lister) object(o types.Object) {
	name := o.Pkg().Name() + "." + o.Name()
	switch o := o.(type) {
	case *types.Func:
		l.parameters(name, o.Signature())
	case *types.TypeName:
		l.named(name, o)
	}
}

func (l *lister) named(name string, o *types.TypeName) {
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	for m := range named.Methods() {
		if m.Exported() {
			l.parameters(name+"."+m.Name(), m.Signature())
		}
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && isCallback(f.Type()) {
				l.found[name+"."+f.Name()] = true
			}
		}
	case *types.Interface:
		if !isSealed(u) {
			for m := range u.ExplicitMethods() {
				l.found[name+"."+m.Name()] = true
			}
		}
	}
}

func (l *lister) parameters(name string, s *types.Signature) {
	for p := range s.Params().Variables() {
		if isCallback(p.Type()) {
			l.found[name+" "+p.Name()] = true
		}
	}
	for r := range s.Results().Variables() { // a sequence calls the body of the loop
		if n, ok := r.Type().(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "iter" {
			l.found[name+" yield"] = true
		}
	}
}

// library are types of the standard library and of OpenTelemetry that call what they have been given.
var library = []string{"*log/slog.Logger", "*net/http.Client"}

// isCallback reports whether a value of the type runs code of its maker.
func isCallback(t types.Type) bool {
	if slices.Contains(library, t.String()) {
		return true
	}
	if slices.Contains([]string{"context.Context", "error", "fmt.State"}, t.String()) {
		return false
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && strings.HasPrefix(n.Obj().Pkg().Path(), module) {
		if i, ok := n.Underlying().(*types.Interface); ok {
			return !isSealed(i) && i.NumMethods() == 0 // its methods are listed by themselves
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return !isOption(u)
	case *types.Interface:
		return u.NumMethods() > 0 && !isSealed(u)
	case *types.Slice:
		return isCallback(u.Elem())
	}
	return false
}

// isSealed reports whether only the package itself can implement an interface.
func isSealed(i *types.Interface) bool {
	for m := range i.Methods() {
		if !m.Exported() {
			return true
		}
	}
	return false
}

// isOption reports whether a function is an option that only the package itself can make: its argument has a type
// without a name for others.
func isOption(s *types.Signature) bool {
	for p := range s.Params().Variables() {
		t := p.Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if n, ok := t.(*types.Named); ok && !n.Obj().Exported() && n.Obj().Pkg() != nil {
			return true
		}
	}
	return false
}

// unfailed are the callbacks that no case here fails, and why.
var unfailed = map[string]string{}

func init() {
	for reason, names := range map[string][]string{
		"held by TestPanicOfUserCodeIsReturnedAsError of package auth: all of it runs in the goroutine of an authorization, " +
			"or in that of a request, which the case of the authorizer fails": {
			"auth.EnterpriseManaged.IDToken", "auth.Interaction.Authorize", "auth.Interaction.RedirectURI",
			"auth.JWTBearer.Assertion",
			"auth.Loopback.Show", "auth.Options.HTTPClient", "auth.TokenStore.Delete", "auth.TokenStore.Load",
			"auth.TokenStore.Save",
		},
		"held by TestFailingLogHandlerIsIgnoredAndReported of package usercode, which wraps it": {"auth.Options.Logger",
			"bearer.Options.Logger"},
		"held by TestStandardErrorIsReadDespiteAFailingCallback of package transport": {"transport.Stdio.Stderr"},
		"held by TestPanicOrGoexitInStoreBecomesError of package mcpserver": {
			"store.Events.Append", "store.Events.Behind", "store.Events.Forget",
			"store.SharedEvents.Follow", "store.SharedEvents.Latest", "store.SharedEvents.Note",
			"store.SharedEvents.Open", "store.Sessions.Alive", "store.Sessions.Beat", "store.Sessions.Create",
			"store.Sessions.Delete", "store.Sessions.Publish", "store.Sessions.Receive",
			"store.Sessions.Replace", "store.Sessions.Use",
		},
		"a loop over pages, as that over tools, in the goroutine of the caller": {"mcpclient.Client.LegacyTasks yield",
			"mcpclient.List fetch", "mcpclient.List name", "mcpclient.List yield"},
		"a loop that holds nothing, in the goroutine of the caller": {"mcpclient.Group.Members yield",
			"mcpclient.Group.Tools yield"},
		"called by New in the goroutine of the caller, before anything is begun": {"transport.Transport.Name",
			"transport.Transport.Network"},
		"called by the function it is given to, in the goroutine of the caller, which has begun nothing": {
			"config.Options.LookupEnv", "debugpage.Client.Inspect", "debugpage.Server.Inspect", "bearer.JWT.Client",
		},
		"held by TestFailedNotificationHandlerIsReported of package mcpserver": {
			"mcpserver.Server.HandleNotification h", "mcpserver.Server.HandleRootsChanged h",
		},
		"held by TestToolIsRefusedDuringOnChangeAndAfterItPanics of package mcpclient": {
			"mcpclient.DriftOptions.OnChange",
		},
		"part of the user's own logger, as whose handler it is called": {"telemetry.NewTraceHandler next"},
		"a part of the client or the server, which calls a handler in it and ends what that becomes": {
			"instrument.Client.Labelled f", "instrument.Op.Labelled f", "instrument.Server.Labelled f",
		},
		"the server's own or that of net/http": {"mcpserver.HTTPHandler.ServeHTTP w"},
		"read and written by the connection of the server, which fails as one of the user's does": {
			"mcpserver.NewStreamConn r", "mcpserver.NewStreamConn w",
		},
		"held by TestPanicOrGoexitInStreamFailsConnection and TestDialReturnsTheErrorOfOpen of " +
			"package transport": {
			"transport.Streams r", "transport.Streams w", "transport.StreamsFrom open",
		},
		"the proxy's own": {"instrument.Redacting scrub"},
		"set by the client for a transport: its own code": {
			"transport.Config.Authorized",
			"transport.Config.Authorizing", "transport.Config.Failed", "transport.Config.Logger", "transport.Config.QueueWait",
			"instrument.Injected l",
			"transport.Config.Missed", "transport.Config.Stream", "instrument.Client.Queue length",
			"instrument.Connection.InSession", "instrument.Connection.Limits", "instrument.Connection.Queued",
		},
		"called by the SDK of OpenTelemetry, or a part of it: its interfaces must not panic": {
			"telemetry.WithPropagators p", "telemetry.WithLogLevel l", "otlp.WithConsole level", "otlp.WithConsole w",
			"otlp.WithLogLevel level",
			"otlp.SDK.ForceFlush", "otlp.SDK.Propagator", "otlp.SDK.Shutdown",
		},
		"called by Setup in the goroutine of the caller, in a program that is about to begin": {
			"otlp.WithLogExporter newExporter", "otlp.WithMetricReader newReader", "otlp.WithSpanExporter newExporter",
		},
	} {
		for _, name := range names {
			unfailed[name] = reason
		}
	}
}
