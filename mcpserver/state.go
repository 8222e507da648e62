package mcpserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// defaultStateTTL is long enough for a person to fill in a form, or to sign in at another site. It is short enough
// that a stolen state soon expires.
const defaultStateTTL = 15 * time.Minute

// Properties of a sealed state.
const (
	maxState     = 1 << 20 // maximum length on the wire, in characters
	stateKeySize = 32      // bytes, for AES-256
	stateVersion = 1       // first byte of a sealed state
)

// state is the data that a handler keeps from one round of a request to the next. The client stores it, encrypted.
type state struct {
	Expires int64                      `json:"e"`           // milliseconds of Unix time
	Round   int                        `json:"r"`           // number of rounds so far
	Answers map[string]json.RawMessage `json:"a,omitempty"` // answers of earlier rounds, by key
	Done    map[string]json.RawMessage `json:"d,omitempty"` // results of Once, by key
	Own     string                     `json:"o,omitempty"` // the handler's own state, set by RequireInput
}

// sealer encrypts and authenticates states, by AES-256-GCM with a random nonce. It opens only states that it has
// sealed. A sealer is immutable.
// (specification 2026-07-28, basic/patterns/mrtr, "Server Requirements (Basic Workflow)")
type sealer struct {
	keys []cipher.AEAD // the first seals, all open
	ttl  time.Duration
}

// newSealer returns a sealer with a random key if keys is empty.
func newSealer(keys [][]byte, ttl time.Duration) (*sealer, error) {
	if len(keys) == 0 {
		key := make([]byte, stateKeySize)
		_, _ = rand.Read(key) // never fails
		keys = [][]byte{key}
	}
	s := &sealer{ttl: ttl}
	for i, key := range keys {
		if len(key) != stateKeySize {
			return nil, fmt.Errorf("options: StateKeys[%d] has %d bytes, want %d", i, len(key), stateKeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, aead)
	}
	return s, nil
}

var (
	errStateInvalid  = errors.New("params.requestState was not issued by this server for this request")
	errStateExpired  = errors.New("params.requestState has expired; send the request without it to start again")
	errStateTooLarge = fmt.Errorf("the state for the next round has more than %d bytes", maxState)
)

// seal encrypts a state. open decrypts the state only with the same binding, and only until the state expires.
func (s *sealer) seal(st state, binding []byte, now time.Time) (string, error) {
	st.Expires = now.Add(s.ttl).UnixMilli()
	plain, err := mcp.AppendParams(nil, st)
	if err != nil {
		return "", err
	}
	sealed := s.keys[0].Seal([]byte{stateVersion}, nil, plain, additional(binding))
	text := base64.RawURLEncoding.EncodeToString(sealed)
	if len(text) > maxState {
		return "", errStateTooLarge
	}
	return text, nil
}

// open decrypts a state. The error distinguishes only an invalid state from an expired one.
func (s *sealer) open(text string, binding []byte, now time.Time) (state, error) {
	if len(text) > maxState {
		return state{}, errStateInvalid
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(sealed) == 0 || sealed[0] != stateVersion ||
		base64.RawURLEncoding.EncodeToString(sealed) != text {
		return state{}, errStateInvalid
	}
	for _, key := range s.keys {
		plain, err := key.Open(nil, nil, sealed[1:], additional(binding))
		if err != nil {
			continue
		}
		var st state
		if _, err := mcp.Decode(plain, &st); err != nil {
			return state{}, errStateInvalid
		}
		if now.UnixMilli() >= st.Expires {
			return state{}, errStateExpired
		}
		return st, nil
	}
	return state{}, errStateInvalid
}

// additional returns the additional authenticated data of a state.
func additional(binding []byte) []byte { return append([]byte{stateVersion}, binding...) }

// binding identifies the requests to which a state belongs: requests of the same principal to this server with the same
// method and params. The params include the name of the target and the arguments.
func (c *call) binding() ([]byte, error) {
	params, err := lastingParams(c.params)
	if err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	hash := sha256.New()
	for _, part := range [][]byte{[]byte(c.x.s.info.Name), []byte(c.x.Client.Principal), []byte(c.info.Method), params} {
		_ = binary.Write(hash, binary.BigEndian, uint64(len(part)))
		_, _ = hash.Write(part)
	}
	return hash.Sum(nil), nil
}

// lastingParams returns the params that are the same in all rounds of a request. Clients may encode the params
// differently in each round, so the result has a fixed order and no spaces.
func lastingParams(params json.RawMessage) ([]byte, error) {
	o := mcp.Object(params)
	for _, changing := range []string{"_meta", "inputResponses", "requestState"} {
		o = o.Without(changing)
	}
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	v := jsontext.Value(o).Clone()
	err := v.Format(jsontext.AllowInvalidUTF8(true), jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false), jsontext.Multiline(false),
		jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false))
	return v, err
}
