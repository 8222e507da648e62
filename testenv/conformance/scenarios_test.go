package conformance

import (
	"slices"
	"strings"
)

// revision is a revision of the specification, with the scenarios that the client or the server must pass.
type revision struct {
	version    string
	way        way
	required   []string // scored: the suite's frozen requirements, if it has any for the revision
	extensions []string // the suite does not require these, but this project does
	skills     []string // scenarios of the Skills extension (SEP-2640), which the suite assigns to no revision
	skipped    []string // the suite skips these for every program
}

// way is how the tests run the program.
type way string

const (
	usual    way = ""
	unpinned way = "unpinned" // the client supports all revisions and negotiates one with the server
	proxied  way = "proxied"  // the client uses a proxy over HTTP
	piped    way = "piped"    // the client uses a proxy on standard input and output
)

// name returns the name of the revision in tests and in the baseline.
func (r revision) name() string {
	if r.way == usual {
		return r.version
	}
	return r.version + "-" + string(r.way)
}

func (r revision) runs(scenario string) bool {
	return slices.Contains(r.scenarios(), scenario)
}

// scenarios returns all scenarios to run.
func (r revision) scenarios() []string { return slices.Concat(r.required, r.extensions, r.skills) }

// find returns the revision with this name.
func find(revisions []revision, name string) (revision, bool) {
	i := slices.IndexFunc(revisions, func(r revision) bool { return r.name() == name })
	if i < 0 {
		return revision{}, false
	}
	return revisions[i], true
}

// revisions are all revisions for clients. At 2026-07-28 the client is never pinned.
var revisions = []revision{
	{version: "2026-07-28", required: required20260728, extensions: extensions, skills: skills},
	{version: "2025-11-25", required: required20251125, extensions: extensions, skills: skills},
	{version: "2025-11-25", required: required20251125, extensions: extensions, skills: skills, way: unpinned},
	{version: "2025-06-18", required: required20250618},
	{version: "2025-06-18", required: required20250618, way: unpinned},
	{version: "2025-03-26", required: required20250326},
	{version: "2025-03-26", required: required20250326, way: unpinned},
	{version: "2026-07-28", required: required20260728, extensions: extensions, skills: skills, way: proxied},
	{version: "2025-11-25", required: required20251125, extensions: extensions, skills: skills, way: proxied},
	{version: "2026-07-28", required: unauthorized(required20260728), skills: skills, way: piped},
	{version: "2025-11-25", required: unauthorized(required20251125), skills: skills, way: piped},
}

// unauthorized returns the scenarios in which the server requires no authorization.
func unauthorized(scenarios []string) []string {
	return slices.DeleteFunc(slices.Clone(scenarios), func(name string) bool { return strings.HasPrefix(name, "auth/") })
}

var required20260728 = []string{
	"request-metadata",
	"tools_call",
	"http-standard-headers",
	"http-custom-headers",
	"http-invalid-tool-headers",
	"sep-2322-client-request-state",
	"json-schema-ref-no-deref",
	"auth/metadata-default",
	"auth/metadata-var1",
	"auth/metadata-var2",
	"auth/metadata-var3",
	"auth/basic-cimd",
	"auth/pre-registration",
	"auth/scope-from-www-authenticate",
	"auth/scope-from-scopes-supported",
	"auth/scope-omitted-when-undefined",
	"auth/scope-step-up",
	"auth/scope-retry-limit",
	"auth/token-endpoint-auth-basic",
	"auth/token-endpoint-auth-post",
	"auth/token-endpoint-auth-none",
	"auth/resource-mismatch",
	"auth/offline-access-scope",
	"auth/offline-access-not-supported",
	"auth/authorization-server-migration",
	"auth/iss-supported",
	"auth/iss-not-advertised",
	"auth/iss-supported-missing",
	"auth/iss-wrong-issuer",
	"auth/iss-unexpected",
	"auth/iss-normalized",
	"auth/metadata-issuer-mismatch",
}

var required20251125 = []string{
	"initialize",
	"tools_call",
	"elicitation-sep1034-client-defaults",
	"sse-retry",
	"auth/metadata-default",
	"auth/metadata-var1",
	"auth/metadata-var2",
	"auth/metadata-var3",
	"auth/basic-cimd",
	"auth/pre-registration",
	"auth/scope-from-www-authenticate",
	"auth/scope-from-scopes-supported",
	"auth/scope-omitted-when-undefined",
	"auth/scope-step-up",
	"auth/scope-retry-limit",
	"auth/token-endpoint-auth-basic",
	"auth/token-endpoint-auth-post",
	"auth/token-endpoint-auth-none",
}

// The suite has no frozen requirements for 2025-06-18 and 2025-03-26. These are the scenarios that its authors wrote
// for them.
var (
	required20250618 = []string{
		"initialize",
		"tools_call",
		"auth/token-endpoint-auth-basic",
		"auth/token-endpoint-auth-post",
		"auth/token-endpoint-auth-none",
	}
	required20250326 = []string{
		"auth/2025-03-26-oauth-metadata-backcompat",
		"auth/2025-03-26-oauth-endpoint-fallback",
	}
)

var extensions = []string{
	"json-schema-2020-12-preservation",
	"auth/client-credentials-jwt",
	"auth/client-credentials-basic",
	"auth/enterprise-managed-authorization",
	"auth/dpop",
	"auth/dpop-nonce",
	"auth/wif-jwt-bearer",
}

var skills = []string{
	"sep-2640-client-no-prefetch",
	"sep-2640-client-verify-digest",
	"sep-2640-client-verify-size",
	"sep-2640-client-verify-frontmatter",
}
