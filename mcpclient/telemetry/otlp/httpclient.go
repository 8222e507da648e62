package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// exportTimeout bounds one attempt to export, unless OTEL_EXPORTER_OTLP_TIMEOUT is set.
const exportTimeout = 10 * time.Second

// newHTTPClient returns the HTTP client of a signal's exporter. An exporter with a given client reads neither the TLS
// variables nor the timeout, so newHTTPClient reads them.
func newHTTPClient(sig signal, l *link) (*http.Client, error) {
	env := func(key string) string { return strings.TrimSpace(os.Getenv(key)) }
	var wrong problems
	limit, err := readTimeout(env, sig)
	wrong.add(err)
	security, err := readTLS(env, sig)
	wrong.add(err)
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = security
	l.idle = t.CloseIdleConnections
	return &http.Client{Transport: transport{l, t}, Timeout: limit}, nil
}

func readTimeout(env func(string) string, sig signal) (time.Duration, error) {
	key, v := deciding(env, sig, "TIMEOUT")
	if v == "" {
		return exportTimeout, nil
	}
	ms, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number of milliseconds between 0 and %d", key, v, maxMilliseconds)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// readTLS reads the certificate authorities and the client certificate. Defaults come from the system.
func readTLS(env func(string) string, sig signal) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if key, file := deciding(env, sig, "CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate in PEM", key, file)
		}
	}
	key, cert := deciding(env, sig, "CLIENT_CERTIFICATE")
	keyKey, private := deciding(env, sig, "CLIENT_KEY")
	if cert == "" && private == "" {
		return c, nil
	}
	if cert == "" || private == "" {
		return nil, fmt.Errorf("%s and %s: set both or neither", key, keyKey)
	}
	pair, err := tls.LoadX509KeyPair(cert, private)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", key, keyKey, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
