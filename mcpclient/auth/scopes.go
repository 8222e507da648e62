package auth

import (
	"slices"
	"strings"
)

const scopeOffline = "offline_access"

// scopeRequest is what a choice of scopes depends on.
type scopeRequest struct {
	configured []string // Options.Scopes
	challenged []string // the scope of the WWW-Authenticate header
	supported  []string // scopes_supported of the MCP server; nil if it does not say
	previous   []string // asked for or granted before, at the same authorization server
	server     []string // scopes_supported of the authorization server
	offline    bool     // whether a refresh token is wanted
}

// choose returns the scopes to ask for, nil meaning that the parameter is left out: what is configured and what the
// server challenges for, else what the MCP server lists; in addition to what has been asked for before. offline_access
// is not the MCP server's business: it is asked for where the authorization server lists it, or where it is configured.
// (specification 2026-07-28, basic/authorization, "Scope Selection Strategy", "Step-Up Authorization Flow" and "Refresh
// Tokens")
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

// union returns what is in a or b, in their order, each once. It shares no memory with them.
func union(a, b []string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// covers reports whether have holds all of want.
func covers(have, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
}

// parseScopes splits a scope parameter. It drops what cannot be a scope (RFC 6749 §3.3), and all after the hundredth.
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
