package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// gitStep calls a tool of the git server. $D stands for the test's directory.
type gitStep struct {
	tool, arguments string
	want            string // JSON that the structured output must contain
}

// gitSteps use every tool, in a repository that the first steps create and in its clones.
var gitSteps = []gitStep{
	{"git_init", `{"path":"$D/r","initialBranch":"main"}`,
		`{"success":true,"path":"$D/r","initialBranch":"main","isBare":false}`},
	{"git_set_working_dir", `{"path":"$D/r"}`, `{"success":true,"path":"$D/r","message":"Working directory set*"}`},
	{"git_status", ``, `{"success":true,"currentBranch":"main","isClean":false,"untrackedFiles":["a.txt"]}`},
	{"git_add", `{"paths":["a.txt"]}`, `{"success":true,"stagedFiles":["a.txt"],"totalFiles":1}`},
	{"git_commit", `{"message":"first","author":{"name":"Eve","email":"eve@example.com"}}`,
		`{"success":true,"author":"Eve","committedFiles":["a.txt"],"signed":false}`},
	{"git_tag", `{"mode":"create","tagName":"v1","message":"one"}`, `{"success":true,"created":"v1"}`},
	{"git_tag", ``, `{"success":true,"mode":"list","tags":[{"name":"v1","message":"one"}]}`},
	{"git_branch", `{"mode":"create","branchName":"side"}`, `{"success":true,"message":"Branch 'side' created*"}`},
	{"git_branch", `{"mode":"list"}`,
		`{"success":true,"currentBranch":"main","branches":[{"name":"main"},{"name":"side"}]}`},
	{"git_checkout", `{"target":"side"}`, `{"success":true,"target":"side","branchCreated":false}`},
	{writeFile, `b.txt`, "two\n"},
	{"git_diff", `{"includeUntracked":true}`,
		`{"success":true,"filesChanged":1,"insertions":1,"diff":"diff --git a/b.txt b/b.txt*"}`},
	{"git_commit", `{"message":"second","filesToStage":["b.txt"]}`, `{"success":true,"committedFiles":["b.txt"]}`},
	{"git_checkout", `{"target":"main"}`, `{"success":true,"target":"main"}`},
	{"git_cherry_pick", `{"commits":["side"],"signoff":true}`,
		`{"success":true,"pickedCommits":["side"],"conflicts":false}`},
	{"git_merge", `{"branch":"side","noFastForward":true,"message":"join"}`,
		`{"success":true,"fastForward":false,"conflicts":false,"message":"join"}`},
	{writeFile, `a.txt`, "uno\n"},
	{"git_commit", `{"message":"third","filesToStage":["a.txt"]}`, `{"success":true,"author":"Ada"}`},
	{"git_rebase", `{"upstream":"side"}`, `{"success":true,"conflicts":false,"rebasedCommits":2}`},
	{"git_reflog", `{"maxCount":1}`, `{"success":true,"entries":[{"action":"rebase (finish)"}]}`},
	{"git_log", `{"maxCount":2,"filePath":"a.txt"}`,
		`{"success":true,"totalCount":2,"commits":[{"subject":"third","author":"Ada"},{"subject":"first","author":"Eve"}]}`},
	{"git_show", `{"object":"v1","filePath":"a.txt"}`, `{"success":true,"content":"one\n"}`},
	{"git_blame", `{"filePath":"a.txt"}`, `{"success":true,"totalLines":1,"lines":[{"author":"Ada","content":"uno"}]}`},
	{writeFile, `a.txt`, "eins\n"},
	{"git_stash", `{"mode":"push","message":"later"}`, `{"success":true,"created":"stash@{0}"}`},
	{"git_stash", `{"mode":"list"}`, `{"success":true,"stashes":[{"index":0,"description":"later"}]}`},
	{"git_stash", `{"mode":"pop"}`, `{"success":true,"applied":"stash@{0}","conflicts":false}`},
	{"git_reset", `{"mode":"hard","target":"HEAD","confirmed":true}`, `{"success":true,"filesReset":["a.txt"]}`},
	{writeFile, `junk`, "x\n"},
	{"git_clean", `{"dryRun":true}`, `{"success":true,"filesRemoved":["junk"],"dryRun":true}`},
	{"git_clean", `{"force":true}`, `{"success":true,"filesRemoved":["junk"],"dryRun":false}`},
	{"git_worktree", `{"mode":"add","worktreePath":"$D/w","branch":"tree"}`, `{"success":true,"added":"$D/w"}`},
	{"git_worktree", `{"mode":"remove","worktreePath":"$D/w"}`, `{"success":true,"removed":"$D/w"}`},
	{"git_clone", `{"url":"$D/r","path":"$D/bare.git","bare":true}`,
		`{"success":true,"path":"$D/bare.git","branch":"main"}`},
	{"git_remote", `{"mode":"add","name":"origin","url":"$D/bare.git"}`,
		`{"success":true,"added":{"name":"origin","url":"$D/bare.git"}}`},
	{"git_remote", `{}`, `{"success":true,"remotes":[{"name":"origin","fetchUrl":"$D/bare.git"}]}`},
	{"git_fetch", `{"remote":"origin"}`, `{"success":true,"fetchedRefs":["origin/main","origin/side","origin/tree"]}`},
	{"git_push", `{"remote":"origin","branch":"main","setUpstream":true}`,
		`{"success":true,"upstreamSet":true,"rejectedRefs":[]}`},
	{"git_pull", `{"remote":"origin","branch":"main","fastForwardOnly":true}`,
		`{"success":true,"conflicts":false,"filesChanged":[]}`},
	{"git_changelog_analyze", `{"reviewTypes":["gaps"],"maxCommits":3}`,
		`{"success":true,"gitContext":{"totalCommitsFetched":3,"tags":[{"name":"v1"}]}}`},
	{"git_wrapup_instructions", `{"acknowledgement":"yes","createTag":false}`,
		`{"instructions":"# Git Wrap-up*","repository":{"status":{"isClean":true}}}`},
}

