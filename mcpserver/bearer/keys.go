package bearer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

const (
	keysAge      = time.Hour        // age at which the set is fetched again
	keysStale    = 24 * time.Hour   // age until which the set stays valid if fetching fails
	keysPause    = 30 * time.Second // minimum time between two fetches
	keysTimeout  = 10 * time.Second
	keysLimit    = 1 << 20 // maximum size of a set, in bytes
	maxCandidate = 8       // maximum number of keys that are tried for one token
)

// keySource finds the keys that may have made a signature. Any error that does not wrap ErrInvalidToken means that the
// keys are unavailable.
type keySource interface {
	find(ctx context.Context, id, alg string) ([]jose.JSONWebKey, error)
}

func newKeySource(j JWT) (keySource, error) {
	if (len(j.Keys) == 0) == (j.KeysURL == "") {
		return nil, errors.New("set either Keys or KeysURL")
	}
	if len(j.Keys) > 0 {
		keys, err := parseKeys(j.Keys)
		return fixedKeys(keys), err
	}
	u, err := url.Parse(j.KeysURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !hostname.Loopback(u.Hostname())) {
		return nil, errors.New("KeysURL is not an https URL")
	}
	client := j.Client
	if client == nil {
		client = &http.Client{Timeout: keysTimeout, CheckRedirect: secureRedirect}
	}
	return &fetchedKeys{url: j.KeysURL, client: client}, nil
}

// secureRedirect refuses a redirect from https to another scheme, and a fourth redirect.
func secureRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("redirect refused")
	}
	return nil
}

// parseKeys returns the public signing keys of a set. It ignores keys of unknown types.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("it is not a JSON Web Key Set")
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && key.IsPublic() && key.Use != "enc" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no public key for signatures in the JSON Web Key Set")
	}
	return keys, nil
}

// candidates returns the keys that match the id and the algorithm. Without an id, all keys match.
func candidates(keys []jose.JSONWebKey, id, alg string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, k := range keys {
		if (id == "" || k.KeyID == id) && (k.Algorithm == "" || k.Algorithm == alg) && len(found) < maxCandidate {
			found = append(found, k)
		}
	}
	return found
}

type fixedKeys []jose.JSONWebKey

func (f fixedKeys) find(_ context.Context, id, alg string) ([]jose.JSONWebKey, error) {
	return candidates(f, id, alg), nil
}

// fetchedKeys fetches the keys from a URL. Concurrent requests share one fetch.
type fetchedKeys struct {
	url    string
	client *http.Client

	mu      sync.Mutex
	keys    []jose.JSONWebKey // keys of the last successful fetch; guarded by mu
	fetched time.Time         // time of that fetch; guarded by mu
	tried   time.Time         // end of the last fetch; guarded by mu
	err     error             // error of the last fetch; guarded by mu
	flight  chan struct{}     // closed when the running fetch ends; nil if none is running; guarded by mu
}

func (f *fetchedKeys) find(ctx context.Context, id, alg string) ([]jose.JSONWebKey, error) {
	for {
		found, flight, err := f.look(id, alg)
		if flight == nil {
			return found, err
		}
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// look returns the matching keys, or a channel that is closed when the running fetch ends. Known keys stay in use
// during a fetch, so that a key server that hangs delays only tokens with unknown keys.
func (f *fetchedKeys) look(id, alg string) ([]jose.JSONWebKey, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := candidates(f.keys, id, alg)
	now := time.Now()
	age := now.Sub(f.fetched)
	if age < keysAge && len(found) > 0 {
		return found, nil, nil
	}
	if f.flight == nil && (f.tried.IsZero() || now.Sub(f.tried) >= keysPause) {
		f.flight = make(chan struct{})
		go f.fetch() // bounded by keysTimeout
	}
	switch {
	case age < keysStale && len(found) > 0:
		return found, nil, nil
	case f.flight != nil:
		return nil, f.flight, nil
	case f.err != nil:
		return nil, nil, fmt.Errorf("keys of the issuer: %w", f.err)
	}
	return nil, nil, nil
}

// fetch fetches the keys for all waiting requests. It has its own context, so that the end of one request does not end
// the fetch.
func (f *fetchedKeys) fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	var keys []jose.JSONWebKey
	var err error
	if failed := usercode.Apart(func() { keys, err = f.get(ctx) }); failed != nil { // JWT.Client is user code
		err = failed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tried, f.err = time.Now(), err
	if err == nil {
		f.keys, f.fetched = keys, f.tried
	}
	close(f.flight)
	f.flight = nil
}

func (f *fetchedKeys) get(ctx context.Context) ([]jose.JSONWebKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, keysLimit+1))
	if err != nil {
		return nil, err
	}
	if len(data) > keysLimit {
		return nil, fmt.Errorf("the set is over the limit of %d bytes", keysLimit)
	}
	return parseKeys(data)
}
