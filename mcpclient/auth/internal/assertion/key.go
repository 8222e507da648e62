package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// minRSA is the smallest modulus that RFC 7518 §3.3 allows, in bits.
const minRSA = 2048

var errNoKey = errors.New("no PEM block with a private key: want PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY")

// parse returns the first private key in data. It skips other PEM blocks, such as the parameters of a curve.
func parse(data []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil {
			return nil, errNoKey
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return nil, errors.New("the private key is encrypted, want an unencrypted key")
		}
		read, known := readers[block.Type]
		if !known {
			continue
		}
		key, err := read(block.Bytes)
		if err != nil {
			return nil, err
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("a key of type %T cannot sign", key)
		}
		return signer, nil
	}
}

var readers = map[string]func([]byte) (any, error){
	"PRIVATE KEY":     x509.ParsePKCS8PrivateKey,
	"RSA PRIVATE KEY": func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
	"EC PRIVATE KEY":  func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
}

// choose returns the algorithm alg if it fits the key, and the key's default if alg is empty.
func choose(key crypto.Signer, alg string) (jose.SignatureAlgorithm, error) {
	possible, err := algorithms(key)
	if err != nil {
		return "", err
	}
	if alg == "" {
		return possible[0], nil
	}
	if !slices.Contains(possible, jose.SignatureAlgorithm(alg)) {
		return "", fmt.Errorf("algorithm is %q, want one of %v", alg, possible)
	}
	return jose.SignatureAlgorithm(alg), nil
}

// algorithms returns the algorithms that fit a key, the default first.
func algorithms(key crypto.Signer) ([]jose.SignatureAlgorithm, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if bits := k.N.BitLen(); bits < minRSA {
			return nil, fmt.Errorf("RSA key has %d bits, want at least %d", bits, minRSA)
		}
		return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}, nil
	case *ecdsa.PrivateKey:
		curve := k.Curve.Params().Name
		alg, known := map[string]jose.SignatureAlgorithm{"P-256": jose.ES256, "P-384": jose.ES384, "P-521": jose.ES512}[curve]
		if !known {
			return nil, fmt.Errorf("key is on curve %s, want P-256, P-384 or P-521", curve)
		}
		return []jose.SignatureAlgorithm{alg}, nil
	case ed25519.PrivateKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}, nil
	default:
		return nil, fmt.Errorf("a key of type %T is not supported", key)
	}
}
