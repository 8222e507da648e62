package auth_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

// authServer is a strict authorization server. Its switches make it misbehave.
type authServer struct {
	w      *world
	host   string
	issuer string

	mu sync.Mutex // guards the fields below

	// Switches.
	metadataPath  string                    // empty: no metadata
	prefix        string                    // path before the endpoints
	metadata      func(object)              // changes the metadata document
	redirects     func(url.Values)          // changes the redirect
	registration  func(in, out object)      // changes the response to a registration
	noDescription bool                      // accepts a registration without redirect URIs
	token         func(url.Values) *failure // refuses a token request
	response      func(object)              // changes a token response
	lifetime      time.Duration             // lifetime of access tokens; 0: no expires_in
	refreshTokens bool
	rotate        bool
	grants        func(asked []string) []string // returns the granted scopes
	nonce         string                        // nonce that proofs must contain, if not empty
	sendsProof    bool                          // token requests must carry a proof
	raw           func(http.ResponseWriter) bool

	// State.
	serial   int
	clients  map[string]object // registrations by client id
	codes    map[string]url.Values
	access   map[string]*issued
	refresh  map[string]*issued // removed after use if rotate is set
	proofIDs []string
}

// issued describes an issued token.
type issued struct {
	scopes   []string
	resource string
	client   string
	expiry   time.Time
	key      string // thumbprint of the key
	access   string
}

type failure struct {
	status            int
	code, description string
}

func newAuthServer(w *world, host string) *authServer {
	s := &authServer{
		w: w, host: host, issuer: "http://" + host, metadataPath: "/.well-known/oauth-authorization-server",
		clients: map[string]object{}, codes: map[string]url.Values{}, access: map[string]*issued{},
		refresh: map[string]*issued{},
	}
	w.hosts[host] = s
	return s
}

func (s *authServer) next(kind string) string {
	s.serial++
	return fmt.Sprintf("%s-%s-%d", kind, strings.TrimPrefix(s.host, "127.0.0.1:"), s.serial)
}

func (s *authServer) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch req.URL.Path {
	case s.metadataPath:
		s.serveMetadata(rw)
	case s.prefix + "/register":
		s.serveRegister(rw, req)
	case s.prefix + "/authorize":
		s.serveAuthorize(rw, req)
	case s.prefix + "/token":
		s.serveToken(rw, req)
	default:
		http.NotFound(rw, req)
	}
}

func reply(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (f *failure) reply(rw http.ResponseWriter) {
	reply(rw, f.status, object{"error": f.code, "error_description": f.description})
}

func (s *authServer) serveMetadata(rw http.ResponseWriter) {
	base := "http://" + s.host + s.prefix
	doc := object{
		"issuer": s.issuer, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
		"registration_endpoint": base + "/register", "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
	}
	if s.metadata != nil {
		s.metadata(doc)
	}
	for k, v := range doc {
		if v == nil {
			delete(doc, k)
		}
	}
	reply(rw, http.StatusOK, doc)
}

func (s *authServer) serveRegister(rw http.ResponseWriter, req *http.Request) {
	var in object
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		(&failure{400, "invalid_client_metadata", err.Error()}).reply(rw)
		return
	}
	out := object{"client_id": s.next("client")}
	maps.Copy(out, in)
	if m, _ := in["token_endpoint_auth_method"].(string); m != "none" {
		out["client_secret"] = s.next("registered-secret")
	}
	if s.registration != nil {
		s.registration(in, out)
	}
	if code, ok := out["error"]; ok {
		reply(rw, http.StatusBadRequest, object{"error": code, "error_description": out["error_description"]})
		return
	}
	id, _ := out["client_id"].(string)
	s.clients[id] = out
	reply(rw, http.StatusCreated, out)
}

