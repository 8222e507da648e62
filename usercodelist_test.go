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

// TestEveryCallbackHasAFailureCase finds all ways in which users pass code to this module: parameters and fields of a
// function or interface type, and the methods of those interfaces. Each callback must have a failing case, or a reason
// in unfailed.
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
			t.Errorf("callback %s: want a failing case, or a reason in unfailed", name)
		}
	}
	for name, c := range failed {
		if !found[name] || unfailed[name] != "" {
			t.Errorf("case %q names %s, want an existing callback that unfailed does not list", c, name)
		}
	}
	for name := range unfailed {
		if !found[name] {
			t.Errorf("unfailed lists %s, want an existing callback", name)
		}
	}
}

// callbacksOf returns the callbacks of all packages, by their names in the documentation.
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

// packages returns a function that loads the type information of a package from its compiled form.
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

// library lists types of the standard library that call the code they were given.
var library = []string{"*log/slog.Logger", "*net/http.Client"}

// isCallback reports whether a value of the type may run code of the user.
func isCallback(t types.Type) bool {
	if slices.Contains(library, t.String()) {
		return true
	}
	if slices.Contains([]string{"context.Context", "error", "fmt.State"}, t.String()) {
		return false
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && strings.HasPrefix(n.Obj().Pkg().Path(), module) {
		if i, ok := n.Underlying().(*types.Interface); ok {
			return !isSealed(i) && i.NumMethods() == 0 // its methods are separate callbacks
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

// isSealed reports whether only the package itself can implement the interface.
func isSealed(i *types.Interface) bool {
	for m := range i.Methods() {
		if !m.Exported() {
			return true
		}
	}
	return false
}

// isOption reports whether only the package itself can create such a function, as for options: its argument has an
// unexported type.
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

// unfailed maps the callbacks without a failing case here to the reason.
var unfailed = map[string]string{}

func init() {
	for reason, names := range map[string][]string{
		"checked by TestPanicOfUserCodeIsReturnedAsError of package auth: it runs in the goroutine of an authorization, " +
			"or of a request, which the case of the authorizer covers": {
			"auth.EnterpriseManaged.IDToken", "auth.Interaction.Authorize", "auth.Interaction.RedirectURI",
			"auth.JWTBearer.Assertion",
			"auth.Loopback.Show", "auth.Options.HTTPClient", "auth.TokenStore.Delete", "auth.TokenStore.Load",
			"auth.TokenStore.Save",
		},
		"checked by TestFailingLogHandlerIsIgnoredAndReported of package usercode, which wraps it": {"auth.Options.Logger",
			"bearer.Options.Logger"},
		"checked by TestStandardErrorIsReadDespiteAFailingCallback of package transport": {"transport.Stdio.Stderr"},
		"checked by TestPanicOrGoexitInStoreBecomesError of package mcpserver": {
			"store.Events.Append", "store.Events.Behind", "store.Events.Forget",
			"store.SharedEvents.Follow", "store.SharedEvents.Latest", "store.SharedEvents.Note",
			"store.SharedEvents.Open", "store.Sessions.Alive", "store.Sessions.Beat", "store.Sessions.Create",
			"store.Sessions.Delete", "store.Sessions.Publish", "store.Sessions.Receive",
			"store.Sessions.Replace", "store.Sessions.Use",
		},
		"a loop over pages in the goroutine of the caller, like the loop over tools": {"mcpclient.Client.LegacyTasks yield",
			"mcpclient.List fetch", "mcpclient.List name", "mcpclient.List yield"},
		"a loop in the goroutine of the caller that holds no resources": {"mcpclient.Group.Members yield",
			"mcpclient.Group.Tools yield"},
		"called by New in the goroutine of the caller, before New starts anything": {"transport.Transport.Name",
			"transport.Transport.Network"},
		"called by the function that gets it, in the goroutine of the caller, before that function starts anything": {
			"config.Options.LookupEnv", "debugpage.Client.Inspect", "debugpage.Server.Inspect", "bearer.JWT.Client",
		},
		"checked by TestFailedNotificationHandlerIsReported of package mcpserver": {
			"mcpserver.Server.HandleNotification h", "mcpserver.Server.HandleRootsChanged h",
		},
		"checked by TestToolIsRefusedDuringOnChangeAndAfterItPanics of package mcpclient": {
			"mcpclient.DriftOptions.OnChange",
		},
		"part of the user's own logger, which calls it as its handler": {"telemetry.NewTraceHandler next"},
		"internal: the client or the server calls a handler through it and handles the handler's failure": {
			"instrument.Client.Labelled f", "instrument.Op.Labelled f", "instrument.Server.Labelled f",
		},
		"implemented by the server or by net/http": {"mcpserver.HTTPHandler.ServeHTTP w"},
		"the connection of the server reads and writes it, and fails as a connection of the user does": {
			"mcpserver.NewStreamConn r", "mcpserver.NewStreamConn w",
		},
		"checked by TestPanicOrGoexitInStreamFailsConnection and TestDialReturnsTheErrorOfOpen of " +
			"package transport": {
			"transport.Streams r", "transport.Streams w", "transport.StreamsFrom open",
		},
		"code of the proxy": {"instrument.Redacting scrub"},
		"code of the client, which sets it for a transport": {
			"transport.Config.Authorized",
			"transport.Config.Authorizing", "transport.Config.Failed", "transport.Config.Logger", "transport.Config.QueueWait",
			"instrument.Injected l",
			"transport.Config.Missed", "transport.Config.Stream", "instrument.Client.Queue length",
			"instrument.Client.Process pid",
			"instrument.Connection.InSession", "instrument.Connection.Limits", "instrument.Connection.Queued",
		},
		"called by the SDK of OpenTelemetry or a part of it: implementations of its interfaces must not panic": {
			"telemetry.WithPropagators p", "telemetry.WithLogLevel l", "otlp.WithConsole level", "otlp.WithConsole w",
			"otlp.WithLogLevel level",
			"otlp.SDK.ForceFlush", "otlp.SDK.Propagator", "otlp.SDK.Shutdown",
		},
		"called by Setup in the goroutine of the caller, when the program starts": {
			"otlp.WithLogExporter newExporter", "otlp.WithMetricReader newReader", "otlp.WithSpanExporter newExporter",
		},
	} {
		for _, name := range names {
			unfailed[name] = reason
		}
	}
}
