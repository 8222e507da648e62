package auth

import (
	"slices"
	"strings"
)

const scopeOffline = "offline_access"

// scopeRequest holds the inputs for the choice of scopes.
type scopeRequest struct {
	configured []string // Options.Scopes
	challenged []string // scopes of the WWW-Authenticate header
	supported  []string // scopes_supported of the MCP server; nil if unknown
	previous   []string // scopes requested or granted before, at the same authorization server
	server     []string // scopes_supported of the authorization server
	offline    bool     // whether to request a refresh token
}

// choose returns the scopes to request; nil omits the parameter. It takes the configured and the challenged scopes, or
// else the scopes that the MCP server lists, and adds all scopes requested before. offline_access is requested if the
// authorization server lists this scope or the user configured it; the MCP server cannot demand it. (specification
// 2026-07-28, basic/authorization, "Scope Selection Strategy", "Step-Up Authorization Flow" and "Refresh Tokens")
func (r scopeRequest) choose() []string {
	wanted := union(r.configured, r.challenged)
	if len(wanted) == 0 {
		wanted = slices.Clone(r.supported)
	}
	wanted = union(r.previous, wanted)
	listed := slices.Contains(r.server, scopeOffline)
	if !listed && !slices.Contains(r.configured, scopeOffline) {
		wanted = slices.DeleteFunc(wanted, func(s string) bool { return s == scopeOffline })
	}
	if listed && r.offline && len(wanted) > 0 {
		wanted = union(wanted, []string{scopeOffline})
	}
	if len(wanted) == 0 {
		return nil
	}
	return wanted
}

// union returns the elements of a and b in their order, each once. The result shares no memory with them.
func union(a, b []string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// covers reports whether have contains all elements of want.
func covers(have, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
}

// parseScopes splits a scope parameter. It drops invalid scopes (RFC 6749 §3.3) and all scopes after the first
// hundred.
func parseScopes(s string) []string {
	var scopes []string
	for f := range strings.FieldsSeq(s) {
		if len(scopes) == 100 {
			break
		}
		if !strings.ContainsFunc(f, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			scopes = append(scopes, f)
		}
	}
	return scopes
}