func (s *authServer) serveAuthorize(rw http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case q.Get("response_type") != "code", q.Get("code_challenge") == "", q.Get("code_challenge_method") != "S256",
		q.Get("resource") == "":
		back.Set("error", "invalid_request")
	default:
		code := s.next("code")
		s.codes[code] = q
		back.Set("code", code)
	}
	if s.redirects != nil {
		s.redirects(back)
	}
	http.Redirect(rw, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// intercepted calls raw without holding the lock, because raw may sleep: in a bubble, time does not pass while a
// goroutine waits for a mutex.
func (s *authServer) intercepted(rw http.ResponseWriter) bool {
	raw := s.raw
	if raw == nil {
		return false
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	return raw(rw)
}

func (s *authServer) serveToken(rw http.ResponseWriter, req *http.Request) {
	if err := req.ParseForm(); err != nil {
		(&failure{400, "invalid_request", err.Error()}).reply(rw)
		return
	}
	if s.intercepted(rw) {
		return
	}
	form := req.PostForm
	client, f := s.authenticate(req, form)
	if f == nil && s.token != nil {
		f = s.token(form)
	}
	thumbprint := ""
	if f == nil {
		thumbprint, f = s.checkProof(rw, req)
	}
	var t *issued
	if f == nil {
		t, f = s.grant(form, client)
	}
	if f != nil {
		f.reply(rw)
		return
	}
	t.key = thumbprint
	s.issue(rw, t, form)
}

// authenticate checks the client's authentication and returns the client id.
func (s *authServer) authenticate(req *http.Request, form url.Values) (string, *failure) {
	id, given := form.Get("client_id"), form.Get("client_secret")
	if user, password, ok := req.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		given, _ = url.QueryUnescape(password)
	}
	if known, ok := s.clients[id]; ok {
		if want, _ := known["client_secret"].(string); known["token_endpoint_auth_method"] != "none" && given != want {
			return "", &failure{401, "invalid_client", "wrong secret"}
		}
		return id, nil
	}
	if !s.noDescription {
		return "", &failure{401, "invalid_client", "unknown client"}
	}
	return id, nil
}

func (s *authServer) grant(form url.Values, client string) (*issued, *failure) {
	switch form.Get("grant_type") {
	case "authorization_code":
		q, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		switch {
		case !ok, q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]),
			q.Get("redirect_uri") != form.Get("redirect_uri"), q.Get("client_id") != client:
			return nil, &failure{400, "invalid_grant", "code " + form.Get("code")}
		case q.Get("resource") != form.Get("resource"):
			return nil, &failure{400, "invalid_target", "resource differs"}
		}
		return &issued{scopes: strings.Fields(q.Get("scope")), resource: form.Get("resource"), client: client}, nil
	case "refresh_token":
		t, ok := s.refresh[form.Get("refresh_token")]
		if !ok || t.client != client || t.resource != form.Get("resource") {
			return nil, &failure{400, "invalid_grant", "refresh token " + form.Get("refresh_token")}
		}
		if s.rotate {
			delete(s.refresh, form.Get("refresh_token"))
		}
		delete(s.access, t.access)
		return new(*t), nil
	default:
		return &issued{scopes: strings.Fields(form.Get("scope")), resource: form.Get("resource"), client: client}, nil
	}
}

func (s *authServer) issue(rw http.ResponseWriter, t *issued, form url.Values) {
	if s.grants != nil {
		t.scopes = s.grants(t.scopes)
	}
	t.access = s.next("access")
	out := object{"access_token": t.access, "token_type": "Bearer"}
	if t.key != "" {
		out["token_type"] = "DPoP"
	}
	if s.lifetime > 0 {
		t.expiry = time.Now().Add(s.lifetime)
		out["expires_in"] = int(s.lifetime / time.Second)
	}
	if len(t.scopes) > 0 {
		out["scope"] = strings.Join(t.scopes, " ")
	}
	if s.refreshTokens && (form.Get("grant_type") != "refresh_token" || s.rotate) {
		r := s.next("refresh")
		s.refresh[r] = t
		out["refresh_token"] = r
	}
	if s.response != nil {
		s.response(out)
	}
	s.access[t.access] = t
	reply(rw, http.StatusOK, out)
}

// valid returns the description of a valid access token, else nil.
func (s *authServer) valid(token string) *issued {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.access[token]
	if t == nil || !t.expiry.IsZero() && !time.Now().Before(t.expiry) {
		return nil
	}
	return t
}

// revoke invalidates all access tokens, and the refresh tokens if refresh is set.
func (s *authServer) revoke(refresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	if refresh {
		clear(s.refresh)
	}
}

