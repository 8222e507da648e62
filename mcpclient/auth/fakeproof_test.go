package auth_test

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// proof is a verified DPoP proof.
type proof struct {
	Method string `json:"htm"`
	URL    string `json:"htu"`
	ID     string `json:"jti"`
	Hash   string `json:"ath"`
	Nonce  string `json:"nonce"`

	thumbprint string
}

// readProof verifies the proof of a request. It returns nil if the proof is missing or invalid for the request.
func readProof(req *http.Request) *proof {
	all := req.Header.Values("DPoP")
	if len(all) != 1 {
		return nil
	}
	object, err := jose.ParseSignedCompact(all[0], []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil
	}
	head := object.Signatures[0].Header
	if head.JSONWebKey == nil || !head.JSONWebKey.IsPublic() || head.ExtraHeaders["typ"] != "dpop+jwt" {
		return nil
	}
	payload, err := object.Verify(head.JSONWebKey)
	if err != nil {
		return nil
	}
	var p proof
	if json.Unmarshal(payload, &p) != nil || p.ID == "" || p.Method != req.Method ||
		p.URL != "http://"+req.Host+req.URL.Path {
		return nil
	}
	sum, err := head.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil
	}
	p.thumbprint = base64.RawURLEncoding.EncodeToString(sum)
	return &p
}

// checkProof returns the thumbprint of the key in a token request's proof, or the empty string without a proof.
func (s *authServer) checkProof(rw http.ResponseWriter, req *http.Request) (string, *failure) {
	if req.Header.Get("DPoP") == "" {
		if s.sendsProof {
			return "", &failure{400, "invalid_dpop_proof", "no proof"}
		}
		return "", nil
	}
	p := readProof(req)
	if p == nil || p.Hash != "" || slices.Contains(s.proofIDs, p.ID) {
		return "", &failure{400, "invalid_dpop_proof", "bad proof"}
	}
	s.proofIDs = append(s.proofIDs, p.ID)
	if s.nonce != "" && p.Nonce != s.nonce {
		rw.Header().Set("DPoP-Nonce", s.nonce)
		return "", &failure{400, "use_dpop_nonce", "nonce"}
	}
	if q, ok := s.codes[req.PostForm.Get("code")]; ok && q.Get("dpop_jkt") != p.thumbprint {
		return "", &failure{400, "invalid_grant", "code is bound to another key"}
	}
	if t, ok := s.refresh[req.PostForm.Get("refresh_token")]; ok && t.key != p.thumbprint {
		return "", &failure{400, "invalid_grant", "refresh token is bound to another key"}
	}
	return p.thumbprint, nil
}

// checkProof returns the error code for a request with a bound token, or the empty string if the proof is valid.
func (s *mcpServer) checkProof(req *http.Request, t *issued, token string) string {
	p := readProof(req)
	sum := sha256.Sum256([]byte(token))
	switch {
	case p == nil, p.thumbprint != t.key, p.Hash != base64.RawURLEncoding.EncodeToString(sum[:]),
		slices.Contains(s.proofsPerPath, p.ID):
		return "invalid_dpop_proof"
	case s.nonce != "" && p.Nonce != s.nonce:
		s.proofsPerPath = append(s.proofsPerPath, p.ID)
		return "use_dpop_nonce"
	}
	s.proofsPerPath = append(s.proofsPerPath, p.ID)
	return ""
}

// claims returns the claims of a JWT without verifying it.
func claims(token string) object {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var c object
	_ = json.Unmarshal(data, &c)
	return c
}
