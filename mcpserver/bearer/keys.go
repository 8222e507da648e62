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
	keysAge      = time.Hour        // how old a fetched set may be
	keysStale    = 24 * time.Hour   // how old if it cannot be fetched again
	keysPause    = 30 * time.Second // between two fetches
	keysTimeout  = 10 * time.Second
	keysLimit    = 1 << 20 // bytes of a set
	maxCandidate = 8       // keys that one token is tried with
)

// keySource has the keys that can have made a signature. An error without ErrInvalidToken means that it does not know.
type keySource interface {
	find(ctx context.Context, id, alg string) ([]jose.JSONWebKey, error)
}

func newKeySource(j JWT) (keySource, error) {
	if (len(j.Keys) == 0) == (j.KeysURL == "") {
		return nil, errors.New("want one of Keys and KeysURL")
	}
	if len(j.Keys) > 0 {
		keys, err := parseKeys(j.Keys)
		return fixedKeys(keys), err
	}
	u, err := url.Parse(j.KeysURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !hostname.Loopback(u.Hostname())) {
		return nil, errors.New("KeysURL is no https URL")
	}
	client := j.Client
	if client == nil {
		client = &http.Client{Timeout: keysTimeout, CheckRedirect: secureRedirect}
	}
	return &fetchedKeys{url: j.KeysURL, client: client}, nil
}

// secureRedirect keeps keys that were asked for over https from coming over anything else.
func secureRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("redirect refused")
	}
	return nil
}

// parseKeys returns the public signing keys of a set. Keys of kinds that are not known here do not matter.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("it is no JSON Web Key Set")
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

// candidates are the keys with an id; if a token names none, all of them.
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

// fetchedKeys has the keys from a URL. One fetch is under way at a time, for all who wait for it.
type fetchedKeys struct {
	url    string
	client *http.Client

	mu      sync.Mutex
	keys    []jose.JSONWebKey // of the last fetch that succeeded; guarded by mu
	fetched time.Time         // when that was; guarded by mu
	tried   time.Time         // when the last fetch ended; guarded by mu
	err     error             // of the last fetch; guarded by mu
	flight  chan struct{}     // closed when the fetch under way ends; nil if there is none; guarded by mu
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

// look returns what there is, or the fetch to wait for. Keys that are due to be fetched again serve meanwhile, so that
// a server of keys that hangs delays only tokens of keys that are not known.
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
		go f.fetch() // ends with its timeout at the latest
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

// fetch is for everyone who waits, so that it does not end with the request of any one.
func (f *fetchedKeys) fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	var keys []jose.JSONWebKey
	var err error
	if failed := usercode.Apart(func() { keys, err = f.get(ctx) }); failed != nil { // by the user's Client
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
