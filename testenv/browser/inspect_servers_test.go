package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// npm returns the command of a server of the official collection, as testenv/servers/install installs it.
func npm(t *testing.T, name string, args ...string) []string {
	t.Helper()
	return append([]string{"node", installed(t, "npm", "node_modules", "@modelcontextprotocol", "server-"+name, "dist",
		"index.js")}, args...)
}

// installed returns the path of a file that testenv/servers/install has installed.
func installed(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("MCPOTEL_SERVERS")
	if dir == "" {
		t.Fatal("MCPOTEL_SERVERS is not set: run testenv/servers/install and set it to the printed directory")
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// use opens the page of a tool, fills its form, and runs it.
func use(t *testing.T, tab *Tab, site, tool string, fields ...string) {
	t.Helper()
	must(t, tab.Go(site+"/tool?name="+tool))
	fill(t, tab, "run", fields...)
	must(t, tab.Await(`document.querySelector("h1")?.innerText.startsWith(`+quoted(tool)+`) && location.pathname.startsWith("/calls/")`))
}

func TestServerEverythingIsUsedOnThePage(t *testing.T) {
	tab, site := inspecting(t, npm(t, "everything")...)
	use(t, tab, site, "get-sum", "/a", "2", "/b", "40")
	shows(t, tab, "The sum of 2 and 40 is 42.")
	waterfall(t, tab, "CLIENT tools/call get-sum")

	use(t, tab, site, "get-tiny-image")
	must(t, tab.Await(`[...document.images].some(i => i.complete && i.naturalWidth > 0)`))

	use(t, tab, site, "trigger-elicitation-request")
	shows(t, tab, "Please provide inputs")
	must(t, tab.Click(`input[name="/untitledMultipleSelectEnum"][value="Piano"]`))
	must(t, tab.Click(`input[name="/untitledMultipleSelectEnum"][value="Bass"]`))
	fill(t, tab, "accept", "/name", "Ada", "/integer", "7", "/titledSingleSelectEnum", `"hero-2"`)
	shows(t, tab, "User provided the requested information")
	for _, part := range []string{"Ada", "Piano", "Bass", "hero-2"} {
		shows(t, tab, part)
	}

	use(t, tab, site, "trigger-long-running-operation", "/duration", "120", "/steps", "120")
	shows(t, tab, "Progress")
	must(t, tab.Click(`form[action$="/cancel"] button`))
	shows(t, tab, "cancelled on the page")
	must(t, tab.Await(`[...document.querySelectorAll("details.fold")].some(d => d.innerText.includes("notifications/cancelled"))`))

	must(t, tab.Go(site+"/resources"))
	must(t, tab.Click(`a[href*="dynamic%2Ftext"]`))
	must(t, tab.Await(`document.getElementsByName("/resourceId").length`))
	fill(t, tab, "run", "/resourceId", "7")
	shows(t, tab, "Resource 7: This is a plaintext resource")
	must(t, tab.Go(site+"/prompt?name=completable-prompt"))
	fill(t, tab, "complete /department", "/department", "Eng")
	shows(t, tab, "The server suggests: Engineering")
	if got := eval[string](t, tab, `document.getElementsByName("/department")[0].value`); got != "Engineering" {
		t.Errorf("want the only suggestion filled in, got %q", got)
	}
	fill(t, tab, "complete /name", "/name", "A") // the server uses the department
	shows(t, tab, "The server suggests: Alice")
	fill(t, tab, "run")
	shows(t, tab, "Please promote Alice")
	must(t, tab.Go(site+"/prompts"))
	must(t, tab.Click(`button[aria-label="Get simple-prompt"]`))
	shows(t, tab, "This is a simple prompt")
	must(t, tab.Go(site+"/resources?q=FEATURES"))
	if n := eval[int](t, tab, `document.querySelectorAll("table.list tbody tr").length`); n != 1 {
		t.Errorf("want one resource found, got %d", n)
	}
	must(t, tab.Click(`button[aria-label$="features.md"]`))
	shows(t, tab, "Everything Server - Features")

	must(t, tab.Go(site+"/"))
	eval[any](t, tab, `document.querySelector("#level").value = "debug"`)
	must(t, tab.Click(`form[action="/level"] button`))
	must(t, tab.Await(`document.querySelector("#level")?.selectedOptions[0].defaultSelected`))
	use(t, tab, site, "toggle-simulated-logging")
	must(t, tab.Go(site+"/logs?q=-level+message"))
	must(t, tab.Await(`document.querySelector(".log .text")?.innerText.includes("-level message")`))
}

// The server is killed during a call. The call names the cause, the client starts the server again, and the history
// stays.
func TestServerEverythingComesBackAfterKill(t *testing.T) {
	tab, site := inspecting(t, npm(t, "everything")...)
	first := serverPID(t, tab)
	use(t, tab, site, "trigger-long-running-operation", "/duration", "120", "/steps", "120")
	shows(t, tab, "Progress")
	must(t, syscall.Kill(first, syscall.SIGKILL))
	shows(t, tab, "Why")
	shows(t, tab, "killed")
	must(t, tab.Go(site+"/"))
	must(t, tab.Await(fmt.Sprintf(`document.querySelector(".state .good") && document.body.innerText.includes("backoff") &&
		!document.querySelector("dl").innerText.includes(%q)`, fmt.Sprint(first))))
	use(t, tab, site, "echo", "/message", "hello again")
	shows(t, tab, "Echo: hello again")
	must(t, tab.Go(site+"/calls"))
	shows(t, tab, "trigger-long-running-operation")
}

func TestServerMemoryTakesNestedArguments(t *testing.T) {
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(t.TempDir(), "memory.jsonl"))
	tab, site := inspecting(t, npm(t, "memory")...)
	must(t, tab.Go(site+"/tool?name=create_entities"))
	must(t, tab.Click(`button[value="add /entities"]`))
	must(t, tab.Await(`document.getElementsByName("/entities/1/name").length`))
	fill(t, tab, "run", "/entities/0/name", "Ada", "/entities/0/entityType", "person", "/entities/0/observations",
		"wrote notes\nliked poetry", "/entities/1/name", "Engine", "/entities/1/entityType", "machine")
	shows(t, tab, "matches the output schema")
	use(t, tab, site, "read_graph")
	shows(t, tab, "liked poetry")
	shows(t, tab, "Engine")
}

func TestServerFilesystemFailsWithItsCause(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o600))
	tab, site := inspecting(t, npm(t, "filesystem", dir)...)
	use(t, tab, site, "read_text_file", "/path", filepath.Join(dir, "hello.txt"))
	shows(t, tab, "hello")
	shows(t, tab, "matches the output schema")
	use(t, tab, site, "read_text_file", "/path", "/etc/passwd")
	shows(t, tab, "tool error")
	shows(t, tab, "Access denied")
	shows(t, tab, "Why")
}

func TestServerSequentialThinkingIsUsedOnThePage(t *testing.T) {
	tab, site := inspecting(t, npm(t, "sequential-thinking")...)
	use(t, tab, site, "sequentialthinking", "/thought", "one", "/nextThoughtNeeded", "false", "/thoughtNumber", "1",
		"/totalThoughts", "1")
	shows(t, tab, "thoughtHistoryLength")
	shows(t, tab, "matches the output schema")
	must(t, tab.Go(site+"/"))
	must(t, tab.Await(`document.querySelector("#stderr")?.innerText.includes("Thought")`))
}