// set changes switches while requests are in progress.
func (s *authServer) set(change func(*authServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// mcpServer is the protected resource.
type mcpServer struct {
	w *world

	mu sync.Mutex // guards the fields below

	as            *authServer // authorization server that issues its tokens
	metadataPath  string      // empty: no metadata
	resource      string
	noHint        bool   // omits resource_metadata in challenges
	hint          string // path in resource_metadata; empty: metadataPath
	bound         bool   // accepts only tokens bound to a key
	document      func(object)
	scope         string              // scope in the challenge of a 401
	needs         map[string][]string // required scopes by method
	schemes       []string            // schemes of challenges
	nonce         string              // nonce that proofs must contain, if not empty
	rejects       func(token string) bool
	forbids       bool
	insists       bool     // demands scopes that the token already has
	anonymous     []string // methods that need no token
	proofsPerPath []string
	gate          func() // called before each response
}

func newMCPServer(w *world, as *authServer) *mcpServer {
	s := &mcpServer{
		w: w, as: as, metadataPath: "/.well-known/oauth-protected-resource/mcp", resource: mcpURL,
		needs: map[string][]string{}, schemes: []string{"Bearer"},
	}
	w.hosts[mcpHost] = s
	return s
}

func (s *mcpServer) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil && req.URL.Path == "/mcp" {
		gate()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch req.URL.Path {
	case s.metadataPath:
		doc := object{"resource": s.resource, "authorization_servers": []string{s.as.issuer}}
		if s.document != nil {
			s.document(doc)
		}
		reply(rw, http.StatusOK, doc)
	case "/mcp":
		s.serve(rw, req)
	default:
		if s.metadataPath == "" && !strings.HasPrefix(req.URL.Path, "/.well-known/oauth-protected") {
			s.as.ServeHTTP(rw, req) // a server of 2025-03-26 is its own authorization server
			return
		}
		http.NotFound(rw, req)
	}
}

func (s *mcpServer) serve(rw http.ResponseWriter, req *http.Request) {
	body := make([]byte, 100)
	n, _ := req.Body.Read(body)
	method := string(body[:n])
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	t := s.as.valid(token)
	switch {
	case slices.Contains(s.anonymous, method):
	case t == nil, s.rejects != nil && s.rejects(token), t.resource != s.resource, (t.key != "") != (scheme == "DPoP"),
		s.bound && t.key == "":
		code := ""
		if token != "" {
			code = "invalid_token"
		}
		s.challenge(rw, http.StatusUnauthorized, code, s.scope, token)
		return
	case t.key != "":
		if problem := s.checkProof(req, t, token); problem != "" {
			if problem == "use_dpop_nonce" {
				rw.Header().Set("DPoP-Nonce", s.nonce)
			}
			s.challenge(rw, http.StatusUnauthorized, problem, s.scope, token)
			return
		}
	}
	if s.forbids {
		rw.WriteHeader(http.StatusForbidden)
		return
	}
	for _, scope := range s.needs[method] {
		if t == nil || s.insists || !slices.Contains(t.scopes, scope) {
			s.challenge(rw, http.StatusForbidden, "insufficient_scope", strings.Join(s.needs[method], " "), token)
			return
		}
	}
	reply(rw, http.StatusOK, object{"jsonrpc": "2.0", "id": 1, "result": object{}})
}

// challenge writes a refusal. Its description repeats the token, which no server should do.
func (s *mcpServer) challenge(rw http.ResponseWriter, status int, code, scope, token string) {
	for _, scheme := range s.schemes {
		params := []string{`realm="mcp"`}
		if !s.noHint && s.metadataPath != "" {
			params = append(params, fmt.Sprintf(`resource_metadata="http://%s%s"`, mcpHost, cmp.Or(s.hint, s.metadataPath)))
		}
		if code != "" {
			params = append(params, fmt.Sprintf(`error=%q`, code),
				fmt.Sprintf(`error_description="token %s is not good"`, token))
		}
		if scope != "" {
			params = append(params, fmt.Sprintf("scope=%q", scope))
		}
		rw.Header().Add("WWW-Authenticate", scheme+" "+strings.Join(params, ", "))
	}
	rw.WriteHeader(status)
}

func (s *mcpServer) set(change func(*mcpServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}