// writeFile marks a step that writes a file of the repository and calls no tool.
const writeFile = ""

// gitRefusals are calls that the server or git refuses, or that cannot work in this environment.
var gitRefusals = []struct{ tool, arguments, reason, want string }{
	{"git_commit", `{"message":"empty"}`, "there is nothing to commit", "nothing to commit"},
	{"git_reset", `{"mode":"hard"}`, "the server wants that confirmed", "without explicit confirmation"},
	{"git_push", `{"remote":"origin","branch":"main","force":true}`, "likewise", "without explicit confirmation"},
	{"git_status", `{"path":"/etc"}`, "it keeps to its directory", "Path traversal detected"},
	{"git_clone", `{"url":"http://127.0.0.1:1/x.git","path":"$D/n"}`,
		"nothing is fetched in these tests, and nobody listens there", "unable to access"},
	{"git_add", `{"paths":[7]}`, "that is no path", "Input validation error"},
}

// gitOver are the transports to the git server; dir is its directory.
var gitOver = map[string]func(t *testing.T, dir string) transport.Transport{
	"stdio": func(t *testing.T, dir string) transport.Transport {
		s := npm("@cyanheads/git-mcp-server/dist/index.js")(t, dir)
		s.Env = append(gitEnvironment(s.Env, dir), "MCP_TRANSPORT_TYPE=stdio")
		return s
	},
	"HTTP": func(t *testing.T, dir string) transport.Transport {
		s := node(t, "@cyanheads/git-mcp-server/dist/index.js")
		s.Env = append(gitEnvironment(s.Env, dir), "MCP_TRANSPORT_TYPE=http")
		return &transport.HTTP{URL: announced(t, s, "").url + "/mcp"}
	},
}

// gitEnvironment hides the git settings of the user who runs the tests.
func gitEnvironment(env []string, dir string) []string {
	return append(env, "GIT_BASE_DIR="+dir, "MCP_LOG_LEVEL=error", "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_SIGN_COMMITS=false",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.com")
}

// TestEveryToolOfGit uses all that the git server offers, over each of its transports.
func TestEveryToolOfGit(t *testing.T) {
	for name, dial := range gitOver {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "r"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "r", "a.txt"), "one\n")
			x := explore(t, dial(t, dir), &mcpclient.Options{})
			x.git(dir)
			x.gitSession(dir)
			x.done()
		})
	}
}

// git runs the steps in the tables.
func (x *explorer) git(dir string) {
	x.Helper()
	in := strings.NewReplacer("$D", dir)
	for _, s := range gitSteps {
		switch {
		case s.tool == writeFile:
			write(x.T, filepath.Join(dir, "r", s.arguments), s.want)
		case s.arguments == "":
			x.gives(s.tool, nil, in.Replace(s.want))
		default:
			x.gives(s.tool, json.RawMessage(in.Replace(s.arguments)), in.Replace(s.want))
		}
	}
	for _, r := range gitRefusals {
		x.refuses(r.tool, json.RawMessage(in.Replace(r.arguments)), r.want)
	}
	// Without a key there is no signature, so verification fails.
	x.gives("git_tag", json.RawMessage(`{"mode":"verify","tagName":"v1"}`),
		`{"verifiedTag":"v1","verified":false,"warning":"Tag has no signature*"}`)
}

// gitSession reads the session's state, which is a resource, and uses everything else that the server offers.
func (x *explorer) gitSession(dir string) {
	x.Helper()
	const uri = "git://working-directory"
	x.expanded[uri] = true // also listed as a template, without a variable
	c := x.contents(uri)
	if want := `"workingDirectory":"` + dir + `/r","isSet":true`; c.MIMEType != "application/json" ||
		!strings.Contains(c.Text, want) {
		x.Errorf("want JSON with %s, got %s %s", want, c.MIMEType, c.Text)
	}
	x.gives("git_clear_working_dir", map[string]string{"confirm": "yes"}, `{"success":true,"previousPath":"`+dir+`/r"}`)
	if c := x.contents(uri); !strings.Contains(c.Text, `"workingDirectory":null,"isSet":false`) {
		x.Errorf("want no directory set, got %s", c.Text)
	}
	x.refuses("git_status", nil, "No session working directory set")

	for _, tc := range []struct {
		arguments map[string]string
		want      string
	}{{nil, "**Tag the Release**"}, {map[string]string{"createTag": "false"}, "createTag: false"}} {
		text, ok := x.prompt("git_wrapup", tc.arguments).Messages[0].Content.(*mcp.TextContent)
		if !ok || !strings.Contains(text.Text, "git workflow manager") || !strings.Contains(text.Text, tc.want) {
			x.Errorf("git_wrapup: want the text with %q, got %+v", tc.want, text)
		}
	}
	if err := x.client.SetLogLevel(x.ctx, mcp.LevelDebug); err != nil { // supported, but without messages
		x.Error(err)
	}
	if err := x.client.SubscribeResource(x.ctx, uri); !errors.Is(err, mcpclient.ErrUnsupported) {
		x.Errorf("want no subscription from a server that declares none, got %v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
